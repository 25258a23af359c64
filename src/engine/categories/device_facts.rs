//! Facts about the events of a device that category rules need: annotations of `zero_grad`, and stacks that allocate in
//! several steps.

use crate::backward_stacks::BackwardStacks;
use crate::moments::annotation_span;
use crate::origin::alloc_stack;
use analysis::IdSet;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, Snapshot, StackId};
use protocol::Span;

/// Part of the name of an annotation that frees gradients, such as `Optimizer.zero_grad#AdamW.zero_grad`.
const ZERO_GRAD: &[u8] = b"zero_grad";

/// Returns the index of the block of 64 moments that contains a moment.
fn block_of(moment: u32) -> u32 {
    moment / 64
}

/// Facts about the events of one device.
#[derive(Default)]
pub(super) struct DeviceFacts {
    next_annotation: usize,
    /// Ranges of annotations whose name contains [`ZERO_GRAD`], in ascending order. Overlapping ranges are joined.
    zero_grad: Vec<Span>,
    /// Blocks of 64 moments that overlap with such a range. Most moments are in no such block.
    zero_grad_blocks: IdSet,
    next_event: usize,
    /// Moment after the last allocation of the backward pass so far.
    last_backward: u32,
    /// For each stack, the value of `last_backward` at its last allocation. 0 if there was none before.
    backward_before: Column<u32>,
    /// Backward passes so far: moments after the first and the last allocation.
    passes: Vec<[u32; 2]>,
    /// True if the last allocation so far is of a backward pass.
    is_in_backward: bool,
    next_allocation: usize,
    /// If the trace ends in a backward pass: number of allocations of earlier passes with this stack and size that were
    /// freed within their pass, and after it.
    fates: HashMap<(StackId, u64), [u32; 2], RandomState>,
}

base::heap_bytes!(DeviceFacts: zero_grad, zero_grad_blocks, backward_before, passes);

impl DeviceFacts {
    /// Continues reading the annotations and events until all are read or the time slice is used up.
    pub(super) fn step(
        &mut self,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        backward: &BackwardStacks,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if let Some(clock) = history.events.times.time_axis() {
            while let Some(part) = slice.next_range(&mut self.next_annotation, history.annotations.len(), 2)? {
                for range in history.annotations.get(part).unwrap_or_default() {
                    let name = snapshot.strings.bytes(range.name);
                    if range.end_us.is_some() && name.windows(ZERO_GRAD.len()).any(|part| part == ZERO_GRAD) {
                        self.add_zero_grad(annotation_span(history, clock, range), history.event_count());
                    }
                }
            }
        }
        if self.backward_before.is_empty() {
            self.backward_before = (0..snapshot.stacks.len()).map(|_| 0).collect();
        }
        while let Some(part) = slice.next_range(&mut self.next_event, history.event_count() as usize, 1)? {
            for event in part.map(|event| event as u32) {
                if history.events.action(event) != Action::Alloc {
                    continue;
                }
                let stack = history.events.stack(event);
                if !matches!(stack, StackId::NONE | StackId::EMPTY) {
                    self.add_to_passes(event + 1, backward.contains(stack));
                }
                if backward.contains(stack) {
                    self.last_backward = event + 1;
                } else if self.last_backward > 0 && stack != StackId::NONE {
                    self.backward_before.set(stack.0 as usize, self.last_backward);
                }
            }
        }
        // Only a backward pass that the trace ends in has temporaries that look like gradients.
        if !self.is_in_backward || self.passes.len() < 2 {
            return Ok(());
        }
        while let Some(part) = slice.next_range(&mut self.next_allocation, history.allocations.len(), 1)? {
            for id in part.map(|id| AllocationId(id as u32)) {
                let (allocated_at, freed_at, size) = history.allocations.span(id);
                let stack = alloc_stack(snapshot, history, id);
                let pass = self.passes.partition_point(|pass| pass[1] < allocated_at);
                let Some(&[start, end]) = self.passes.get(pass).filter(|_| pass + 1 < self.passes.len()) else {
                    continue;
                };
                if start <= allocated_at && backward.contains(stack) {
                    let freed_at = history.allocations.free_requested(id).map_or(freed_at, |moment| moment.0);
                    self.fates.entry((stack, size)).or_default()[usize::from(freed_at > end)] += 1;
                }
            }
        }
        Ok(())
    }

    /// Adds the range of an annotation of `zero_grad`, which starts no earlier than those before. `end` is the last
    /// moment of the trace.
    fn add_zero_grad(&mut self, span: Span, end: u32) {
        if self.zero_grad.is_empty() {
            self.zero_grad_blocks = IdSet::with_bound(block_of(end) as usize + 1);
        }
        let joined = self.zero_grad.last().map_or(0, |last| block_of(last.to));
        for block in block_of(span.from).max(joined)..=block_of(span.to.min(end)) {
            self.zero_grad_blocks.insert(block);
        }
        match self.zero_grad.last_mut().filter(|last| span.from <= last.to) {
            Some(last) => last.to = last.to.max(span.to),
            None => self.zero_grad.push(span),
        }
    }

    /// Adds an allocation with a stack to the backward passes.
    fn add_to_passes(&mut self, moment: u32, is_backward: bool) {
        match self.passes.last_mut().filter(|_| self.is_in_backward) {
            Some(pass) if is_backward => pass[1] = moment,
            _ if is_backward => self.passes.push([moment; 2]),
            _ => {}
        }
        self.is_in_backward = is_backward;
    }

    /// Returns whether an allocation is live because the trace ends in its backward pass: most allocations of earlier
    /// passes with the same stack and size were freed within their pass. The last ones are freed after it.
    pub(super) fn is_temporary(&self, snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> bool {
        if self.fates.is_empty() {
            return false;
        }
        let (allocated_at, freed_at, size) = history.allocations.span(id);
        let is_of_last = self.passes.last().is_some_and(|&[start, _]| start <= allocated_at);
        is_of_last
            && freed_at == u32::MAX
            && self.fates.get(&(alloc_stack(snapshot, history, id), size)).is_some_and(|[within, after]| within > after)
    }

    /// Returns whether an allocation is freed within an annotation of `zero_grad`.
    pub(super) fn is_freed_by_zero_grad(&self, history: &DeviceHistory, id: AllocationId) -> bool {
        let freed = [history.allocations.free_requested(id), history.allocations.freed_at(id)];
        let Some(Moment(freed)) = freed.into_iter().flatten().next() else { return false };
        if !self.zero_grad_blocks.contains(block_of(freed)) {
            return false;
        }
        let after = self.zero_grad.partition_point(|span| span.from < freed);
        let span = after.checked_sub(1).and_then(|last| self.zero_grad.get(last));
        span.is_some_and(|span| freed <= span.to)
    }

    /// Returns whether an allocation stays live although its stack allocates again after a later backward pass. Such an
    /// allocation is not an activation of its step.
    pub(super) fn is_kept(&self, snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> bool {
        let (allocated_at, freed_at, _) = history.allocations.span(id);
        if allocated_at == 0 || freed_at < u32::MAX || history.allocations.free_requested(id).is_some() {
            return false;
        }
        let stack = alloc_stack(snapshot, history, id);
        let backward = self.backward_before.get(stack.0 as usize).unwrap_or(0);
        stack != StackId::NONE && allocated_at < backward
    }
}
