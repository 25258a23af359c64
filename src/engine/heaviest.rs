//! Search for the heaviest allocation in the subtree of a node, in time slices.

use super::open::OpenFile;
use super::stack_trees::Population;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use protocol::{Arrangement, Scope};

/// Progress of a search for the heaviest allocation.
#[derive(Default)]
pub(super) struct Heaviest {
    population: Option<Population>,
    next: usize,
    best: Option<(u64, AllocationId)>,
}

impl Heaviest {
    /// Continues the search and returns the id of the heaviest allocation once found. `None` if there is no such device
    /// or node, or no allocation below the node.
    pub(super) fn find(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        scope: Scope,
        (arrangement, node): (Arrangement, u32),
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<u32>> {
        let Some((data, answers)) = file.device_with_trees(device) else { return Ok(None) };
        answers.collect_subtree(data, arrangement, node, slice)?;
        let Some(subtree) = answers.subtree(arrangement, node) else { return Ok(None) };
        let population = self.population.get_or_insert_with(|| Population::new(data.history, scope));
        while let Some(part) = slice.next_range(&mut self.next, population.len(), 1)? {
            population.visit_part(data.history, part, &mut |id, bytes| {
                if self.best.is_none_or(|(best, _)| bytes > best) && subtree.contains(&answers.stack_keys, data, id) {
                    self.best = Some((bytes, id));
                }
            });
        }
        Ok(self.best.take().map(|(_, id)| id.0))
    }
}
