//! Decides whether a trace has a forward pass without a backward pass. Then the peak of training is unknown.

use super::growth::Roles;
use crate::roles::Role;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;

/// Search for allocations of the forward and the backward pass.
#[derive(Default)]
pub(super) struct BackwardPass {
    next: usize,
    has_forward: bool,
    has_backward: bool,
}

impl BackwardPass {
    /// Continues searching until all allocations are examined or the time slice is used up. The file is categorized,
    /// and its stacks of the forward pass are known.
    pub(super) fn step(&mut self, side: Side<'_>, roles: &Roles, slice: &mut TimeSlice) -> SliceResult {
        self.next = self.next.max(side.history.allocations.early_count());
        while let Some(part) = slice.next_range(&mut self.next, side.history.allocations.len(), 2)? {
            for id in part.map(|id| AllocationId(id as u32)) {
                let stack = side.stack(id);
                self.has_backward |= side.file.backward.contains(stack) || roles.role(side, id) == Role::Gradient;
                self.has_forward |= side.file.is_forward(stack);
            }
        }
        Ok(())
    }

    /// Returns whether the trace has a forward pass, but no backward pass.
    pub(super) fn is_missing(&self) -> bool {
        self.has_forward && !self.has_backward
    }
}
