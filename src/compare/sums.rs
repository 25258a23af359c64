//! Sums the live bytes at a moment of A and a moment of B by key. The rows add up exactly to the totals of both sides.

use crate::answer::{Matched, PerSide, Row};
use crate::chains::{NO_KEY, OF_FREE, UNEXPLAINED};
use crate::key::{Key, PAIRING_KEYS};
use crate::keyed::KeyNumbers;
use crate::tables::KeyTables;
use analysis::{CodeOrigin, RuleCache, Sites, site};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use base::units::Moment;
use engine::Side;
use hashbrown::HashMap;
use history::replay::{AllocationId, Candidates};
use history::snapshot::{Frame, Snapshot, StackId};

/// Maximum number of callers listed for a row.
const MAX_CALLERS: usize = 16;

/// Live bytes and number of allocations that have the same key.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    pub(crate) bytes: PerSide,
    pub(crate) count: PerSide,
    /// One allocation with this key: true if it belongs to A, and its id.
    example: Option<(bool, AllocationId)>,
}

/// Sums, indexed by key id.
pub(crate) type ByNumber = HashMap<u32, Sum, foldhash::fast::RandomState>;

/// Resumable computation of the sums.
pub(crate) struct Sums {
    key: Key,
    moments: (Moment, Moment),
    sums: ByNumber,
    /// Side that is being examined: 0 for A, 1 for B.
    side: usize,
    /// Allocations of the current side that may be live at the compared moment.
    candidates: Option<Candidates>,
    /// Index of the next candidate.
    next: usize,
    /// Key ids and sums in the order of the rows.
    order: Option<Vec<(u32, Sum)>>,
    /// Rows created so far by [`Sums::list`].
    rows: Vec<Row>,
}

impl Sums {
    pub(crate) fn new(key: Key, moments: (Moment, Moment)) -> Sums {
        let (sums, side, candidates, next, order, rows) = Default::default();
        Sums { key, moments, sums, side, candidates, next, order, rows }
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// Continues summing the live bytes of both sides.
    pub(crate) fn step(&mut self, sides: [&Side; 2], tables: &mut KeyTables, slice: &mut TimeSlice) -> SliceResult {
        tables.step(self.key, sides, slice)?;
        tables.collect_used(self.key, sides, slice)?;
        let moments = [self.moments.0, self.moments.1];
        let keyed = tables.of(self.key);
        while let (Some(side), Some(&moment), Some(Some(keyed))) =
            (sides.get(self.side), moments.get(self.side), keyed.get(self.side))
        {
            let history = side.history;
            let candidates =
                self.candidates.get_or_insert_with(|| history.live.candidates(&history.allocations, moment));
            while let Some(part) = slice.next_range(&mut self.next, candidates.len(), 2)? {
                for id in part.filter_map(|place| history.live.candidate(candidates, place)) {
                    if !history.allocations.outlives(id, moment) {
                        continue;
                    }
                    let sum = self.sums.entry(keyed.number_of(side, id)).or_default();
                    let size = history.allocations.size(id);
                    let is_a = self.side == 0;
                    sum.example.get_or_insert((is_a, id));
                    let (bytes, count) = match is_a {
                        true => (&mut sum.bytes.a, &mut sum.count.a),
                        false => (&mut sum.bytes.b, &mut sum.count.b),
                    };
                    *bytes = bytes.saturating_add(size);
                    *count += 1;
                }
            }
            (self.side, self.candidates, self.next) = (self.side + 1, None, 0);
        }
        Ok(())
    }

    /// Returns all key ids with their sums, in ascending order, which does not depend on the hash seed.
    pub(crate) fn groups(&self) -> Vec<(u32, Sum)> {
        let order = self.sums.keys().map(|&number| (u128::from(number), number)).collect();
        let sum = |number: u32| Some((number, *self.sums.get(&number)?));
        sorted_numbers(order).into_iter().filter_map(sum).collect()
    }

    /// Returns the bytes whose key also occurs in the other file. Allocations without a stack never match by stack.
    pub(crate) fn matched(&self, tables: &KeyTables) -> Matched {
        let mut matched = Matched::default();
        for (&key, sum) in &self.sums {
            matched.total.a = matched.total.a.saturating_add(sum.bytes.a);
            matched.total.b = matched.total.b.saturating_add(sum.bytes.b);
            // Allocations without a stack cannot be compared by code. Those of an unknown category could be, with
            // better rules.
            if key == UNEXPLAINED || key == NO_KEY && PAIRING_KEYS.contains(&self.key) {
                continue;
            }
            matched.known.a = matched.known.a.saturating_add(sum.bytes.a);
            matched.known.b = matched.known.b.saturating_add(sum.bytes.b);
            let [in_a, in_b] = tables.occurs_in(self.key, key).map(|has| has && key != NO_KEY);
            matched.bytes.a = matched.bytes.a.saturating_add(if in_b { sum.bytes.a } else { 0 });
            matched.bytes.b = matched.bytes.b.saturating_add(if in_a { sum.bytes.b } else { 0 });
        }
        matched
    }

    /// Continues creating the rows for [`Sums::take_rows`].
    pub(crate) fn list(&mut self, sides: [&Side; 2], tables: &mut KeyTables, slice: &mut TimeSlice) -> SliceResult {
        let order = match &mut self.order {
            Some(order) => order,
            order => {
                let order = order.insert(ordered(&self.sums));
                slice.check()?;
                order
            }
        };
        loop {
            let mut next = self.rows.len();
            let Some(part) = slice.next_range(&mut next, order.len(), 64)? else { return Ok(()) };
            for (key, sum) in order.get(part).unwrap_or_default() {
                let is_a = sum.example.is_some_and(|(is_a, _)| is_a);
                let (label, callers) = match (sum.example, sides.get(usize::from(!is_a))) {
                    (Some((_, id)), Some(of)) if self.key == Key::Module && *key > UNEXPLAINED => {
                        let [one, other] = tables.of(self.key);
                        module_label(if is_a { one } else { other }, of, id)
                    }
                    (Some((_, id)), Some(of)) => {
                        let place = usize::from(!is_a);
                        match (tables.sites.get_mut(place), tables.internal.get_mut(place)) {
                            (Some(sites), Some(internal)) => label(self.key, *key, of, (sites, internal), id),
                            _ => Default::default(),
                        }
                    }
                    _ => Default::default(),
                };
                let in_both = tables.occurs_in(self.key, *key) == [true; 2];
                self.rows.push(Row { label, callers, bytes: sum.bytes, count: sum.count, in_both });
            }
        }
    }

    /// Returns the rows: largest difference first, and equal differences by size. Clears the rows, so they must be
    /// created again by [`Sums::list`].
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        self.order = None;
        std::mem::take(&mut self.rows)
    }
}

