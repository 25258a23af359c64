//! The heaviest allocation at a node of a tree and below it, in slices.

use super::answers::Population;
use super::open::OpenFile;
use super::protocol::{Arrangement, Scope};
use history::replay::AllocationId;

/// Allocations between two questions for the time.
const ALLOCATIONS_PER_CHECK: usize = 2048;

/// How far the answer is.
#[derive(Default)]
pub(super) struct Heaviest {
    population: Option<Population>,
    next: usize,
    best: Option<(u64, AllocationId)>,
}

impl Heaviest {
    /// The heaviest; `None` while there is no time for it. Without such a device or node there is none.
    pub(super) fn find(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        scope: Scope,
        (arrangement, node): (Arrangement, u32),
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<Option<u32>> {
        let Some((open, answers)) = file.open(device) else { return Some(None) };
        if !answers.collect(open, arrangement, node, has_time) {
            return None;
        }
        let Some(subtree) = answers.subtree(arrangement, node) else { return Some(None) };
        let population = self.population.get_or_insert_with(|| Population::new(open.history, scope));
        while self.next < population.len() {
            let end = self.next + ALLOCATIONS_PER_CHECK;
            population.part(open.history, [self.next, end], &mut |id, bytes| {
                if self.best.is_none_or(|(most, _)| bytes > most) && subtree.holds(&answers.stems, open, id) {
                    self.best = Some((bytes, id));
                }
            });
            self.next = end;
            if !has_time() {
                return None;
            }
        }
        Some(self.best.take().map(|(_, id)| id.0))
    }
}
