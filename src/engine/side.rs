//! A device of an open file as another crate may read it: one side of a comparison.

use super::Engine;
use super::answers::Population;
use super::device::Known;
use super::events::{pool_of, stack_of_event, stream_of};
use super::open::OpenFile;
use super::origin::{is_of_free, stack_of};
use super::protocol::{Grouping, Scope};
use base::units::Moment;
use history::replay::{AllocationId, Curve, DeviceHistory, SegmentLives};
use history::snapshot::{Snapshot, StackId};

/// A device of a file that is open. Complete once [`Engine::step`] has nothing left to do: categories come last.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub(super) file: &'a OpenFile,
    /// Its events, allocations and totals.
    pub history: &'a DeviceHistory,
}

impl Engine {
    /// The device with this ordinal, where the open file has it.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        let file = self.file.as_deref()?;
        Some(Side { file, history: file.history(device)? })
    }

    /// The same, once all is known of it: categories, and what was reserved when.
    pub fn whole_side(&mut self, device: i64) -> Option<Side<'_>> {
        self.file.as_deref_mut()?.prepare_whole();
        self.side(device)
    }
}

impl<'a> Side<'a> {
    /// Frames, stacks, segments and settings of the file.
    pub fn snapshot(&self) -> &'a Snapshot {
        &self.file.snapshot
    }

    /// What the file is called.
    pub fn name(&self) -> String {
        self.file.summary().file
    }

    /// What was reserved when, once [`Engine::whole_side`] has gone through it.
    pub fn segment_lives(&self) -> Option<&'a SegmentLives> {
        self.file.segments(self.history.device)
    }

    /// Hands out the allocations of a scope in order of birth, each with its weight: those that the views of this scope add up.
    pub fn in_scope(&self, scope: Scope, each: &mut dyn FnMut(AllocationId, u64)) {
        let population = Population::new(self.history, scope);
        population.part(self.history, 0..population.len(), each);
    }

    /// The stack of an allocation: of its alloc or its block, else of its free.
    pub fn stack(&self, id: AllocationId) -> StackId {
        stack_of(&self.file.snapshot, self.history, id)
    }

    /// Whether `stack`, which is its [stack](Side::stack), is that of its free.
    pub fn is_of_free(&self, id: AllocationId, stack: StackId) -> bool {
        is_of_free(self.history, id, stack)
    }

    /// The most live bytes from one moment to another, both included.
    pub fn most_live_in(&self, from: Moment, to: Moment) -> u64 {
        self.peak_in(from, to).1
    }

    /// The same, and the first moment when they are live.
    pub fn peak_in(&self, from: Moment, to: Moment) -> (Moment, u64) {
        let change = |event| self.history.drawn_change(event);
        let most = Curve::new(&self.history.drawn, &change).max_in(from.0..to.0.saturating_add(1));
        most.map_or((from, 0), |(moment, bytes)| (moment, u64::try_from(bytes).unwrap_or(0)))
    }

    /// The group of an allocation.
    pub fn group(&self, by: Grouping, id: AllocationId) -> u32 {
        self.file.groups.of(&self.file.snapshot, self.history, id, by)
    }

    /// One more than the largest group.
    pub fn group_count(&self, by: Grouping) -> u32 {
        self.file.groups.count(self.history, by)
    }

    /// What a group is called.
    pub fn group_label(&self, by: Grouping, group: u32) -> String {
        self.file.groups.label(&self.file.snapshot, self.history, by, group)
    }

    /// The stream of an allocation, where recorded.
    pub fn stream(&self, id: AllocationId) -> Option<u64> {
        self.file.groups.stream(&self.file.snapshot, self.history, id)
    }

    /// The pool of an allocation, where recorded.
    pub fn pool(&self, id: AllocationId) -> Option<(u64, u64)> {
        self.file.groups.pool(&self.file.snapshot, self.history, id)
    }

    /// What a pool is called.
    pub fn pool_label(&self, pool: (u64, u64)) -> String {
        self.file.groups.pool_label(pool)
    }

    /// Bytes as the allocator handed them out, and whether the file says so; otherwise they are the fewest that it may have been.
    pub fn allocated_bytes(&self, id: AllocationId) -> (u64, bool) {
        let (bytes, known) = self.file.about(self.history).rounded(id);
        (bytes, known == Known::Recorded)
    }

    /// The stack of an event, or else that of its allocation.
    pub fn event_stack(&self, event: u32) -> StackId {
        stack_of_event(self.file, self.history, event)
    }

    /// The stream of an event, or else that of its allocation or segment, where recorded.
    pub fn event_stream(&self, event: u32) -> Option<u64> {
        stream_of(self.file, self.history, event)
    }

    /// The pool of an event, found as its stream is.
    pub fn event_pool(&self, event: u32) -> Option<(u64, u64)> {
        pool_of(self.file, self.history, event)
    }

    /// Whether an allocation comes out of a private pool, such as that of a CUDA graph.
    pub fn is_in_private_pool(&self, id: AllocationId) -> bool {
        let groups = &self.file.groups;
        groups.is_private(groups.pool_number(groups.pool(&self.file.snapshot, self.history, id)))
    }
}
