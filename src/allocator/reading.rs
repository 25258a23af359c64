//! Extraction of a [`Recording`] from a device's history.

use super::operation::{Kind, Operation};
use super::private::Private;
use super::ranks::{ascending, halves, number, rank_all};
use super::recorded::no_split;
use super::recording::{Allocation, Caller, Oom, Recording, Release, Step, What};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::two_part_key;
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, SegmentKind, SegmentLifetimes};
use history::snapshot::{Action, Labels, LabelsId, Snapshot, StackId};

/// Sentinel: unknown place, or an event that never happens.
pub(super) const NEVER: u32 = u32::MAX;

/// Progress of extracting a recording.
#[derive(Default)]
pub struct Reading {
    pub(super) recording: Recording,
    by_label: Vec<u32>,
    /// Address ranges that are reserved at any time, as `[begin, end)`, ascending and disjoint.
    reserved_ever: Vec<[u64; 2]>,
    pub(super) reserved: u64,
    /// Index of the latest release, which is extended if more memory of the same pool is released next.
    run: Option<u32>,
    next_allocation: usize,
    next_event: usize,
    started: bool,
    has_early: bool,
    /// Gaps behind allocations made before recording, in non-expandable segments of large blocks: begin, end, and index
    /// in `early`.
    pub(super) gaps: Vec<[u64; 3]>,
    /// Segments of private pools by address, for events that do not name their pool.
    private: Private,
}

impl Reading {
    /// Continues extracting the recording until it is complete or the time slice is used up. The segments must be
    /// [complete](SegmentLifetimes::step).
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult<Recording> {
        if !self.started {
            self.begin(snapshot, history, lives);
            self.started = true;
        }
        let count = history.allocations.len();
        let mut next = self.next_allocation;
        while let Some(part) = slice.next_range(&mut next, count, 1)? {
            self.next_allocation = part.end;
            part.for_each(|at| self.allocation(history, AllocationId(at as u32)));
        }
        if !self.has_early {
            self.early(snapshot, history);
            self.has_early = true;
        }
        let (mut next, events) = (self.next_event, history.event_count() as usize);
        while let Some(part) = slice.next_range(&mut next, events, 1)? {
            self.next_event = part.end;
            part.for_each(|event| self.event(snapshot, history, event as u32));
        }
        self.finish(snapshot, history);
        Ok(std::mem::take(&mut self.recording))
    }

    fn begin(&mut self, snapshot: &Snapshot, history: &DeviceHistory, lives: &SegmentLifetimes) {
        let device = history.device;
        let segments = || snapshot.segments.iter().filter(move |segment| segment.device == device);
        self.recording.events = history.event_count();
        self.recording.listed.clone_from(&snapshot.settings);
        let mut named = vec![(None, None)];
        named.extend(snapshot.labels.rows().iter().map(|labels| (labels.stream, labels.pool)));
        named.extend(segments().map(|segment| (segment.stream, segment.pool)));
        named.extend(lives.kinds().iter().map(|kind| (kind.stream, kind.pool)));
        rank_all(&mut self.recording, &named);
        let rows = snapshot.labels.rows().iter();
        self.by_label = rows.map(|Labels { stream, pool, .. }| self.place(*stream, *pool)).collect();
        self.recording.names_pools = snapshot.labels.rows().iter().any(|labels| labels.pool.is_some());
        if !self.recording.names_pools {
            let place = |kind: &SegmentKind| self.place(kind.stream, kind.pool);
            self.private = Private::new(lives, place);
            self.recording.guesses_pools = !self.private.is_empty();
        }
        self.hold(lives);
        self.reserve(lives);
    }

    /// Collects all address ranges that are reserved at any time.
    fn reserve(&mut self, lives: &SegmentLifetimes) {
        let range = |id: AllocationId| {
            let (address, size) = (lives.ranges.address(id), lives.ranges.size(id));
            two_part_key(address, address.saturating_add(size))
        };
        let ranges = (0..lives.ranges.len()).map(|id| (range(AllocationId(id as u32)), 0));
        for key in ascending(ranges.collect()) {
            let [begin, end] = [key >> 64, key].map(|half| half as u64);
            match self.reserved_ever.last_mut() {
                Some(last) if begin <= last[1] => last[1] = last[1].max(end),
                _ => self.reserved_ever.push([begin, end]),
            }
        }
    }

    /// Returns the index of a recorded stream and pool in [`Recording::places`].
    pub(super) fn place(&self, stream: Option<u64>, pool: Option<(u64, u64)>) -> u32 {
        number(&self.recording, stream, pool)
    }

    fn place_of(&mut self, labels: LabelsId, address: u64, event: u32) -> u32 {
        // Up to PyTorch 2.11 events do not name their pool: it is that of the segment, if the segment still exists at
        // the end.
        let private = self.private.place(address, event);
        private.or_else(|| self.by_label.get(labels.0 as usize).copied()).unwrap_or_else(|| self.place(None, None))
    }

    fn allocation(&mut self, history: &DeviceHistory, id: AllocationId) {
        let allocations = &history.allocations;
        let (size, address) = (allocations.size(id), allocations.address(id));
        self.recording.allocations.push(Allocation { size, address, place: 0 });
    }

