//! Gradients of the last step that are live during the forward pass: they were used by the optimizer, and are freed
//! before the next backward pass. Freed before the forward pass, they would not add to its peak.
//!
//! An OOM in the last forward pass prevents their free. There, gradients that are never freed are of the last step if
//! those of all earlier steps were freed during the next forward pass.

use crate::origin::is_free_stack;
use crate::roles::Role;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, DeviceHistory};

#[derive(Clone, Copy, Debug)]
struct ForwardPass {
    /// Moment before its first allocation.
    start: u32,
    /// Moment after the first allocation of the next backward pass. `u32::MAX` if there is none.
    end: u32,
    /// Bytes of the stale gradients that are live at the start.
    bytes: i64,
}

/// The forward passes of a trace, and the gradients that are live at their starts and freed before the next backward
/// pass.
#[derive(Default)]
pub(in crate::report) struct StaleGradients {
    /// Number of allocations that were searched for forward passes. `next` counts those searched for stale gradients.
    searched: usize,
    next: usize,
    passes: Vec<ForwardPass>,
    /// Number of starts that the pass over the trace has reached.
    reached: usize,
    has_backward: bool,
    /// Bytes of gradients that are live at the start of the last forward pass and never freed.
    unfreed_bytes: i64,
    /// True if these gradients are stale.
    ends_with_stale: bool,
}

impl StaleGradients {
    /// Continues searching for forward passes, and then for stale gradients. `role` returns the role of an allocation.
    pub(in crate::report) fn step(
        &mut self,
        side: Side<'_>,
        role: impl Fn(AllocationId) -> Role,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Side { file, history } = side;
        let StaleGradients { searched, passes, has_backward, .. } = self;
        while let Some(part) = slice.next_range(searched, history.allocations.len(), 1)? {
            for id in part.map(|id| AllocationId(id as u32)) {
                let (allocated_at, _, size) = history.allocations.span(id);
                if allocated_at == 0 || size == 0 {
                    continue;
                }
                let stack = side.stack(id);
                let last = passes.last_mut().filter(|pass| pass.end == u32::MAX);
                let is_recorded = !is_free_stack(history, id, stack);
                if is_recorded && file.backward.contains(stack) || role(id) == Role::Gradient {
                    *has_backward = true;
                    last.into_iter().for_each(|pass| pass.end = allocated_at);
                } else if last.is_none() && is_recorded && file.is_forward(stack) {
                    passes.push(ForwardPass { start: allocated_at - 1, end: u32::MAX, bytes: 0 });
                }
            }
        }
        while let Some(part) = slice.next_range(&mut self.next, history.allocations.len(), 1)? {
            for id in part.map(|id| AllocationId(id as u32)) {
                if role(id) != Role::Gradient {
                    continue;
                }
                let size = i64::try_from(history.allocations.size(id)).unwrap_or(i64::MAX);
                if let Some(pass) = self.pass_of(history, id).and_then(|index| self.passes.get_mut(index)) {
                    pass.bytes = pass.bytes.saturating_add(size);
                } else if self.is_unfreed(history, id) {
                    self.unfreed_bytes = self.unfreed_bytes.saturating_add(size);
                }
            }
        }
        let unfreed = std::mem::take(&mut self.unfreed_bytes);
        if let [_, earlier @ .., last] = &mut *self.passes
            && last.end == u32::MAX
            && history.oom_events().any(|event| event >= last.start)
            && !earlier.is_empty()
            && earlier.iter().all(|pass| pass.bytes > 0)
        {
            last.bytes = last.bytes.saturating_add(unfreed);
            self.ends_with_stale = true;
        }
        Ok(())
    }

    /// Returns whether a gradient is live at the start of the last forward pass and never freed.
    fn is_unfreed(&self, history: &DeviceHistory, id: AllocationId) -> bool {
        let (allocated_at, freed_at, _) = history.allocations.span(id);
        freed_at == u32::MAX && self.passes.last().is_some_and(|pass| allocated_at <= pass.start)
    }

    /// Returns the index of the forward pass during which a gradient is stale, if any.
    fn pass_of(&self, history: &DeviceHistory, id: AllocationId) -> Option<usize> {
        let (allocated_at, freed_at, _) = history.allocations.span(id);
        if freed_at == u32::MAX {
            let is_stale = self.ends_with_stale && self.is_unfreed(history, id);
            return self.passes.len().checked_sub(1).filter(|_| is_stale);
        }
        let index = self.passes.partition_point(|pass| pass.start < freed_at).checked_sub(1)?;
        let pass = self.passes.get(index)?;
        (allocated_at <= pass.start && freed_at < pass.end).then_some(index)
    }

    /// Returns the start of the next forward pass before `moment`, and the bytes of its stale gradients. The next call
    /// returns the one after it.
    pub(super) fn next_start(&mut self, moment: u32) -> Option<(u32, i64)> {
        let pass = self.passes.get(self.reached).filter(|pass| pass.start < moment)?;
        self.reached += 1;
        Some((pass.start, pass.bytes))
    }

    /// Returns whether a gradient is freed during the forward pass for which it is stale.
    pub(super) fn is_stale(&self, history: &DeviceHistory, id: AllocationId) -> bool {
        self.pass_of(history, id).is_some()
    }

    /// Returns whether a gradient is stale at this moment.
    pub(in crate::report) fn is_stale_at(
        &self,
        history: &DeviceHistory,
        id: AllocationId,
        Moment(moment): Moment,
    ) -> bool {
        let pass = self.pass_of(history, id).and_then(|index| self.passes.get(index));
        pass.is_some_and(|pass| pass.start <= moment) && history.allocations.outlives(id, Moment(moment))
    }

    /// Returns whether the trace has a backward pass.
    pub(super) fn has_backward(&self) -> bool {
        self.has_backward
    }
}
