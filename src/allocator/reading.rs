//! Extraction of a [`Recording`] from a device's history.

use super::driver::{Kind, Operation};
use super::ranks::{ascending, halves, number, rank_all};
use super::recorded::no_split;
use super::recording::{Allocation, Early, Held, Oom, Recording, Release, Step, What};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::{Action, Labels, LabelsId, Snapshot, StackId};

/// Sentinel: no place or no event.
const NEVER: u32 = u32::MAX;

/// Progress of reading a recording.
#[derive(Default)]
pub struct Reading {
    recording: Recording,
    by_label: Vec<u32>,
    /// Address ranges that were ever reserved, as `[begin, end)`. Ascending and disjoint.
    reserved_ever: Vec<[u64; 2]>,
    reserved: u64,
    /// Device memory in bytes, as inferred from failed requests. 0 if unknown.
    capacity: u64,
    /// Current run of releases, which the next release may extend.
    run: Option<u32>,
    /// Run of releases not yet followed by a request.
    pending: Option<Pending>,
    next_allocation: usize,
    next_event: usize,
    begun: bool,
    has_early: bool,
    /// Space behind early allocations in non-expandable segments of large blocks: begin, end, index in `early`.
    gaps: Vec<[u64; 3]>,
    /// Address ranges of private pools: begin, end, place. Used for events that do not name their pool.
    private: Vec<(u64, u64, u32)>,
}

/// A run of releases whose cause is not known yet.
#[derive(Clone, Copy)]
struct Pending {
    release: usize,
    /// Bytes reserved before the release.
    reserved: u64,
    /// Bytes taken since the release.
    grown: u64,
}

impl Reading {
    /// Runs until the recording is complete. The segments must be [complete](SegmentLives::step).
    ///
    /// # Errors
    /// The time is up.
    pub fn step(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult<Recording> {
        if !self.begun {
            self.begin(snapshot, history, lives);
            self.begun = true;
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
        self.settle();
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
        for segment in segments() {
            if let Some(address) = segment.address.filter(|_| segment.pool.unwrap_or_default() != (0, 0)) {
                let place = self.place(segment.stream, segment.pool);
                self.private.push((address, address.saturating_add(segment.total_size), place));
            }
        }
        self.private = sorted_by_key(std::mem::take(&mut self.private), |(address, ..)| u128::from(*address));
        self.hold(lives);
        self.reserve(lives);
        let events = 0..history.event_count();
        self.capacity = events.filter(|&event| history.events.action(event) == Action::Oom).fold(0, |most, event| {
            let reserved = u64::try_from(history.reserved_at(base::units::Moment::after(EventIdx(event)))).unwrap_or(0);
            most.max(reserved.saturating_add(history.address_and_size(EventIdx(event)).0))
        });
    }

    /// Collects all address ranges that were ever reserved.
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

    /// Collects the segments before the first event. Adjacent parts of an expandable segment are merged.
    fn hold(&mut self, lives: &SegmentLifetimes) {
        let mut last: Option<AllocationId> = None;
        let early = (0..lives.ranges.len()).map(|id| AllocationId(id as u32));
        for id in early.take_while(|&id| lives.ranges.allocated_at(id).0 == 0) {
            let (address, size) = (lives.ranges.address(id), lives.ranges.size(id));
            let Some(kind) = lives.kind(id).filter(|_| size > 0) else { continue };
            self.reserved = self.reserved.saturating_add(size);
            let goes_on = last.replace(id).is_some_and(|below| lives.is_same_segment(below, id));
            match self.recording.held.last_mut() {
                Some(held) if goes_on => held.size = held.size.saturating_add(size),
                _ => {
                    let place = self.place(kind.stream, kind.pool);
                    let (small, expandable) = (kind.small, kind.expandable);
                    self.recording.held.push(Held { address, size, place, small, expandable });
                }
            }
        }
    }

    /// Returns the index of a known stream and pool in `places`.
    fn place(&self, stream: Option<u64>, pool: Option<(u64, u64)>) -> u32 {
        number(&self.recording, stream, pool)
    }

    fn place_of(&self, snapshot: &Snapshot, labels: LabelsId, address: u64) -> u32 {
        if !self.private.is_empty() && snapshot.labels.labels(labels).pool.is_none() {
            // Before PyTorch 2.11 events do not name their pool, so it is looked up in the segments at the end.
            let at = self.private.partition_point(|range| range.0 <= address);
            let range = at.checked_sub(1).and_then(|at| self.private.get(at));
            if let Some(range) = range.filter(|range| address < range.1) {
                return range.2;
            }
        }
        self.by_label.get(labels.0 as usize).copied().unwrap_or_else(|| self.place(None, None))
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
                let place = self.place_of(snapshot, labels, allocation.address);
                self.recording.allocations.set(id.0 as usize, Allocation { place, ..allocation });
                let below = self.reserved_ever.partition_point(|[begin, _]| *begin <= allocation.address);
                let range = below.checked_sub(1).and_then(|at| self.reserved_ever.get(at));
                self.recording.astray += u64::from(range.is_none_or(|[_, end]| *end <= allocation.address));
                self.recording.requests += 1;
                self.follow(allocation.address, event);
                self.settle();
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
                let place = self.place_of(snapshot, labels, 0);
                self.settle();
                self.recording.ooms.push(Oom { size, device_free, place, reserved: self.reserved });
                What::Oom(self.recording.ooms.len() as u32 - 1)
            }
            _ => return,
        };
        // A run continues until anything other than a completed free happens.
        match what {
            What::Release(release) => self.run = Some(release),
            What::FreeCompleted(_) => {}
            _ => self.run = None,
        }
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
        let before = self.reserved;
        if kind.grows() {
            self.reserved = before.saturating_add(size);
            self.pending.iter_mut().for_each(|pending| pending.grown = pending.grown.saturating_add(size));
            return Some(What::Grow(number));
        }
        self.reserved = before.saturating_sub(size);
        let place = self.place_of(snapshot, history.events.labels(event), address);
        let pool = self.recording.place(place).pool;
        if let Some(release) = self.run.and_then(|last| self.recording.releases.get_mut(last as usize)) {
            release.operations[1] = number + 1;
            self.retire(pool);
            return None;
        }
        self.settle();
        let told = cause(snapshot, history.events.stack(event));
        let retired = self.recording.retired.len() as u32;
        self.recording.releases.push(Release {
            operations: [number, number + 1],
            is_explicit: told != Some(false),
            is_known: told.is_some(),
            grows_after: false,
            retired: [retired; 2],
            is_private: true,
        });
        self.retire(pool);
        let release = self.recording.releases.len() - 1;
        self.pending = Some(Pending { release, reserved: before, grown: 0 });
        Some(What::Release(release as u32))
    }

