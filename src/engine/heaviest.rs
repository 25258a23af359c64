//! The heaviest allocation at a node of a tree and below it, in slices.

use super::answers::Population;
use super::open::OpenFile;
use super::protocol::{Arrangement, Reply, Scope};
use history::replay::AllocationId;

/// Allocations between two questions for the time.
const ALLOCATIONS_PER_CHECK: usize = 2048;

/// The question, and how far its answer is.
pub(super) struct Heaviest {
    serial: u32,
    device: i64,
    scope: Scope,
    node: (Arrangement, u32),
    population: Option<Population>,
    next: usize,
    best: Option<(u64, AllocationId)>,
}

impl Heaviest {
    pub(super) fn new(serial: u32, device: i64, scope: Scope, node: (Arrangement, u32)) -> Heaviest {
        Heaviest { serial, device, scope, node, population: None, next: 0, best: None }
    }

    /// `true` when done; without such a device, at once.
    pub(super) fn step(&mut self, file: &mut OpenFile, has_time: &mut dyn FnMut() -> bool) -> bool {
        let Some((open, answers)) = file.open(self.device) else { return true };
        let (arrangement, node) = self.node;
        if !answers.collect(open, arrangement, node, has_time) {
            return false;
        }
        let Some(subtree) = answers.subtree(arrangement, node) else { return true };
        let population = self.population.get_or_insert_with(|| Population::new(open.history, self.scope));
        while self.next < population.len() {
            let end = self.next + ALLOCATIONS_PER_CHECK;
            population.part(open.history, [self.next, end], &mut |id, bytes| {
                if self.best.is_none_or(|(most, _)| bytes > most) && subtree.holds(&answers.stems, open, id) {
                    self.best = Some((bytes, id));
                }
            });
            self.next = end;
            if !has_time() {
                return false;
            }
        }
        true
    }

    /// Whatever was found.
    pub(super) fn reply(&self) -> Reply {
        Reply::Heaviest { serial: self.serial, allocation: self.best.map(|(_, id)| id.0) }
    }
}