/// Returns the key ids and sums in the order of the rows.
fn ordered(sums: &ByNumber) -> Vec<(u32, Sum)> {
    let sums: Vec<(u32, Sum)> = sums.iter().map(|(&key, &sum)| (key, sum)).collect();
    let rank = |sum: &Sum| {
        let (delta, larger) = (sum.bytes.delta().unsigned_abs(), sum.bytes.a.max(sum.bytes.b));
        !(delta << 64 | u128::from(larger))
    };
    // Equal rows are ordered by their first allocations, which does not depend on the hash seed.
    let by_example = |sum: &Sum| sum.example.map_or(0, |(is_a, id)| u64::from(!is_a) << 32 | u64::from(id.0));
    let order = sums.iter().zip(0..).map(|((_, sum), index)| (u128::from(by_example(sum)), index)).collect();
    let sums: Vec<_> = sorted_numbers(order).into_iter().filter_map(|index| sums.get(index as usize)).collect();
    let order = sums.iter().zip(0..).map(|((_, sum), index)| (rank(sum), index)).collect();
    sorted_numbers(order).into_iter().filter_map(|index| sums.get(index as usize)).map(|sum| **sum).collect()
}

/// Returns the label and the callers of a row. `id` is an allocation of the row on `side`.
fn label(
    key: Key,
    number: u32,
    side: &Side,
    (sites, internal): (&mut Sites, &mut RuleCache),
    id: AllocationId,
) -> (String, Vec<String>) {
    if number == UNEXPLAINED {
        return ("unexplained".to_owned(), Vec::new());
    }
    let group = |by| side.group_label(by, side.group(by, id));
    match key {
        Key::Category => return (group(protocol::Grouping::Category), Vec::new()),
        Key::Annotation => return (group(protocol::Grouping::Annotation), Vec::new()),
        Key::Pool => return (group(protocol::Grouping::Pool), Vec::new()),
        _ => {}
    }
    let stack = side.stack(id);
    if key == Key::Module && number == NO_KEY {
        return ("no module".to_owned(), Vec::new());
    }
    let is_of_free = number & OF_FREE != 0;
    let label = match key {
        Key::Function => describe_site(side, sites, stack, is_of_free, site::function),
        Key::File => describe_site(side, sites, stack, is_of_free, site::file),
        _ => site_of(side, sites, stack, is_of_free),
    };
    (label, if key.is_by_call_site() { Vec::new() } else { callers(side, stack, internal) })
}

/// Returns the innermost module of an allocation, and the modules around it.
fn module_label(keyed: Option<&KeyNumbers>, side: &Side, id: AllocationId) -> (String, Vec<String>) {
    let mut path = keyed.map_or_else(Vec::new, |keyed| keyed.module_path(side, side.stack(id)));
    if path.is_empty() { ("no module".to_owned(), path) } else { (path.remove(0), path) }
}

/// Formats a call site on one line. Call sites that free an allocation are marked.
pub(crate) fn site_of(side: &Side, sites: &mut Sites, stack: StackId, is_of_free: bool) -> String {
    describe_site(side, sites, stack, is_of_free, site::short)
}

/// Formats the frame of a call site by `format`. Call sites that free an allocation are marked.
fn describe_site(
    side: &Side,
    sites: &mut Sites,
    stack: StackId,
    is_of_free: bool,
    format: fn(&Snapshot, &Frame) -> String,
) -> String {
    let snapshot = side.snapshot();
    let site = sites.call_site(snapshot, stack);
    match site.map(|frame| site::truncated(format(snapshot, snapshot.frames.frame(frame)))) {
        Some(site) if is_of_free => ["freed at ", &site].concat(),
        Some(site) => site,
        None => site::NO_STACK.to_owned(),
    }
}

/// Returns the Python frames of a stack without internal ones, innermost first.
fn callers(side: &Side, stack: StackId, internal: &mut RuleCache) -> Vec<String> {
    let snapshot = side.snapshot();
    let shown = side.internal_rules().shown_frames(snapshot, stack, internal);
    let python = shown.into_iter().filter(|&frame| {
        let frame = snapshot.frames.frame(frame);
        Sites::code_origin(snapshot, frame) != CodeOrigin::Native
    });
    python.take(MAX_CALLERS).map(|frame| site::short_truncated(snapshot, frame)).collect()
}
