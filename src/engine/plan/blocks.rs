//! Detection of a model's repeating blocks, for estimates of activation checkpointing.
//!
//! Blocks are detected from the stacks of the activations that are live at the peak. A layer that runs in a loop leaves
//! one allocation per stack and iteration, so `n` live allocations with the same stack mean `n` blocks. Among the
//! stacks with `n` allocations, the one whose first allocation comes last is taken as the output of a block and the
//! input of the next one.

use crate::device::DeviceData;
use crate::origin::stack_of;
use crate::roles::Role;
use crate::stack_trees::Population;
use analysis::IdSet;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::Scope;

/// Time-sliced detection of the repeating blocks of a model.
#[derive(Default)]
pub(super) struct Blocks {
    population: Option<Population>,
    next: usize,
    /// Activations that are live at the peak. Each is a sort key (made of stack and id) and the allocation id.
    live: Vec<(u128, u32)>,
    is_ranked: bool,
    /// Stacks of activations inside blocks. Stacks of block outputs are left out.
    pub(super) stacks: IdSet,
    /// Number of blocks. If it is less than 2, the model has no repeating blocks.
    pub(super) count: u32,
}

impl Blocks {
    /// Continues collecting the activations that are live at moment `peak`. Then detects the blocks. `role` returns the
    /// role of an allocation.
    pub(super) fn step(
        &mut self,
        data: DeviceData<'_>,
        peak: u32,
        role: impl Fn(AllocationId) -> Role,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let DeviceData { snapshot, history, .. } = data;
        let population = self.population.get_or_insert_with(|| Population::new(history, Scope::At(peak)));
        population.visit(history, &mut self.next, slice, &mut |id, bytes| {
            if bytes > 0 && role(id) == Role::Activation {
                let stack = stack_of(snapshot, history, id);
                if !matches!(stack, StackId::NONE | StackId::EMPTY) {
                    self.live.push((two_part_key(stack.0.into(), id.0.into()), id.0));
                }
            }
        })?;
        if !self.is_ranked {
            self.is_ranked = true;
            self.detect(data);
        }
        Ok(())
    }

    fn detect(&mut self, DeviceData { snapshot, history, .. }: DeviceData<'_>) {
        let ids = sorted_numbers(std::mem::take(&mut self.live));
        let stack = |id: u32| stack_of(snapshot, history, AllocationId(id));
        let runs: Vec<&[u32]> = ids.chunk_by(|&id, &next| stack(id) == stack(next)).collect();
        // The number of blocks is the repeat count that accounts for the most bytes.
        let mut bytes: Vec<(usize, u64)> = Vec::new();
        for run in runs.iter().filter(|run| run.len() > 1) {
            let sum = run.iter().fold(0u64, |sum, &id| sum.saturating_add(history.allocations.size(AllocationId(id))));
            match bytes.iter_mut().find(|(count, _)| *count == run.len()) {
                Some((_, known)) => *known = known.saturating_add(sum),
                None => bytes.push((run.len(), sum)),
            }
        }
        let Some(&(count, _)) = bytes.iter().max_by_key(|(_, bytes)| *bytes) else { return };
        self.count = count as u32;
        // A line that runs twice per block is also inside the block.
        let inside = || runs.iter().filter(|run| run.len() >= count);
        let output = inside().filter(|run| run.len() == count).filter_map(|run| run.first()).max();
        self.stacks = IdSet::with_bound(snapshot.stacks.len());
        for first in inside().filter_map(|run| run.first()).filter(|first| Some(*first) != output) {
            self.stacks.insert(stack(*first).0);
        }
    }
}