    /// Notes that memory of this pool was given back. A private pool then has no users.
    fn retire(&mut self, pool: u32) {
        let Recording { releases, retired, .. } = &mut self.recording;
        let Some(release) = releases.last_mut() else { return };
        release.is_private &= pool > 0;
        let known = retired.get(release.retired[0] as usize..).unwrap_or_default();
        if pool > 0 && !known.contains(&pool) {
            retired.push(pool);
            release.retired[1] = retired.len() as u32;
        }
    }

    /// Decides the cause of the pending release when a request follows. Without a stack it was `empty_cache()`, unless
    /// the request would have exceeded the capacity.
    fn settle(&mut self) {
        let Some(Pending { release, reserved, grown }) = self.pending.take() else { return };
        let capacity = self.capacity;
        if let Some(release) = self.recording.releases.get_mut(release) {
            release.grows_after = grown > 0;
            if !release.is_known {
                release.is_explicit = capacity == 0 || reserved.saturating_add(grown) <= capacity;
            }
            // The destruction of a `MemPool` releases its memory regardless of its cause.
            release.is_explicit |= release.is_private && !(release.is_known && release.grows_after);
        }
    }

    /// Collects the allocations before the first event, ordered by address.
    fn early(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let allocations = &history.allocations;
        let early = (0..allocations.early_count() as u32).filter_map(|number| {
            let id = AllocationId(number);
            let (_, freed_at, _) = allocations.span(id);
            let block = history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize));
            // Allocations without an explanation have no address. Allocations that never existed have no lifetime.
            let is_there = allocations.address(id) > 0 && freed_at > 0;
            let block_size = block.filter(|_| freed_at == NEVER).map(|block| block.size);
            let freed_at = freed_at.saturating_sub(u32::from(freed_at != NEVER));
            is_there.then_some(Early { allocation: number, block_size, freed_at, follower: None })
        });
        let address = |early: &Early| allocations.address(AllocationId(early.allocation));
        let early = sorted_by_key(early.collect(), |early| address(early).into());
        let mut addresses = early.iter().map(address).enumerate().peekable();
        for held in &self.recording.held {
            let end = held.address.saturating_add(held.size);
            while addresses.next_if(|(_, address)| *address < held.address).is_some() {}
            while let Some((at, address)) = addresses.next_if(|(_, address)| *address < end) {
                let next = addresses.peek().map_or(end, |(_, next)| end.min(*next));
                if let Some(early) = early.get(at) {
                    let number = early.allocation as usize;
                    let allocation = self.recording.allocations.at(number);
                    self.recording.allocations.set(number, Allocation { place: held.place, ..allocation });
                }
                if !held.small && !held.expandable {
                    self.gaps.push([address.saturating_add(1), next, at as u64]);
                }
            }
        }
        self.recording.early = early;
    }

    /// Notes the address of an allocation. The first one behind an early allocation shows the end of its block.
    fn follow(&mut self, address: u64, event: u32) {
        let at = self.gaps.partition_point(|[begin, ..]| *begin <= address);
        let gap = at.checked_sub(1).and_then(|at| self.gaps.get(at)).filter(|[_, end, _]| address < *end);
        let early = gap.and_then(|[.., at]| self.recording.early.get_mut(*at as usize));
        if let Some(early) = early.filter(|early| early.follower.is_none() && event < early.freed_at) {
            early.follower = Some(address);
        }
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

/// Returns true if a stack shows that the program called `empty_cache()`, and `None` without a stack.
fn cause(snapshot: &Snapshot, stack: StackId) -> Option<bool> {
    let mut told = None;
    for frame in snapshot.stacks.frames(stack) {
        let name = snapshot.strings.bytes(snapshot.frames.frame(frame).name);
        let calls = |what: &[u8]| name.windows(what.len()).any(|part| part == what);
        if calls(b"empty_cache") || calls(b"emptyCache") {
            return Some(true);
        }
        told = Some(false);
    }
    told
}

#[cfg(test)]
#[path = "../../tests/units/allocator/reading.rs"]
mod tests;