    fn event(&mut self, snapshot: &Snapshot, history: &DeviceHistory, event: u32) {
        let at = EventIdx(event);
        let action = history.events.action(event);
        let labels = history.events.labels(event);
        let what = match action {
            Action::Alloc => {
                let Some(id) = history.allocation_of(at) else { return };
                let allocation = self.recording.allocations.at(id.0 as usize);
                let place = self.place_of(labels, allocation.address, event);
                self.recording.allocations.set(id.0 as usize, Allocation { place, ..allocation });
                let below = self.reserved_ever.partition_point(|[begin, _]| *begin <= allocation.address);
                let range = below.checked_sub(1).and_then(|at| self.reserved_ever.get(at));
                self.recording.astray += u64::from(range.is_none_or(|[_, end]| *end <= allocation.address));
                self.recording.requests += 1;
                self.follow(allocation.address, event);
                What::Alloc(id.0)
            }
            Action::FreeRequested | Action::FreeCompleted => {
                let Some(id) = history.allocation_of(at) else { return };
                let completes = matches!(history.lifetime_change(at), Some((_, false)));
                if completes { What::FreeCompleted(id.0) } else { What::FreeRequested(id.0) }
            }
            Action::SegmentAlloc | Action::SegmentMap | Action::SegmentFree | Action::SegmentUnmap => {
                match self.operation(snapshot, history, event, action) {
                    Some(what) => what,
                    None => return,
                }
            }
            Action::Oom => {
                let (device_free, size) = history.address_and_size(at);
                let place = self.place_of(labels, 0, event);
                self.recording.ooms.push(Oom { size, device_free, place, reserved: self.reserved });
                What::Oom(self.recording.ooms.len() as u32 - 1)
            }
            _ => return,
        };
        self.run = if let What::Release(release) = what { Some(release) } else { None };
        self.recording.steps.push(Step { event, what });
    }

    fn operation(&mut self, snapshot: &Snapshot, history: &DeviceHistory, event: u32, action: Action) -> Option<What> {
        let (address, size) = history.address_and_size(EventIdx(event));
        let kind = match action {
            Action::SegmentAlloc => Kind::Alloc,
            Action::SegmentMap => Kind::Map,
            Action::SegmentFree => Kind::Free,
            _ => Kind::Unmap,
        };
        self.recording.has_expandable |= matches!(kind, Kind::Map | Kind::Unmap);
        let number = self.recording.operations.len() as u32;
        self.recording.operations.push(Operation { kind, address, size });
        let place = self.place_of(history.events.labels(event), address, event);
        self.recording.operation_places.push(place);
        if kind.grows() {
            self.reserved = self.reserved.saturating_add(size);
            return Some(What::Grow(number));
        }
        self.reserved = self.reserved.saturating_sub(size);
        let pool = self.recording.place(place).pool;
        let releases = &mut self.recording.releases;
        let last = self.run.and_then(|last| releases.get_mut(last as usize)).filter(|last| last.pool == pool);
        if let Some(release) = last {
            release.operations[1] = number + 1;
            return None;
        }
        let caller = caller(snapshot, history.events.stack(event), pool);
        releases.push(Release { operations: [number, number + 1], pool, caller });
        Some(What::Release(releases.len() as u32 - 1))
    }

    fn finish(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let recording = &mut self.recording;
        let device = history.device;
        recording.no_split = no_split(snapshot, device, &recording.pools);
        for segment in snapshot.segments.iter().filter(|segment| segment.device == device) {
            recording.has_expandable |= segment.expandable;
            recording.has_segments = true;
            if !segment.small && !segment.expandable {
                continue;
            }
            let range = segment.blocks.start as usize..segment.blocks.end as usize;
            let live = snapshot.blocks.get(range).unwrap_or_default().iter().filter(|block| block.state.is_live());
            recording.rounded.extend(live.map(|block| (block.requested, block.size)).filter(|(asked, _)| *asked > 0));
        }
        let rounded = recording.rounded.iter().map(|(asked, size)| (two_part_key(*asked, *size), 0));
        recording.rounded = halves(&ascending(rounded.collect()));
        recording.has_segments |= !recording.operations.is_empty() || !recording.held.is_empty();
    }
}

/// Returns the caller that released memory, inferred from its stack and pool.
fn caller(snapshot: &Snapshot, stack: StackId, pool: u32) -> Caller {
    let mut caller = Caller::Unknown;
    for frame in snapshot.stacks.frames(stack) {
        let name = snapshot.strings.bytes(snapshot.frames.frame(frame).name);
        let calls = |what: &[u8]| name.windows(what.len()).any(|part| part == what);
        if calls(b"empty_cache") || calls(b"emptyCache") {
            return Caller::EmptyCache;
        }
        // The end of a `MemPool` shows nothing in its stack.
        if pool == 0 {
            caller = Caller::Request;
        }
    }
    caller
}

#[cfg(test)]
#[path = "../../tests/units/allocator/reading.rs"]
mod tests;
