//! Activations that stay live until the last allocation of their forward pass, as they do for a backward pass. Under
//! `torch.no_grad()`, each is freed after its last use.

use super::pass::MatchedStacks;
use crate::open::OpenFile;
use crate::report::step_finder::Steps;
use crate::roles::Role;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{AllocationId, DeviceHistory};

/// Activations that stay live until the last allocation of their forward pass.
pub(super) struct KeptActivations {
    /// Moment at which each forward pass ends, in ascending order: the end of a step, or of the trace. The second value
    /// is the moment after the last allocation of the forward pass.
    passes: Vec<(u32, u32)>,
    next: usize,
    next_counted: usize,
    /// Number of activations, and of those that are kept.
    count: u64,
    kept_count: u64,
    /// True if there are gradients or optimizer state.
    is_training: bool,
}

/// Minimum number of kept activations. Outputs of the model are kept as well.
const MIN_KEPT: u64 = 4;

impl KeptActivations {
    pub(super) fn new(steps: &Steps, end: u32) -> KeptActivations {
        let mut passes: Vec<(u32, u32)> = steps.spans.iter().map(|step| (step.to, 0)).collect();
        passes.push((end, 0));
        let (next, next_counted, count, kept_count, is_training) = Default::default();
        KeptActivations { passes, next, next_counted, count, kept_count, is_training }
    }

    /// Continues searching for the last allocation of each forward pass.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        matched: MatchedStacks<'_>,
        role: impl Fn(AllocationId) -> Role,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.next, history.allocations.len(), 2)? {
            for id in part.map(|id| AllocationId(id as u32)) {
                self.is_training |= matches!(role(id), Role::Gradient | Role::Optimizer);
                let allocated_at = history.allocations.allocated_at(id).0;
                if allocated_at > 0 && matched.forward.contains(file.stack(history, id).0) {
                    let pass = self.passes.partition_point(|&(end, _)| end < allocated_at);
                    self.passes.get_mut(pass).into_iter().for_each(|(_, last)| *last = allocated_at.max(*last));
                }
            }
        }
        while let Some(part) = slice.next_range(&mut self.next_counted, history.allocations.len(), 1)? {
            for id in part.map(|id| AllocationId(id as u32)) {
                let role = role(id);
                self.count += u64::from(role == Role::Activation && history.allocations.allocated_at(id).0 > 0);
                self.kept_count += u64::from(self.contains(history, id, role));
            }
        }
        Ok(())
    }

    /// Returns whether at least a quarter of the activations are kept. Under `torch.no_grad()`, only outputs are.
    pub(super) fn are_usual(&self) -> bool {
        self.kept_count >= MIN_KEPT && self.kept_count * 4 >= self.count
    }

    /// Returns whether an allocation is an activation that is still live after the last allocation of its forward pass.
    pub(super) fn contains(&self, history: &DeviceHistory, id: AllocationId, role: Role) -> bool {
        let (allocated_at, freed_at, _) = history.allocations.span(id);
        let pass = self.passes.get(self.passes.partition_point(|&(end, _)| end < allocated_at));
        let is_kept = |&(_, last): &(u32, u32)| allocated_at <= last && last < freed_at;
        role == Role::Activation && allocated_at > 0 && pass.is_some_and(is_kept)
    }

    /// Returns whether there are gradients or optimizer state.
    pub(super) fn is_training(&self) -> bool {
        self.is_training
    }
}
