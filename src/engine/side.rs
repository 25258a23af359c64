//! Read access to a device of an open file. A comparison, for example, has two sides.

use super::device::{DeviceData, SizeSource};
use super::open::OpenFile;
use super::origin::{holder_of, is_free_stack, metadata_of, stack_of};
use super::recorder_facts::paused_over_time;
use super::stack_trees::Population;
use analysis::InternalRules;
use base::units::{EventIdx, Moment};
use history::recorder::PausedBytes;
use history::replay::{AllocationId, Curve, DeviceHistory, SegmentLifetimes, Subject};
use history::snapshot::{Segment, Snapshot, StackId};
use protocol::{Backend, Grouping, Scope};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A device of an open file. Its data is complete once [`Engine::step`](crate::Engine::step) has returned
/// [`Work::Idle`](crate::Work::Idle).
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub(super) file: &'a OpenFile,
    pub history: &'a DeviceHistory,
}

impl OpenFile {
    /// Returns the device with this ordinal. `None` if the file does not have it.
    pub(super) fn side(&self, device: i64) -> Option<Side<'_>> {
        Some(Side { file: self, history: self.history(device)? })
    }
}

impl<'a> Side<'a> {
    pub fn snapshot(&self) -> &'a Snapshot {
        &self.file.snapshot
    }

    /// Returns the rules for internal frames.
    pub fn internal_rules(&self) -> &'a InternalRules {
        self.file.stack_trees.rules()
    }

    pub fn name(&self) -> String {
        self.file.summary().file
    }

    /// Returns the kind of the devices of the file.
    pub fn backend(&self) -> Backend {
        self.file.backend
    }

    /// Describes the Python object that holds an allocation at the end, if a recorder found it.
    pub fn held_by(&self, id: AllocationId) -> Option<String> {
        let snapshot = self.snapshot();
        Some(snapshot.recorder.describe_holder(holder_of(snapshot, self.history, id)?))
    }

    /// Returns the bytes of the device over time that are reserved but paused, and so not on the GPU.
    pub fn paused_over_time(&self) -> PausedBytes {
        paused_over_time(self.snapshot(), self.history.device)
    }

    /// Returns the lifetimes of the mapped ranges. `None` if [`Engine::complete_side`](crate::Engine::complete_side)
    /// was not called.
    pub fn segment_lives(&self) -> Option<&'a SegmentLifetimes> {
        self.file.segments(self.history.device)
    }

    /// Calls `each` with every allocation in a scope and its weight, in order of allocation. The sums of these weights
    /// equal the totals in the views.
    pub fn for_each_in_scope(&self, scope: Scope, each: &mut dyn FnMut(AllocationId, u64)) {
        let population = Population::new(self.history, scope);
        population.visit_part(self.history, 0..population.len(), each);
    }

    /// Returns the stack of an allocation, which is recorded at its alloc event or its block. If neither has a stack,
    /// returns the stack of its free.
    pub fn stack(&self, id: AllocationId) -> StackId {
        stack_of(&self.file.snapshot, self.history, id)
    }

    /// Returns whether `stack`, as returned by [`Side::stack`], is the stack of the allocation's free.
    pub fn is_of_free(&self, id: AllocationId, stack: StackId) -> bool {
        is_free_stack(self.history, id, stack)
    }

    /// Returns the maximum of live bytes between two moments, both included.
    pub fn peak_bytes_in(&self, from: Moment, to: Moment) -> u64 {
        self.peak_in(from, to).1
    }

    /// Returns the first moment with the maximum of live bytes between two moments (both included), and the live bytes
    /// at this moment.
    pub fn peak_in(&self, from: Moment, to: Moment) -> (Moment, u64) {
        let change = |event| self.history.drawn_change(event);
        let peak = Curve::new(&self.history.drawn, &change).max_in(from.0..to.0.saturating_add(1));
        peak.map_or((from, 0), |(moment, bytes)| (moment, u64::try_from(bytes).unwrap_or(0)))
    }

    /// Returns the first moment with the maximum of the live bytes of a stream between two moments (both included), and
    /// the live bytes at this moment.
    pub fn stream_peak_in(&self, stream: u64, from: Moment, to: Moment) -> (Moment, u64) {
        let mut live = 0u64;
        self.for_each_in_scope(Scope::At(from.0), &mut |id, bytes| {
            live = live.saturating_add(if self.stream(id) == Some(stream) { bytes } else { 0 });
        });
        let mut peak = (from, live);
        for event in (from.0..to.0.min(self.history.event_count())).map(EventIdx) {
            let Some((id, is_alloc)) = self.history.lifetime_change(event) else { continue };
            if self.stream(id) == Some(stream) {
                let bytes = self.history.allocations.size(id);
                live = if is_alloc { live.saturating_add(bytes) } else { live.saturating_sub(bytes) };
                if live > peak.1 {
                    peak = (Moment::after(event), live);
                }
            }
        }
        peak
    }

    /// Returns the streams of the allocations of the device, in ascending order.
    pub fn streams(&self) -> BTreeSet<u64> {
        (0..self.history.allocations.len() as u32).filter_map(|id| self.stream(AllocationId(id))).collect()
    }

    /// Returns the group number of an allocation in a grouping.
    pub fn group(&self, by: Grouping, id: AllocationId) -> u32 {
        self.file.groups.group_of(&self.file.snapshot, self.history, id, by)
    }

    /// Returns the number of groups in a grouping, which is the upper bound (exclusive) of group numbers.
    pub fn group_count(&self, by: Grouping) -> u32 {
        self.file.groups.group_count(self.history, by)
    }

    /// Returns the display name of a group.
    pub fn group_label(&self, by: Grouping, group: u32) -> String {
        self.file.groups.label(&self.file.snapshot, self.history, by, group)
    }

    pub fn stream(&self, id: AllocationId) -> Option<u64> {
        self.file.groups.stream(&self.file.snapshot, self.history, id)
    }

    pub fn pool(&self, id: AllocationId) -> Option<(u64, u64)> {
        self.file.groups.pool(&self.file.snapshot, self.history, id)
    }

    /// Returns the user metadata of an allocation, or else of its newest `annotate` event. `None` if both are unset.
    pub fn user_metadata(&self, id: AllocationId) -> Option<Cow<'a, str>> {
        Some(self.snapshot().strings.text(metadata_of(&self.file.snapshot, self.history, id)?))
    }

    /// Returns the user metadata of an event. `None` if it is not recorded or empty.
    pub fn event_metadata(&self, event: u32) -> Option<Cow<'a, str>> {
        let labels = self.file.snapshot.labels.labels(self.history.events.labels(event));
        Some(self.snapshot().strings.text(labels.user_metadata?)).filter(|text| !text.is_empty())
    }

    /// Returns the device's data. The result has no search matches.
    pub(super) fn device_data(&self) -> DeviceData<'a> {
        self.file.device_data(self.history)
    }

    /// Returns the version of the block or segment of an event. [`OpenFile::compute_versions`] must have finished.
    pub(super) fn version_of(&self, event: u32) -> u32 {
        self.file.version_of(self.history, event)
    }

    pub fn pool_label(&self, pool: (u64, u64)) -> String {
        self.file.groups.pool_label(pool)
    }

    /// Returns the rounded bytes of an allocation, and true if the file records them. Otherwise, they are a lower
    /// bound.
    pub fn allocated_bytes(&self, id: AllocationId) -> (u64, bool) {
        let (bytes, known) = self.device_data().rounded_size(id);
        (bytes, known == SizeSource::Recorded)
    }

    /// Returns the stack of an event. If it is not recorded, returns the stack of the event's allocation.
    pub fn event_stack(&self, event: u32) -> StackId {
        let recorded = self.history.events.stack(event);
        if self.file.snapshot.stacks.innermost(recorded).is_some() {
            return recorded;
        }
        self.history.allocation_of(EventIdx(event)).map_or(recorded, |id| self.stack(id))
    }

    /// Returns the stream of an event. If it is not recorded, returns the stream of the event's allocation or, failing
    /// this, of the segment at the event's address at the end of the trace. `None` if unknown.
    pub fn event_stream(&self, event: u32) -> Option<u64> {
        let recorded = self.file.snapshot.labels.labels(self.history.events.labels(event)).stream;
        recorded.or_else(|| match self.history.allocation_of(EventIdx(event)) {
            Some(id) => self.stream(id),
            None => self.event_segment(event)?.stream,
        })
    }

    /// Returns the pool of an event. If it is not recorded, returns the pool of the event's allocation or, failing
    /// this, of the segment at the event's address at the end of the trace. `None` if unknown.
    pub fn event_pool(&self, event: u32) -> Option<(u64, u64)> {
        let recorded = self.file.snapshot.labels.labels(self.history.events.labels(event)).pool;
        recorded.or_else(|| match self.history.allocation_of(EventIdx(event)) {
            Some(id) => self.pool(id),
            None => self.event_segment(event)?.pool,
        })
    }

    fn event_segment(&self, event: u32) -> Option<&'a Segment> {
        let Subject::Segment(_) = self.history.events.subject(event) else { return None };
        let address = self.history.address_and_size(EventIdx(event)).0;
        let index = self.file.groups.segment_at(self.history.device, address)?;
        self.file.snapshot.segments.get(index as usize)
    }

    /// Returns whether an allocation is in a private pool, such as the pool of a CUDA graph.
    pub fn is_in_private_pool(&self, id: AllocationId) -> bool {
        let groups = &self.file.groups;
        groups.is_private(groups.pool_number(groups.pool(&self.file.snapshot, self.history, id)))
    }
}
