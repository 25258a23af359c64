//! Compares two devices: aligns moments, sums live bytes by key, determines what happened to each allocation, and
//! writes a verdict.

mod facts;
mod matching;

use crate::aligning::Aligner;
use crate::alignment::{Align, Alignment};
use crate::allocations::AllocationComparison;
use crate::answer::{AllocationDifferences, Comparison, FactorGroup, Matched, OutcomeTotals, PerSide};
use crate::compiled::only_compiled;
use crate::key::{Key, PAIRING_KEYS, SUM_KEYS};
use crate::pairing::Pairing;
use crate::scaling::{MeasuredScaling, growth};
use crate::steps::Steps;
use crate::sums::Sums;
use crate::tables::KeyTables;
use crate::tree::{NodeSelection, Tree, tree_key};
use crate::verdict::verdict;
use crate::warnings::warnings;
use base::heap::HeapBytes;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use engine::Side;
use facts::{facts, live, moment_pairs, settings, two};
use history::replay::AllocationId;

/// Minimum percentage of bytes that a key must match with the other file to be selected.
const MIN_MATCHED_PERCENT: u128 = 90;
/// Minimum percentage of bytes that must match for a comparison by code, if no key reaches [`MIN_MATCHED_PERCENT`].
const MIN_CODE_PERCENT: u128 = 50;

/// Options of a comparison. Options that are `None` are selected automatically.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompareOptions {
    /// Compared moment of A. If `None`, it is aligned with the moment of B. If both are `None`, the peaks are compared.
    pub a: Option<Moment>,
    /// Compared moment of B. If `None`, it is aligned with the moment of A. If both are `None`, the peaks are compared.
    pub b: Option<Moment>,
    pub key: Option<Key>,
    pub align: Option<Align>,
}

/// Resumable comparison of two devices. Each call must pass the same two sides.
pub struct Comparer {
    wanted: CompareOptions,
    /// The only side that runs compiled code, if there is one. Then the code of both sides cannot be matched.
    only_compiled: Option<&'static str>,
    tables: KeyTables,
    aligning: Aligner,
    sums: Option<Sums>,
    key_index: usize,
    tried: Vec<(Key, Matched)>,
    chosen: Option<Key>,
    tree_sums: Option<Sums>,
    tree: Tree,
    pools: Option<Sums>,
    each: AllocationComparison,
    pairing: Pairing,
    steps: Steps,
    scaling: Option<Vec<FactorGroup>>,
    lifetimes: Option<Vec<OutcomeTotals>>,
}

impl Comparer {
    /// Creates a comparison of two devices. Call [`Comparer::step`] to run it.
    pub fn new(a: &Side, b: &Side, wanted: CompareOptions) -> Comparer {
        let (tables, aligning) = (KeyTables::new([a, b]), Aligner::new(a, b, wanted.align));
        let (sums, tree_sums, tree, pools, each, pairing) = Default::default();
        let (steps, scaling, lifetimes) = Default::default();
        let only_compiled = only_compiled([a, b]);
        let chosen = wanted.key.or(only_compiled.map(|_| Key::Category));
        let (key_index, tried) = (0, Vec::new());
        Comparer {
            wanted,
            only_compiled,
            tables,
            aligning,
            sums,
            key_index,
            tried,
            chosen,
            tree_sums,
            tree,
            pools,
            each,
            pairing,
            steps,
            scaling,
            lifetimes,
        }
    }

    /// Sets path prefixes and their replacements. In each path, the first matching prefix is replaced. Must be called
    /// before the first step.
    #[must_use]
    pub fn with_prefixes(mut self, prefixes: Vec<(String, String)>) -> Comparer {
        self.tables.common.prefixes = prefixes;
        self
    }

