//! Aligns two traces and pairs their allocations. If both traces have steps, the steps are aligned first. Allocations
//! are paired by their sequence (within each step). Without enough pairs, moments are aligned by the share of events.

mod sequences;

use crate::alignment::{Align, Alignment};
use crate::key::{Key, PAIRING_KEYS};
use crate::sequence::Diff;
use crate::tables::KeyTables;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::pluralize;
use engine::{Side, StepSearch};
use hashbrown::HashMap;
use history::replay::AllocationId;
use sequences::{Sequence, windows};

/// Minimum percentage of allocations, in the shorter trace, that must be paired for an alignment by allocations.
const MIN_PAIRED_PERCENT: usize = 25;
/// Minimum percentage of allocations whose key must occur in the other trace, for the key to be selected.
const MIN_MATCHED_PERCENT: u64 = 90;

/// Resumable computation of an alignment.
pub(crate) struct Aligner {
    wanted: Option<Align>,
    steps: [StepSearch; 2],
    /// Pairs of steps: for each, the moments of the start in A and B, then the moments of the end in A and B.
    paired_steps: Option<Vec<[(u32, u32); 2]>>,
    /// Name of each paired step in A. Empty for a step without a name.
    step_names: Vec<String>,
    /// Index into [`PAIRING_KEYS`] of the key that is being tried.
    key_index: usize,
    /// Percentage of allocations with a matching key, for each key tried so far.
    shares: Vec<u64>,
    chosen: Option<Key>,
    keys: [Vec<u32>; 2],
    /// Number of allocations with each key id, in A and in B.
    counts: [Vec<u32>; 2],
    sequences: [Sequence; 2],
    diff: Option<Diff>,
    /// Selected alignment method. Copied to `found` once the alignment is complete.
    method: Option<Align>,
    /// Indices of the next pair of allocations and of the next step boundary to add as anchors.
    next_anchor: (usize, usize),
    pub(crate) found: AlignmentResult,
}

#[derive(Default)]
pub(crate) struct AlignmentResult {
    pub(crate) method: Option<Align>,
    pub(crate) alignment: Alignment,
    /// Ids of the paired allocations in A and B, ascending in both.
    pub(crate) pairs: Column<(u32, u32)>,
    pub(crate) key: Option<Key>,
    /// Pairs of steps: for each, the moments of the start in A and B, then the moments of the end in A and B. Empty if
    /// moments are not aligned by steps.
    pub(crate) steps: Vec<[(u32, u32); 2]>,
    /// Name of each paired step. Empty for a step without a name.
    pub(crate) step_names: Vec<String>,
    pub(crate) steps_source: &'static str,
    pub(crate) is_exact: bool,
}

impl AlignmentResult {
    /// Describes how the moments were aligned by `method`.
    pub(crate) fn detail(&self, method: Align) -> String {
        let paired = pluralize(self.pairs.len() as u64, "allocation");
        let key = self.key.map_or("", Key::title);
        match method {
            Align::Steps => format!(
                "Aligned by {} from {}, and within each by the sequence of allocations: {paired} paired by {key}.",
                pluralize(self.steps.len() as u64, "step"),
                self.steps_source
            ),
            Align::Sequence => format!("Aligned by the sequence of allocations: {paired} paired by {key}."),
            Align::Share if self.pairs.is_empty() => {
                "Aligned by position in the trace (no common steps or stacks found).".to_owned()
            }
            Align::Share => "Aligned by position in the trace.".to_owned(),
        }
    }
}

impl Aligner {
    pub(crate) fn new(a: &Side, b: &Side, wanted: Option<Align>) -> Aligner {
        let (paired_steps, step_names, chosen, keys, counts, sequences) = Default::default();
        let (diff, method, next_anchor) = Default::default();
        let steps = [a, b].map(|side| StepSearch::new(side.history.device));
        let found = AlignmentResult { alignment: Alignment::new(), is_exact: true, ..AlignmentResult::default() };
        let (key_index, shares) = (0, Vec::new());
        Aligner {
            wanted,
            steps,
            paired_steps,
            step_names,
            key_index,
            shares,
            chosen,
            keys,
            counts,
            sequences,
            diff,
            method,
            next_anchor,
            found,
        }
    }

