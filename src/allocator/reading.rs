//! A device's history → what its program asked for, in slices.

use super::conf::parse_leniently;
use super::driver::{Kind, Operation};
use super::recording::{Allocation, Early, Held, Oom, Place, Recording, Release, Step, What};
use super::settings::{INTERVALS, Settings};
use base::slice::{Slice, Sliced};
use base::sorted::sorted_by_key;
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, SegmentLives};
use history::snapshot::{Action, Labels, LabelsId, Snapshot, StackId};
use std::collections::BTreeMap;

/// What is not there: an allocation without a place of its own, an event that never comes.
const NEVER: u32 = u32::MAX;

/// A recording in the making.
#[derive(Default)]
pub struct Reading {
    recording: Recording,
    by_label: Vec<u32>,
    place_of: BTreeMap<(u64, (u64, u64)), u32>,
    /// Reserved addresses: begin, and end.
    open: BTreeMap<u64, u64>,
    reserved: u64,
    /// What the driver can give, as far as failed requests tell.
    capacity: u64,
    /// The run of releases that what comes next may belong to.
    run: Option<u32>,
    /// The run of releases that no request followed yet.
    pending: Option<Pending>,
    next_allocation: usize,
    next_event: usize,
    begun: bool,
    has_early: bool,
    /// Behind each early allocation of a segment of fixed size for large blocks, up to the next: begin, end, its place among the early.
    gaps: Vec<[u64; 3]>,
    /// Ranges of private pools, where events do not name their pool.
    private: Vec<(u64, u64, u32)>,
}

/// A run of releases whose cause is not known yet.
#[derive(Clone, Copy)]
struct Pending {
    release: usize,
    /// Reserved before it, and what was taken since.
    reserved: u64,
    grown: u64,
}

