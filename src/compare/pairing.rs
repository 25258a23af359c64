//! Compares each allocation with its partner in the other trace: change in size and in lifetime. The partners come from
//! the alignment. Allocations from before recording are excluded.

mod lifetime_difference;

use crate::aligning::AlignmentResult;
use crate::answer::{FactorGroup, Outcome, OutcomeTotals, PerSide, SiteFactor, SiteLifetimes};
use crate::key::Key;
use crate::scaling::{STEPS_PER_DOUBLING, SiteGrowth};
use crate::sums::site_of;
use crate::tables::KeyTables;
use base::heap::{self, HeapBytes};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use engine::Side;
use hashbrown::HashMap;
use history::replay::AllocationId;
use lifetime_difference::{LifetimeDifference, lifetime_difference};

/// Maximum number of distinct factors per call site.
const MAX_FACTORS: usize = 8;
/// Maximum number of call sites listed per group or outcome.
const MAX_SITES: usize = 10;
/// Sums over the paired allocations of a call site that grew by the same factor.
#[derive(Clone, Copy, Default)]
struct ByFactor {
    step: i32,
    pairs: u64,
    bytes: PerSide,
}

/// Sums over all allocations of a call site.
#[derive(Clone, Default)]
struct PairedSite {
    /// One allocation of the call site: true if it belongs to A, and its id.
    example: Option<(bool, AllocationId)>,
    factors: Vec<ByFactor>,
    outcomes: [OutcomeSum; Outcome::ALL.len()],
}

base::heap_bytes!(PairedSite: factors);

/// Sums over the allocations of a call site with the same outcome.
#[derive(Clone, Copy, Default)]
struct OutcomeSum {
    count: u64,
    bytes: PerSide,
    lifetime_difference: LifetimeDifference,
}

/// Resumable sums over all allocations, by call site.
#[derive(Default)]
pub(crate) struct Pairing {
    sites: HashMap<u32, PairedSite, foldhash::fast::RandomState>,
    next: usize,
    /// Index of the next allocation of A and of B.
    at: [u32; 2],
    is_done: bool,
}

impl Pairing {
    /// Continues processing pairs and, in between, allocations without a partner.
    pub(crate) fn step(
        &mut self,
        sides: [&Side; 2],
        tables: &mut KeyTables,
        found: &AlignmentResult,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if self.is_done || found.key.is_none() {
            return Ok(());
        }
        tables.step(Key::CallSite, sides, slice)?;
        let [Some(of_a), Some(of_b)] = tables.of(Key::CallSite) else { return Ok(()) };
        let [a, b] = sides;
        let ends = sides.map(|side| side.history.allocations.len() as u32);
        if self.next == 0 && self.at == [0, 0] {
            self.at = sides.map(|side| side.history.allocations.early_count() as u32);
        }
        loop {
            slice.spend(4)?;
            let pair = found.pairs.get(self.next);
            let until = pair.unwrap_or((ends[0], ends[1]));
            if self.at[0] < until.0 {
                let id = AllocationId(self.at[0]);
                self.add(
                    of_a.number_of(a, id),
                    (true, id),
                    Outcome::OnlyInA,
                    PerSide { a: a.history.allocations.size(id), b: 0 },
                    LifetimeDifference::default(),
                );
                self.at[0] += 1;
            } else if self.at[1] < until.1 {
                let id = AllocationId(self.at[1]);
                self.add(
                    of_b.number_of(b, id),
                    (false, id),
                    Outcome::OnlyInB,
                    PerSide { a: 0, b: b.history.allocations.size(id) },
                    LifetimeDifference::default(),
                );
                self.at[1] += 1;
            } else if let Some((id_a, id_b)) = pair {
                let (id_a, id_b) = (AllocationId(id_a), AllocationId(id_b));
                let bytes = PerSide { a: a.history.allocations.size(id_a), b: b.history.allocations.size(id_b) };
                let longer = lifetime_difference([a, b], found, id_a, id_b);
                let outcome = match longer.events {
                    1.. => Outcome::LongerInB,
                    ..0 => Outcome::LongerInA,
                    0 if bytes.a == bytes.b => Outcome::Same,
                    0 => Outcome::Resized,
                };
                let key = of_b.number_of(b, id_b);
                self.add(key, (false, id_b), outcome, bytes, longer);
                self.scale(key, bytes);
                self.at = [id_a.0 + 1, id_b.0 + 1];
                self.next += 1;
            } else {
                self.is_done = true;
                return Ok(());
            }
        }
    }

    fn add(
        &mut self,
        key: u32,
        example: (bool, AllocationId),
        outcome: Outcome,
        bytes: PerSide,
        longer: LifetimeDifference,
    ) {
        let site = self.sites.entry(key).or_default();
        site.example.get_or_insert(example);
        if let Some(sum) = site.outcomes.get_mut(outcome as usize) {
            sum.count += 1;
            sum.bytes = sum.bytes.plus(bytes);
            sum.lifetime_difference.events += longer.events;
            sum.lifetime_difference.steps += longer.steps;
        }
    }

    fn scale(&mut self, key: u32, bytes: PerSide) {
        if bytes.a == 0 || bytes.b == 0 {
            return;
        }
        let Some(site) = self.sites.get_mut(&key) else { return };
        let step = ((bytes.b as f64 / bytes.a as f64).log2() * STEPS_PER_DOUBLING).round() as i32;
        let known = site.factors.iter_mut().position(|factor| factor.step == step);
        let index = known.unwrap_or_else(|| {
            if site.factors.len() < MAX_FACTORS {
                site.factors.push(ByFactor { step, ..ByFactor::default() });
            }
            site.factors.len() - 1
        });
        if let Some(factor) = site.factors.get_mut(index) {
            factor.pairs += 1;
            factor.bytes.a = factor.bytes.a.saturating_add(bytes.a);
            factor.bytes.b = factor.bytes.b.saturating_add(bytes.b);
        }
    }

