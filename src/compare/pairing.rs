//! Outcome of each allocation: change in size and in lifetime. Partners come from the alignment. Allocations made
//! before recording are not included.

use crate::aligning::Found;
use crate::answer::{FactorGroup, Lifetimes, Outcome, SiteFactor, SiteLifetimes, Two};
use crate::key::Key;
use crate::measured::SiteGrowth;
use crate::sums::site_of;
use crate::tables::Tables;
use base::slice::{Slice, Sliced};
use base::sorted::sorted_numbers;
use base::units::Moment;
use engine::Side;
use hashbrown::HashMap;
use history::replay::AllocationId;

/// Resolution of factors: steps per doubling.
const STEPS_PER_DOUBLING: f64 = 32.0;
/// Maximum number of distinct factors per call site.
const MOST_FACTORS: usize = 8;
/// Maximum number of listed call sites of a group or outcome.
const MOST_SITES: usize = 10;
/// Lifetimes that differ by at most this many events count as equal.
const ALIKE_EVENTS: u64 = 16;
/// Lifetimes that differ by at most the longer one divided by this count as equal.
const ALIKE_PART: u64 = 8;

/// Pairs of a call site with one factor.
#[derive(Clone, Copy, Default)]
struct ByFactor {
    step: i32,
    pairs: u64,
    bytes: Two,
}

/// Sums of a call site.
#[derive(Clone, Default)]
struct Site {
    /// An allocation of the site, and true if it is A's.
    example: Option<(bool, AllocationId)>,
    factors: Vec<ByFactor>,
    outcomes: [Sum; Outcome::ALL.len()],
}

/// Allocations of a call site with one outcome.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    bytes: Two,
    longer: Longer,
}

/// Sum of the differences in lifetime, in events and steps of B.
#[derive(Clone, Copy, Default)]
struct Longer {
    events: i128,
    steps: i64,
}

/// Progress of the sums over all allocations.
#[derive(Default)]
pub(crate) struct Pairing {
    sites: HashMap<u32, Site, foldhash::fast::RandomState>,
    next: usize,
    /// Next allocation of each side.
    at: [u32; 2],
    is_done: bool,
}

impl Pairing {
    /// Processes all pairs and the allocations between them.
    pub(crate) fn step(&mut self, sides: [&Side; 2], tables: &mut Tables, found: &Found, slice: &mut Slice) -> Sliced {
        if self.is_done || found.key.is_none() {
            return Ok(());
        }
        tables.step(Key::CallSite, sides, slice)?;
        let [Some(of_a), Some(of_b)] = tables.of(Key::CallSite) else { return Ok(()) };
        let [a, b] = sides;
        let ends = sides.map(|side| side.history.allocations.len() as u32);
        if self.next == 0 && self.at == [0, 0] {
            self.at = sides.map(|side| side.history.allocations.early() as u32);
        }
        loop {
            slice.spend(4)?;
            let pair = found.pairs.get(self.next);
            let until = pair.unwrap_or((ends[0], ends[1]));
            if self.at[0] < until.0 {
                let id = AllocationId(self.at[0]);
                self.add(
                    of_a.of(a, id),
                    (true, id),
                    Outcome::OnlyInA,
                    Two { a: a.history.allocations.size(id), b: 0 },
                    Longer::default(),
                );
                self.at[0] += 1;
            } else if self.at[1] < until.1 {
                let id = AllocationId(self.at[1]);
                self.add(
                    of_b.of(b, id),
                    (false, id),
                    Outcome::OnlyInB,
                    Two { a: 0, b: b.history.allocations.size(id) },
                    Longer::default(),
                );
                self.at[1] += 1;
            } else if let Some((one, other)) = pair {
                let (one, other) = (AllocationId(one), AllocationId(other));
                let bytes = Two { a: a.history.allocations.size(one), b: b.history.allocations.size(other) };
                let longer = longer([a, b], found, one, other);
                let outcome = match longer.events {
                    1.. => Outcome::LongerInB,
                    ..0 => Outcome::LongerInA,
                    0 if bytes.a == bytes.b => Outcome::Same,
                    0 => Outcome::Resized,
                };
                let key = of_b.of(b, other);
                self.add(key, (false, other), outcome, bytes, longer);
                self.scale(key, bytes);
                self.at = [one.0 + 1, other.0 + 1];
                self.next += 1;
            } else {
                self.is_done = true;
                return Ok(());
            }
        }
    }