    /// Continues the comparison until it is complete or the time slice is used up. Returns the result.
    ///
    /// # Errors
    /// Returns an error if the time is up.
    pub fn step(&mut self, a: &Side, b: &Side, slice: &mut TimeSlice) -> SliceResult<Comparison> {
        let sides = [a, b];
        self.aligning.step(sides, &mut self.tables, slice)?;
        let moments = self.moments(sides);
        self.sum_up(sides, moments, slice)?;
        let by = tree_key(self.chosen.unwrap_or(Key::CallSite));
        let tree_sums = self.tree_sums.get_or_insert_with(|| Sums::new(by, moments));
        tree_sums.step(sides, &mut self.tables, slice)?;
        self.tree.step(tree_sums, &self.tables.common, slice)?;
        let pools = self.pools.get_or_insert_with(|| Sums::new(Key::Pool, moments));
        pools.step(sides, &mut self.tables, slice)?;
        self.pairing.step(sides, &mut self.tables, &self.aligning.found, slice)?;
        self.steps.step(sides, &self.aligning.found, slice)?;
        for sums in [&mut self.sums, &mut self.pools].into_iter().flatten() {
            sums.list(sides, &mut self.tables, slice)?;
        }
        if self.scaling.is_none() {
            self.scaling = Some(self.pairing.scaling(sides, &mut self.tables));
            slice.check()?;
        }
        if self.lifetimes.is_none() {
            self.lifetimes = Some(self.pairing.lifetimes(sides, &mut self.tables));
            slice.check()?;
        }
        let allocations = self.each.step(sides, &mut self.tables, &self.aligning.found, moments, slice)?;
        Ok(self.comparison(sides, moments, allocations))
    }

    /// Returns how the sizes of A's call sites depend on the size of the input. `by` is the growth of the input from A
    /// to B, or `None` to infer it. Returns `None` if no size changes. Call it after [`Comparer::step`] has succeeded.
    pub fn measure_scaling(&self, [a, b]: [&Side; 2], by: Option<f64>) -> Option<MeasuredScaling> {
        let size = |side: &Side, number| side.history.allocations.size(AllocationId(number));
        let pairs = || self.aligning.found.pairs.iter().map(|(one, other)| (one, [size(a, one), size(b, other)]));
        let growth = by.or_else(|| growth(pairs().map(|(_, sizes)| sizes)))?;
        let [of_a, _] = self.tables.of(Key::CallSite);
        let of_a = of_a?;
        let count = a.history.allocations.len();
        Some(MeasuredScaling::new(
            growth,
            self.pairing.growths(),
            count,
            |number| of_a.number_of(a, AllocationId(number as u32)),
            pairs().map(|(number, [one, other])| (number, other as f64 / one as f64)),
        ))
    }

    /// Continues aligning moments, which is the first part of [`Comparer::step`].
    ///
    /// # Errors
    /// Returns an error if the time is up.
    pub fn align(&mut self, a: &Side, b: &Side, slice: &mut TimeSlice) -> SliceResult {
        self.aligning.step([a, b], &mut self.tables, slice)
    }

    /// Returns the method that aligned the moments, or `None` if the alignment is not complete.
    pub fn method(&self) -> Option<Align> {
        self.aligning.found.method
    }

    /// Changes the key and the compared moments, and keeps the alignment.
    pub fn set_options(&mut self, key: Option<Key>, (a, b): (Option<Moment>, Option<Moment>)) {
        if (key, a, b) != (self.wanted.key, self.wanted.a, self.wanted.b) {
            self.wanted.key = key;
            self.set_moments(a, b);
        }
    }

    /// Changes the compared moments, and keeps the alignment.
    pub fn set_moments(&mut self, a: Option<Moment>, b: Option<Moment>) {
        self.wanted = CompareOptions { a, b, ..self.wanted };
        (self.sums, self.key_index, self.chosen, self.pools) = (None, 0, self.first_key(), None);
        (self.tree_sums, self.tree, self.each) = Default::default();
        self.tried.clear();
    }

    /// Returns the requested key, or the only key that suits sides whose code differs. `None` if keys have to be tried.
    fn first_key(&self) -> Option<Key> {
        self.wanted.key.or(self.only_compiled.map(|_| Key::Category))
    }

    /// Returns the alignment of moments. It is complete once [`Comparer::align`] or [`Comparer::step`] has succeeded.
    pub fn alignment(&self) -> &Alignment {
        &self.aligning.found.alignment
    }