    /// Groups call sites by the factor that most of their paired bytes grew by. The group with the most bytes comes
    /// first.
    pub(crate) fn scaling(&self, sides: [&Side; 2], tables: &mut KeyTables) -> Vec<FactorGroup> {
        let mut groups: HashMap<i32, Vec<(ByFactor, u64, u32)>, foldhash::fast::RandomState> = HashMap::default();
        for (&key, site) in &self.sites {
            let weight = |factor: &ByFactor| factor.bytes.a.max(factor.bytes.b);
            let Some(best) = site.factors.iter().max_by_key(|factor| (weight(factor), factor.step)) else { continue };
            let all = site.factors.iter().map(weight).fold(0, u64::saturating_add);
            groups.entry(best.step).or_default().push((*best, all, key));
        }
        let mut found: Vec<FactorGroup> = Vec::new();
        for sites in groups.into_values() {
            let mut bytes = PerSide::default();
            for (factor, _, _) in &sites {
                bytes.a = bytes.a.saturating_add(factor.bytes.a);
                bytes.b = bytes.b.saturating_add(factor.bytes.b);
            }
            let order = sites.iter().zip(0..).map(|((factor, _, key), index)| {
                (u128::from(!factor.bytes.b) << 64 | u128::from(self.rank(*key)), index)
            });
            let largest = sorted_numbers(order.collect()).into_iter().filter_map(|index| sites.get(index as usize));
            let rows = largest.take(MAX_SITES).map(|&(factor, all, key)| SiteFactor {
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
        found.sort_unstable_by(|a, b| {
            (b.bytes.b, b.bytes.a).cmp(&(a.bytes.b, a.bytes.a)).then(a.factor.total_cmp(&b.factor))
        });
        found
    }

    /// Returns the key id and the growth of each call site with paired allocations. The growth is the factor that
    /// applies to the most bytes.
    pub(crate) fn growths(&self) -> impl Iterator<Item = (u32, SiteGrowth)> {
        self.sites.iter().filter_map(|(&key, site)| {
            let best = site.factors.iter().max_by_key(|factor| (factor.bytes.a.max(factor.bytes.b), factor.step))?;
            Some((key, SiteGrowth { factor: ratio(best.bytes), bytes: best.bytes.a }))
        })
    }

    /// Returns all allocations grouped by outcome, with the largest call sites of each group.
    pub(crate) fn lifetimes(&self, sides: [&Side; 2], tables: &mut KeyTables) -> Vec<OutcomeTotals> {
        let mut found = Vec::new();
        for outcome in Outcome::ALL {
            let sum_of = |site: &PairedSite| site.outcomes.get(outcome as usize).copied().unwrap_or_default();
            let sites: Vec<(u32, OutcomeSum)> =
                self.sites.iter().map(|(&key, site)| (key, sum_of(site))).filter(|(_, sum)| sum.count > 0).collect();
            let (mut allocations, mut bytes) = (0, PerSide::default());
            for (_, sum) in &sites {
                allocations += sum.count;
                bytes = bytes.plus(sum.bytes);
            }
            if allocations == 0 {
                continue;
            }
            let order = sites.iter().zip(0..).map(|(&(key, OutcomeSum { bytes, .. }), index)| {
                (u128::from(!bytes.a.max(bytes.b)) << 64 | u128::from(self.rank(key)), index)
            });
            let largest = sorted_numbers(order.collect()).into_iter().filter_map(|index| sites.get(index as usize));
            let sites = largest.take(MAX_SITES).map(|&(key, OutcomeSum { count, bytes, lifetime_difference })| {
                let mean = lifetime_difference.events / i128::from(count.max(1));
                SiteLifetimes {
                    site: self.name(key, sides, tables),
                    allocations: count,
                    bytes,
                    longer_events: i64::try_from(mean).unwrap_or(0),
                    longer_steps: lifetime_difference.steps / (count as i64).max(1),
                }
            });
            let sites = sites.collect();
            found.push(OutcomeTotals { outcome, allocations, bytes, sites });
        }
        found
    }

    /// Returns a sort key for a call site that does not depend on the seed of the hash map.
    fn rank(&self, key: u32) -> u64 {
        let example = self.sites.get(&key).and_then(|site| site.example);
        example.map_or(0, |(is_a, id)| u64::from(is_a) << 32 | u64::from(id.0))
    }

    fn name(&self, key: u32, sides: [&Side; 2], tables: &mut KeyTables) -> String {
        let Some((is_a, id)) = self.sites.get(&key).and_then(|site| site.example) else { return String::new() };
        let side = usize::from(!is_a);
        match (sides.get(side), tables.sites.get_mut(side)) {
            (Some(side_of_example), Some(sites)) => site_of(side_of_example, sites, side_of_example.stack(id), false),
            _ => String::new(),
        }
    }
}

impl HeapBytes for Pairing {
    fn heap_bytes(&self) -> usize {
        self.sites.heap_bytes() + heap::sum(self.sites.values())
    }
}

/// Returns the bytes in B divided by the bytes in A.
fn ratio(bytes: PerSide) -> f64 {
    bytes.b as f64 / (bytes.a as f64).max(1.0)
}
