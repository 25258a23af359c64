//! What the allocations of a scope weigh, stem by stem.

use super::population::Population;
use super::stems::Stems;
use crate::device::Open;
use crate::protocol::{Ends, Scope, Weight};
use base::slice::{Slice, Sliced};

/// Which allocations of which device are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The device's ordinal.
    pub(crate) device: i64,
    /// Those of this scope…
    pub(crate) scope: Scope,
    /// …and of them only what the search with this serial found.
    pub(crate) found: Option<u32>,
}

/// What the allocations of a selection weigh.
pub(super) struct Weights {
    pub(super) of: Selection,
    population: Population,
    next: usize,
    pub(super) total: Weight,
    by_stem: Vec<Weight>,
    /// For [`Scope::Change`] the same of the beginning of its range; the rest is of its end then.
    begin: Option<Box<Weights>>,
}

impl Weights {
    pub(super) fn new(open: Open<'_>, of: Selection) -> Weights {
        let at = |moment: u32| Selection { scope: Scope::At(moment), ..of };
        let (live, begin) = match of.scope {
            Scope::Change(span) => (at(span.to), Some(Box::new(Weights::new(open, at(span.from))))),
            _ => (of, None),
        };
        let population = Population::new(open.history, live.scope);
        Weights { of, population, next: 0, total: Weight::default(), by_stem: Vec::new(), begin }
    }

    /// Weighs.
    pub(super) fn step(&mut self, open: Open<'_>, stems: &mut Stems, slice: &mut Slice) -> Sliced {
        if let Some(begin) = &mut self.begin {
            begin.step(open, stems, slice)?;
        }
        let found = open.found.filter(|found| Some(found.serial) == self.of.found && found.device == self.of.device);
        // Matches of a search that is no more: none.
        let nothing = self.of.found.is_some() && found.is_none();
        let found = self.of.found.and(found);
        let Weights { population, next, total, by_stem, .. } = self;
        let count = if nothing { 0 } else { population.len() };
        while let Some(part) = slice.part(next, count, 1)? {
            population.part(open.history, part, &mut |id, bytes| {
                if found.is_some_and(|found| !found.matches.contains(id.0)) {
                    return;
                }
                let stem = stems.number(open, id) as usize;
                if by_stem.len() <= stem {
                    by_stem.resize(stem + 1, Weight::default());
                }
                let weight = Weight { bytes, count: 1 };
                total.add(weight);
                by_stem.get_mut(stem).into_iter().for_each(|sum| sum.add(weight));
            });
        }
        Ok(())
    }

    /// What the allocations of a stem weigh; for [`Scope::Change`] the larger of both ends, so that what is at one of them has its room.
    pub(super) fn of_stem(&self, stem: usize) -> Weight {
        let [begin, end] = self.ends_of_stem(stem);
        Weight { bytes: begin.bytes.max(end.bytes), count: begin.count.max(end.count) }
    }

    /// What is live of a stem at both ends.
    pub(super) fn ends_of_stem(&self, stem: usize) -> Ends {
        let of = |weights: &Weights| weights.by_stem.get(stem).copied().unwrap_or_default();
        [self.begin.as_deref().map_or_else(Weight::default, of), of(self)]
    }

    /// Whether there are two ends.
    pub(super) fn has_ends(&self) -> bool {
        self.begin.is_some()
    }

    /// Stems beyond this weigh nothing.
    pub(super) fn stems(&self) -> usize {
        self.by_stem.len().max(self.begin.as_ref().map_or(0, |begin| begin.by_stem.len()))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let begin = self.begin.as_ref().map_or(0, |begin| begin.heap_bytes());
        self.by_stem.capacity() * size_of::<Weight>() + begin
    }
}