impl Reading {
    /// Works until the recording is there. The segments must be [complete](SegmentLives::step).
    ///
    /// # Errors
    /// The time is up.
    pub fn step(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced<Recording> {
        if !self.begun {
            self.begin(snapshot, history, lives);
            self.begun = true;
        }
        let count = history.allocations.len();
        let mut next = self.next_allocation;
        while let Some(part) = slice.part(&mut next, count, 1)? {
            self.next_allocation = part.end;
            part.for_each(|at| self.allocation(history, AllocationId(at as u32)));
        }
        if !self.has_early {
            self.early(snapshot, history);
            self.has_early = true;
        }
        let (mut next, events) = (self.next_event, history.event_count() as usize);
        while let Some(part) = slice.part(&mut next, events, 1)? {
            self.next_event = part.end;
            part.for_each(|event| self.event(snapshot, history, event as u32));
        }
        self.settle();
        self.finish(snapshot, history);
        Ok(std::mem::take(&mut self.recording))
    }

    fn begin(&mut self, snapshot: &Snapshot, history: &DeviceHistory, lives: &SegmentLives) {
        let device = history.device;
        let segments = || snapshot.segments.iter().filter(move |segment| segment.device == device);
        let recording = &mut self.recording;
        recording.events = history.event_count();
        recording.settings = settings(&snapshot.settings);
        // Streams in the order of their handles: so the allocator compares them.
        let of_labels = snapshot.labels.rows().iter().map(|labels| labels.stream.unwrap_or(0));
        let mut streams: Vec<u64> = of_labels.chain(segments().map(|segment| segment.stream.unwrap_or(0))).collect();
        streams.extend(lives.kinds().iter().map(|kind| kind.stream.unwrap_or(0)));
        streams.push(0);
        streams.sort_unstable();
        streams.dedup();
        recording.streams = streams;
        recording.pools = vec![(0, 0)];
        self.by_label = vec![NEVER; snapshot.labels.len()];
        for segment in segments() {
            let pool = segment.pool.unwrap_or_default();
            if let Some(address) = segment.address.filter(|_| pool != (0, 0)) {
                let place = self.place(segment.stream.unwrap_or(0), pool);
                self.private.push((address, address.saturating_add(segment.total_size), place));
            }
        }
        self.private.sort_unstable();
        self.hold(lives);
        let events = 0..history.event_count();
        self.capacity = events.filter(|&event| history.events.action(event) == Action::Oom).fold(0, |most, event| {
            let reserved = u64::try_from(history.reserved_at(base::units::Moment::after(EventIdx(event)))).unwrap_or(0);
            most.max(reserved.saturating_add(history.address_and_size(EventIdx(event)).0))
        });
    }

    /// What was there before the first event; parts of expandable segments that touch are one.
    fn hold(&mut self, lives: &SegmentLives) {
        let mut last: Option<AllocationId> = None;
        let early = (0..lives.ranges.len()).map(|id| AllocationId(id as u32));
        for id in early.take_while(|&id| lives.ranges.born(id).0 == 0) {
            let (address, size) = (lives.ranges.address(id), lives.ranges.size(id));
            let Some(kind) = lives.kind(id).filter(|_| size > 0) else { continue };
            self.open.insert(address, address.saturating_add(size));
            self.reserved = self.reserved.saturating_add(size);
            let goes_on = last.replace(id).is_some_and(|below| lives.goes_on(below, id));
            match self.recording.held.last_mut() {
                Some(held) if goes_on => held.size += size,
                _ => {
                    let place = self.place(kind.stream.unwrap_or(0), kind.pool.unwrap_or_default());
                    let (small, expandable) = (kind.small, kind.expandable);
                    self.recording.held.push(Held { address, size, place, small, expandable });
                }
            }
        }
    }

    fn place(&mut self, stream: u64, pool: (u64, u64)) -> u32 {
        if let Some(place) = self.place_of.get(&(stream, pool)) {
            return *place;
        }
        let Recording { streams, pools, places, .. } = &mut self.recording;
        let rank = streams.partition_point(|&other| other < stream) as u32;
        let known = pools.iter().position(|&other| other == pool);
        let number = known.unwrap_or_else(|| {
            pools.push(pool);
            pools.len() - 1
        });
        places.push(Place { stream: rank, pool: number as u32 });
        let place = places.len() as u32 - 1;
        self.place_of.insert((stream, pool), place);
        place
    }

    fn place_of(&mut self, snapshot: &Snapshot, labels: LabelsId, address: u64) -> u32 {
        let read = || snapshot.labels.labels(labels);
        if !self.private.is_empty() && read().pool.is_none() {
            // Before 2.11 events name no pool: the segment at the end does.
            let at = self.private.partition_point(|range| range.0 <= address);
            let range = at.checked_sub(1).and_then(|at| self.private.get(at));
            if let Some(range) = range.filter(|range| address < range.1) {
                return range.2;
            }
        }
        match self.by_label.get(labels.0 as usize) {
            Some(&known) if known != NEVER => known,
            _ => {
                let Labels { stream, pool, .. } = read();
                let place = self.place(stream.unwrap_or(0), pool.unwrap_or_default());
                self.by_label.get_mut(labels.0 as usize).into_iter().for_each(|known| *known = place);
                place
            }
        }
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
                let below = self.open.range(..=allocation.address).next_back();
                self.recording.astray += u64::from(below.is_none_or(|(_, &end)| end <= allocation.address));
                self.recording.requests += 1;
                self.follow(allocation.address, event);
                self.settle();
                What::Alloc(id.0)
            }
            Action::FreeRequested | Action::FreeCompleted => {
                let Some(id) = history.allocation_of(at) else { return };
                let completes = matches!(history.change(at), Some((_, false)));
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
        // One run goes on until something else happens than frees that complete.
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
            self.pending.iter_mut().for_each(|pending| pending.grown += size);
            self.open.insert(address, address.saturating_add(size));
            return Some(What::Grow(number));
        }
        self.reserved = before.saturating_sub(size);
        self.close(address, address.saturating_add(size));
        if let Some(release) = self.run.and_then(|last| self.recording.releases.get_mut(last as usize)) {
            release.operations[1] = number + 1;
            return None;
        }
        self.settle();
        let told = cause(snapshot, history.events.stack(event));
        self.recording.releases.push(Release {
            operations: [number, number + 1],
            is_explicit: told != Some(false),
            is_known: told.is_some(),
            grows_after: false,
        });
        let release = self.recording.releases.len() - 1;
        self.pending = Some(Pending { release, reserved: before, grown: 0 });
        Some(What::Release(release as u32))
    }