    fn add(&mut self, key: u32, example: (bool, AllocationId), outcome: Outcome, bytes: Two, longer: Longer) {
        let site = self.sites.entry(key).or_default();
        site.example.get_or_insert(example);
        if let Some(sum) = site.outcomes.get_mut(outcome as usize) {
            sum.count += 1;
            sum.bytes = sum.bytes.plus(bytes);
            sum.longer.events += longer.events;
            sum.longer.steps += longer.steps;
        }
    }

    fn scale(&mut self, key: u32, bytes: Two) {
        if bytes.a == 0 || bytes.b == 0 {
            return;
        }
        let Some(site) = self.sites.get_mut(&key) else { return };
        let step = ((bytes.b as f64 / bytes.a as f64).log2() * STEPS_PER_DOUBLING).round() as i32;
        let known = site.factors.iter_mut().position(|factor| factor.step == step);
        let at = known.unwrap_or_else(|| {
            if site.factors.len() < MOST_FACTORS {
                site.factors.push(ByFactor { step, ..ByFactor::default() });
            }
            site.factors.len() - 1
        });
        if let Some(factor) = site.factors.get_mut(at) {
            factor.pairs += 1;
            factor.bytes.a = factor.bytes.a.saturating_add(bytes.a);
            factor.bytes.b = factor.bytes.b.saturating_add(bytes.b);
        }
    }

    /// Groups call sites by the factor of most of their bytes. The group with the most bytes comes first.
    pub(crate) fn scaling(&self, sides: [&Side; 2], tables: &mut Tables) -> Vec<FactorGroup> {
        let mut groups: HashMap<i32, Vec<(ByFactor, u64, u32)>, foldhash::fast::RandomState> = HashMap::default();
        for (&key, site) in &self.sites {
            let weight = |factor: &ByFactor| factor.bytes.a.max(factor.bytes.b);
            let Some(best) = site.factors.iter().max_by_key(|factor| (weight(factor), factor.step)) else { continue };
            let all = site.factors.iter().map(weight).fold(0, u64::saturating_add);
            groups.entry(best.step).or_default().push((*best, all, key));
        }
        let mut found: Vec<FactorGroup> = Vec::new();
        for sites in groups.into_values() {
            let mut bytes = Two::default();
            for (factor, _, _) in &sites {
                bytes.a = bytes.a.saturating_add(factor.bytes.a);
                bytes.b = bytes.b.saturating_add(factor.bytes.b);
            }
            let order = sites
                .iter()
                .zip(0..)
                .map(|((factor, _, key), at)| (u128::from(!factor.bytes.b) << 64 | u128::from(self.rank(*key)), at));
            let largest = sorted_numbers(order.collect()).into_iter().filter_map(|at| sites.get(at as usize));
            let rows = largest.take(MOST_SITES).map(|&(factor, all, key)| SiteFactor {
                site: self.name(key, sides, tables),
                factor: ratio(factor.bytes),
                share: (factor.bytes.a.max(factor.bytes.b), all),
                pairs: factor.pairs,
                bytes: factor.bytes,
            });
            let rows = rows.collect();
            let pairs = sites.iter().map(|(factor, _, _)| factor.pairs).sum();
            found.push(FactorGroup { factor: ratio(bytes), sites: sites.len() as u32, pairs, bytes, rows });
        }
        found.sort_unstable_by(|one, other| {
            (other.bytes.b, other.bytes.a).cmp(&(one.bytes.b, one.bytes.a)).then(one.factor.total_cmp(&other.factor))
        });
        found
    }