    /// Continues the alignment until it is complete or the time slice is used up.
    pub(crate) fn step(&mut self, sides: [&Side; 2], tables: &mut KeyTables, slice: &mut TimeSlice) -> SliceResult {
        if self.found.method.is_some() {
            return Ok(());
        }
        if self.paired_steps.is_none() {
            if self.wanted.is_none_or(|wanted| wanted == Align::Steps) {
                self.steps.iter_mut().zip(sides).try_for_each(|(steps, side)| steps.step(side, slice))?;
            }
            let (steps, names) = self.pair_steps(sides).into_iter().unzip();
            (self.paired_steps, self.step_names) = (Some(steps), names);
        }
        let method = match self.method {
            Some(method) => method,
            None if self.wanted == Some(Align::Share) => Align::Share,
            None => self.pair_allocations(sides, tables, slice)?,
        };
        self.method = Some(method);
        self.finish(sides, method, slice)
    }

    /// Continues pairing allocations. Once all are paired, returns how to align moments.
    fn pair_allocations(
        &mut self,
        sides: [&Side; 2],
        tables: &mut KeyTables,
        slice: &mut TimeSlice,
    ) -> SliceResult<Align> {
        self.choose_key(sides, tables, slice)?;
        let steps = self.paired_steps.as_deref().unwrap_or_default();
        for ((sequence, keys), others) in self.sequences.iter_mut().zip(&self.keys).zip(self.counts.iter().rev()) {
            sequence.step(keys, others, slice)?;
        }
        let [a, b] = &self.sequences;
        let early = sides.map(|side| side.history.allocations.early_count() as u32);
        let diff = self.diff.get_or_insert_with(|| Diff::new(windows(sides, [a, b], steps).into_iter()));
        let pairs = &mut self.found.pairs;
        let id = |sequence: &Sequence, place: u32, early: u32| {
            sequence.places.get(place as usize).map_or(early, |place| early.saturating_add(*place))
        };
        let mut paired = |x, y| pairs.push((id(a, x, early[0]), id(b, y, early[1])));
        diff.step(&a.keys, &b.keys, &mut paired, slice)?;
        self.found.is_exact = diff.is_exact();
        let shorter = sides.map(|side| side.history.allocations.len() - side.history.allocations.early_count());
        let min_pairs = shorter[0].min(shorter[1]) * MIN_PAIRED_PERCENT / 100;
        Ok(match (steps.len(), self.wanted) {
            (0, None) if pairs.len() < min_pairs.max(1) => Align::Share,
            (0, _) => Align::Sequence,
            _ => Align::Steps,
        })
    }

    /// Pairs steps by name, or by index if too few names match. Returns the moments and the name of each pair.
    fn pair_steps(&self, sides: [&Side; 2]) -> Vec<([(u32, u32); 2], String)> {
        let [a, b] = &self.steps;
        if a.rule() != b.rule() || a.spans().len().min(b.spans().len()) < 2 {
            return Vec::new();
        }
        let names = |search: &StepSearch, side: &Side| -> Vec<Option<String>> {
            (0..search.spans().len()).map(|number| search.name(side, number)).collect()
        };
        let (names_a, names_b) = (names(a, sides[0]), names(b, sides[1]));
        let numbers: HashMap<&str, usize, foldhash::fast::RandomState> =
            names_b.iter().enumerate().filter_map(|(number, name)| Some((name.as_deref()?, number))).collect();
        let mut last = None;
        let mut by_name: Vec<(usize, usize)> = Vec::new();
        for (number, name) in names_a.iter().enumerate() {
            let other = name.as_deref().and_then(|name| numbers.get(name)).copied();
            if let Some(other) = other.filter(|&other| last.is_none_or(|last| last < other)) {
                by_name.push((number, other));
                last = Some(other);
            }
        }
        let fewer = names_a.len().min(names_b.len());
        // If all steps have the same name, they are paired by number.
        if by_name.len() * 2 < fewer || by_name.len() < 2 {
            by_name = (0..fewer).map(|number| (number, number)).collect();
        }
        let spans = by_name.iter().filter_map(|&(one, other)| {
            let (a, b) = (a.spans().get(one)?, b.spans().get(other)?);
            let name = names_a.get(one).cloned().flatten().unwrap_or_default();
            Some(([(a.from, b.from), (a.to, b.to)], name))
        });
        spans.collect()
    }