    /// These addresses are no longer reserved.
    fn close(&mut self, begin: u64, end: u64) {
        if let Some((_, last)) = self.open.range_mut(..begin).next_back()
            && *last > begin
        {
            let beyond = std::mem::replace(last, begin);
            if beyond > end {
                self.open.insert(end, beyond);
            }
        }
        while let Some((&address, &last)) = self.open.range(begin..end).next() {
            self.open.remove(&address);
            if last > end {
                self.open.insert(end, last);
            }
        }
    }

    /// A request comes: what was given back before it has its cause now. Without a stack it was `empty_cache()`, unless the request
    /// would have passed all the memory there is.
    fn settle(&mut self) {
        let Some(Pending { release, reserved, grown }) = self.pending.take() else { return };
        let capacity = self.capacity;
        if let Some(release) = self.recording.releases.get_mut(release) {
            release.grows_after = grown > 0;
            if !release.is_known {
                release.is_explicit = capacity == 0 || reserved.saturating_add(grown) <= capacity;
            }
        }
    }

    /// What was live before the first event, in the order of addresses.
    fn early(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let allocations = &history.allocations;
        let early = (0..allocations.early() as u32).filter_map(|number| {
            let id = AllocationId(number);
            let (_, died, _) = allocations.span(id);
            let block = history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize));
            // What nothing explains has no address; what was never there has no life.
            let is_there = allocations.address(id) > 0 && died > 0;
            let block_size = block.filter(|_| died == NEVER).map(|block| block.size);
            let freed_at = died.saturating_sub(u32::from(died != NEVER));
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
                if !held.small && !held.expandable {
                    self.gaps.push([address + 1, next, at as u64]);
                }
            }
        }
        self.recording.early = early;
    }

    /// Something is placed: the first behind an early allocation shows where its block ends.
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
        recording.rounded.sort_unstable();
        recording.rounded.dedup();
        recording.has_segments |= !recording.operations.is_empty() || !recording.held.is_empty();
    }
}

/// Whether a stack says that the program called `empty_cache()`; `None` without a stack.
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

/// `allocator_settings`: what it lists, and what stands only in the line that was given.
fn settings(listed: &[(String, String)]) -> Option<Settings> {
    if listed.is_empty() {
        return None;
    }
    let value = |key: &str| listed.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let line = value("PYTORCH_CUDA_ALLOC_CONF").or_else(|| value("PYTORCH_ALLOC_CONF")).unwrap_or_default();
    let of_line = parse_leniently(line);
    let mut divisions = [0; INTERVALS];
    for (at, entry) in divisions.iter_mut().enumerate() {
        let key = format!("roundup_power2_divisions.{}", 1u32 << at);
        *entry = value(&key).and_then(|value| value.parse().ok()).unwrap_or(0);
    }
    Some(Settings {
        expandable: value("expandable_segments").is_some_and(|value| value.eq_ignore_ascii_case("true")),
        max_split: value("max_split_size")
            .and_then(|value| value.parse().ok())
            .filter(|&bytes: &u64| bytes > 0 && bytes < 1 << 62),
        divisions,
        collect_above: value("garbage_collection_threshold").and_then(|value| value.parse().ok()).unwrap_or(0.0),
        ..of_line
    })
}

#[cfg(test)]
#[path = "../../tests/units/allocator/reading.rs"]
mod tests;