    /// Returns the growth of each call site with pairs, by the factor of most of its bytes.
    pub(crate) fn growths(&self) -> impl Iterator<Item = (u32, SiteGrowth)> {
        self.sites.iter().filter_map(|(&key, site)| {
            let best = site.factors.iter().max_by_key(|factor| (factor.bytes.a.max(factor.bytes.b), factor.step))?;
            Some((key, SiteGrowth { factor: ratio(best.bytes), bytes: best.bytes.a }))
        })
    }

    /// Returns the number of allocations by outcome.
    pub(crate) fn lifetimes(&self, sides: [&Side; 2], tables: &mut Tables) -> Vec<Lifetimes> {
        let mut found = Vec::new();
        for outcome in Outcome::ALL {
            let of = |site: &Site| site.outcomes.get(outcome as usize).copied().unwrap_or_default();
            let sites: Vec<(u32, Sum)> =
                self.sites.iter().map(|(&key, site)| (key, of(site))).filter(|(_, sum)| sum.count > 0).collect();
            let (mut allocations, mut bytes) = (0, Two::default());
            for (_, sum) in &sites {
                allocations += sum.count;
                bytes = bytes.plus(sum.bytes);
            }
            if allocations == 0 {
                continue;
            }
            let order = sites.iter().zip(0..).map(|(&(key, Sum { bytes, .. }), at)| {
                (u128::from(!bytes.a.max(bytes.b)) << 64 | u128::from(self.rank(key)), at)
            });
            let largest = sorted_numbers(order.collect()).into_iter().filter_map(|at| sites.get(at as usize));
            let sites = largest.take(MOST_SITES).map(|&(key, Sum { count, bytes, longer })| {
                let mean = longer.events / i128::from(count.max(1));
                SiteLifetimes {
                    site: self.name(key, sides, tables),
                    allocations: count,
                    bytes,
                    longer_events: i64::try_from(mean).unwrap_or(0),
                    longer_steps: longer.steps / (count as i64).max(1),
                }
            });
            let sites = sites.collect();
            found.push(Lifetimes { outcome, allocations, bytes, sites });
        }
        found
    }

    /// Returns a sort key of a site that does not depend on the hash seed.
    fn rank(&self, key: u32) -> u64 {
        let example = self.sites.get(&key).and_then(|site| site.example);
        example.map_or(0, |(is_a, id)| u64::from(is_a) << 32 | u64::from(id.0))
    }

    fn name(&self, key: u32, sides: [&Side; 2], tables: &mut Tables) -> String {
        let Some((is_a, id)) = self.sites.get(&key).and_then(|site| site.example) else { return String::new() };
        let side = usize::from(!is_a);
        match (sides.get(side), tables.sites.get_mut(side)) {
            (Some(of), Some(sites)) => site_of(of, sites, of.stack(id), false),
            _ => String::new(),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let factors: usize = self.sites.values().map(|site| site.factors.capacity() * size_of::<ByFactor>()).sum();
        self.sites.allocation_size() + factors
    }
}

/// Returns bytes in B per byte in A.
fn ratio(bytes: Two) -> f64 {
    bytes.b as f64 / (bytes.a as f64).max(1.0)
}

/// Returns the difference in lifetime of a pair, in terms of B. 0 if both are about equal.
fn longer([a, b]: [&Side; 2], found: &Found, one: AllocationId, other: AllocationId) -> Longer {
    let ends = |side: &Side, id: AllocationId| side.history.allocations.died(id);
    let last = Moment(b.history.event_count());
    let expected = match ends(a, one) {
        Some(died) => found.alignment.to_b(died),
        // Both are live at the end, no matter how long the traces are.
        None if ends(b, other).is_none() => return Longer::default(),
        None => last,
    };
    let died = ends(b, other).unwrap_or(last);
    let born = b.history.allocations.born(other);
    let difference = i64::from(died.0) - i64::from(expected.0);
    let life = u64::from(died.0.max(expected.0).saturating_sub(born.0));
    match difference.unsigned_abs() > ALIKE_EVENTS.max(life / ALIKE_PART) {
        true => Longer { events: difference.into(), steps: found.steps_between(expected, died) },
        false => Longer::default(),
    }
}