    /// Selects the strictest key that at least 90 % of the allocations share with the other trace, or else the best
    /// key. Stores the key id of each allocation.
    fn choose_key(&mut self, sides: [&Side; 2], tables: &mut KeyTables, slice: &mut TimeSlice) -> SliceResult {
        loop {
            if self.found.key.is_some() {
                return Ok(());
            }
            let key = match self.chosen {
                Some(key) => key,
                None => PAIRING_KEYS.get(self.key_index).copied().unwrap_or(Key::CallSite),
            };
            tables.step(key, sides, slice)?;
            let count = tables.common.chains.count();
            let keys_of = self.keys.iter_mut().zip(&mut self.counts);
            for (((keys, counts), keyed), side) in keys_of.zip(tables.of(key)).zip(sides) {
                let allocations = &side.history.allocations;
                counts.resize(count.max(counts.len()), 0);
                let mut next = keys.len();
                while let Some(part) = slice.next_range(&mut next, allocations.len() - allocations.early_count(), 2)? {
                    for place in part {
                        let id = AllocationId((allocations.early_count() + place) as u32);
                        let key = keyed.map_or(0, |keyed| keyed.number_of(side, id));
                        keys.push(key);
                        counts.get_mut(key as usize).into_iter().for_each(|count| *count += 1);
                    }
                }
            }
            let share = matched_percent(&self.keys, &self.counts);
            self.shares.push(share);
            let is_enough = share >= MIN_MATCHED_PERCENT || self.chosen.is_some();
            if is_enough {
                self.found.key = Some(key);
                return Ok(());
            }
            self.key_index += 1;
            if self.key_index == PAIRING_KEYS.len() {
                let best = self.shares.iter().zip(PAIRING_KEYS).max_by_key(|&(share, _)| *share);
                self.chosen = best.map(|(_, key)| key);
            }
            (self.keys, self.counts) = Default::default();
        }
    }

    /// Creates the anchors of the alignment from paired allocations and steps.
    fn finish(&mut self, sides: [&Side; 2], method: Align, slice: &mut TimeSlice) -> SliceResult {
        let [a, b] = sides.map(|side| side.history);
        let alignment = &mut self.found.alignment;
        if method == Align::Share {
            self.found.pairs = Column::new();
            self.found.key = None;
        } else {
            let steps = self.paired_steps.as_deref().unwrap_or_default();
            self.found.steps_source = self.steps[0].rule();
            let borders = steps.as_flattened();
            let (next_pair, next_border) = &mut self.next_anchor;
            while let Some((one, other)) = self.found.pairs.get(*next_pair) {
                let allocated_at = (
                    a.allocations.allocated_at(AllocationId(one)).0,
                    b.allocations.allocated_at(AllocationId(other)).0,
                );
                while let Some(border) = borders.get(*next_border).filter(|border| border.0 < allocated_at.0) {
                    slice.tick()?;
                    alignment.add(border.0, border.1);
                    *next_border += 1;
                }
                slice.spend(2)?;
                // The state before an allocation is aligned with the state before its partner. Everything in between
                // comes before both.
                alignment.add(allocated_at.0.saturating_sub(1), allocated_at.1.saturating_sub(1));
                alignment.add(allocated_at.0, allocated_at.1);
                *next_pair += 1;
            }
            while let Some(border) = borders.get(*next_border) {
                slice.tick()?;
                alignment.add(border.0, border.1);
                *next_border += 1;
            }
        }
        alignment.end(a.event_count(), b.event_count());
        if method == Align::Steps {
            self.found.steps = self.paired_steps.take().unwrap_or_default();
            self.found.step_names = std::mem::take(&mut self.step_names);
        }
        (self.keys, self.counts, self.sequences, self.diff, self.paired_steps) = Default::default();
        self.found.method = Some(method);
        Ok(())
    }
}

/// Returns the percentage of allocations that could be paired with an allocation of the same key, ignoring their order.
fn matched_percent(keys: &[Vec<u32>; 2], [a, b]: &[Vec<u32>; 2]) -> u64 {
    let both: u64 = a.iter().zip(b).map(|(one, other)| u64::from(*one.min(other))).sum();
    200 * both / (keys.iter().map(Vec::len).sum::<usize>() as u64).max(1)
}