    /// Returns the heap memory used, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let found = &self.aligning.found;
        self.tree.heap_bytes()
            + self.tables.heap_bytes()
            + found.alignment.heap_bytes()
            + found.pairs.heap_bytes()
            + self.pairing.heap_bytes()
            + self.each.heap_bytes()
    }

    fn moments(&self, [a, b]: [&Side; 2]) -> (Moment, Moment) {
        let within = |side: &Side, moment: Moment| Moment(moment.0.min(side.history.event_count()));
        let alignment = &self.aligning.found.alignment;
        match (self.wanted.a.map(|moment| within(a, moment)), self.wanted.b.map(|moment| within(b, moment))) {
            (Some(one), Some(other)) => (one, other),
            (Some(one), None) => (one, alignment.to_b(one)),
            (None, Some(other)) => (alignment.to_a(other), other),
            (None, None) => (a.history.live_peak().0, b.history.live_peak().0),
        }
    }

    /// Continues summing the live bytes by the requested key, or by the strictest key that matches enough bytes.
    fn sum_up(&mut self, sides: [&Side; 2], moments: (Moment, Moment), slice: &mut TimeSlice) -> SliceResult {
        loop {
            let rung = SUM_KEYS.get(self.key_index).copied();
            let key = self.chosen.or(rung).unwrap_or(Key::CallSite);
            let sums = match &mut self.sums {
                Some(sums) if sums.key() == key => sums,
                sums => sums.insert(Sums::new(key, moments)),
            };
            sums.step(sides, &mut self.tables, slice)?;
            if self.chosen.is_some() {
                return Ok(());
            }
            let matched = sums.matched(&self.tables);
            self.tried.push((key, matched));
            self.key_index += 1;
            if matched.has_percent(MIN_MATCHED_PERCENT) {
                self.chosen = Some(key);
            } else if self.key_index == SUM_KEYS.len() {
                // Half of the bytes by code is more informative than all of them by category.
                let (by_code, _) = self.tried.split_at(PAIRING_KEYS.len().min(self.tried.len()));
                let best = |tried: &[(Key, Matched)]| {
                    tried.iter().rev().copied().max_by_key(|(_, matched)| matched.parts_per_million())
                };
                let by_code = best(by_code).filter(|(_, matched)| matched.has_percent(MIN_CODE_PERCENT));
                self.chosen = by_code.or(best(&self.tried)).map(|(key, _)| key);
            }
        }
    }

    fn comparison(
        &mut self,
        sides: [&Side; 2],
        moments: (Moment, Moment),
        allocations: AllocationDifferences,
    ) -> Comparison {
        let [a, b] = sides;
        let rows = self.sums.as_mut().map_or_else(Vec::new, Sums::take_rows);
        let pools = self.pools.as_mut().map_or_else(Vec::new, Sums::take_rows);
        let matched = self.sums.as_ref().map_or(Matched::default(), |sums| sums.matched(&self.tables));
        let key = self.chosen.unwrap_or(Key::CallSite);
        let found = &self.aligning.found;
        let method = found.method.unwrap_or(Align::Share);
        let total = PerSide { a: live(a.history, moments.0), b: live(b.history, moments.1) };
        let mut comparison = Comparison {
            a: facts(a, moments.0),
            b: facts(b, moments.1),
            alignment: method.name().to_owned(),
            alignment_detail: found.detail(method),
            key: key.name().to_owned(),
            key_title: key.title().to_owned(),
            matched,
            tried: self.tried.iter().map(|(key, matched)| (key.name().to_owned(), *matched)).collect(),
            moments: moment_pairs(a.history, b.history, &found.alignment),
            rows,
            tree: self.tree.rows(&self.tables.common, total, NodeSelection::Different),
            flame: self.tree.rows(&self.tables.common, total, NodeSelection::Large),
            tree_title: tree_key(key).title().to_owned(),
            steps: self.steps.rows.clone(),
            allocations,
            pools: Some(pools).filter(|pools| pools.len() > 1).unwrap_or_default(),
            settings: settings(a, b),
            out_of_memory: two(sides, |side| side.history.oom_events().count() as u64),
            scaling: self.scaling.clone().unwrap_or_default(),
            lifetimes: self.lifetimes.clone().unwrap_or_default(),
            only_compiled: self.only_compiled.filter(|_| self.wanted.key.is_none()).unwrap_or_default().to_owned(),
            warnings: warnings(sides, found.is_exact),
            verdict: Vec::new(),
        };
        comparison.verdict = verdict(&comparison);
        comparison
    }
}
