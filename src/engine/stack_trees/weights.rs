//! Weights of the allocations of a selection, by stack key (stack and origin).

use super::population::Population;
use super::stack_keys::StackKeys;
use crate::device::DeviceData;
use base::slice::{SliceResult, TimeSlice};
use protocol::{Ends, Scope, Weight};

/// Selection of allocations of one device, by scope and search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Device ordinal.
    pub(crate) device: i64,
    pub(crate) scope: Scope,
    /// Serial of the search whose matches are selected. `None` selects all allocations of the scope.
    pub(crate) found: Option<u32>,
}

/// Weights of the allocations of a selection, in total and by stack key (stack and origin).
pub(super) struct Weights {
    pub(super) selection: Selection,
    population: Population,
    next: usize,
    pub(super) total: Weight,
    by_stack_key: Vec<Weight>,
    /// For [`Scope::Change`], the weights at the start of the range. The other fields are then the weights at its end.
    start: Option<Box<Weights>>,
}

base::heap_bytes!(Weights: by_stack_key, start);

impl Weights {
    pub(super) fn new(data: DeviceData<'_>, selection: Selection) -> Weights {
        let at = |moment: u32| Selection { scope: Scope::At(moment), ..selection };
        let (live, start) = match selection.scope {
            Scope::Change(span) => (at(span.to), Some(Box::new(Weights::new(data, at(span.from))))),
            _ => (selection, None),
        };
        let population = Population::new(data.history, live.scope);
        Weights { selection, population, next: 0, total: Weight::default(), by_stack_key: Vec::new(), start }
    }

    /// Continues adding up the weights until they are complete or the time slice is used up.
    pub(super) fn step(
        &mut self,
        data: DeviceData<'_>,
        stack_keys: &mut StackKeys,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if let Some(begin) = &mut self.start {
            begin.step(data, stack_keys, slice)?;
        }
        let found = data
            .found
            .filter(|found| Some(found.serial) == self.selection.found && found.device == self.selection.device);
        // A search that was replaced by another one has no matches.
        let nothing = self.selection.found.is_some() && found.is_none();
        let found = self.selection.found.and(found);
        let Weights { population, next, total, by_stack_key, .. } = self;
        let count = if nothing { 0 } else { population.len() };
        while let Some(part) = slice.next_range(next, count, 1)? {
            population.visit_part(data.history, part, &mut |id, bytes| {
                if found.is_some_and(|found| !found.matches.contains(id.0)) {
                    return;
                }
                let stack_key = stack_keys.number_or_insert(data, id) as usize;
                if by_stack_key.len() <= stack_key {
                    by_stack_key.resize(stack_key + 1, Weight::default());
                }
                let weight = Weight { bytes, count: 1 };
                total.add(weight);
                by_stack_key.get_mut(stack_key).into_iter().for_each(|sum| sum.add(weight));
            });
        }
        Ok(())
    }

    /// Returns the weight of a stack key (stack and origin). For [`Scope::Change`], returns the larger of the weights
    /// at both ends, so that memory that is live at only one end is visible.
    pub(super) fn of_stack_key(&self, stack_key: usize) -> Weight {
        let [begin, end] = self.ends_of_stack_key(stack_key);
        Weight { bytes: begin.bytes.max(end.bytes), count: begin.count.max(end.count) }
    }

    /// Returns the live weight of a stack key (stack and origin) at the start and at the end of the range of a change.
    pub(super) fn ends_of_stack_key(&self, stack_key: usize) -> Ends {
        let key_weight = |weights: &Weights| weights.by_stack_key.get(stack_key).copied().unwrap_or_default();
        [self.start.as_deref().map_or_else(Weight::default, key_weight), key_weight(self)]
    }

    /// Returns whether the selection has a start and an end, which is the case for [`Scope::Change`].
    pub(super) fn has_ends(&self) -> bool {
        self.start.is_some()
    }

    /// Returns the end of the range of stack key indices whose weight may be nonzero.
    pub(super) fn stack_key_count(&self) -> usize {
        self.by_stack_key.len().max(self.start.as_ref().map_or(0, |begin| begin.by_stack_key.len()))
    }
}
