//! Where the free blocks are at a moment: what was mapped then, without what was live in it.
//!
//! The file has the segments of its end. What events after the moment took from the driver was not there then; what they gave back was:
//!
//! ```text
//! at the end      [==========]        [====]
//! mapped after         −−−−−
//! freed after                   [++]
//! at the moment   [===]         [==]  [====]
//! ```
//! Each range adds 1 where it begins and takes it away where it ends, or the other way round: what is above 0 was mapped. In slices.

use crate::engine::open::OpenFile;
use crate::engine::radix::Radix;
use crate::engine::report::waste::rounded;
use crate::replay::{AllocationId, DeviceHistory, Subject};
use crate::snapshot::Action;
use crate::units::EventIdx;
use hashbrown::HashMap;

/// Events, segments or blocks between two questions for the time.
const ROWS_PER_CHECK: usize = 2048;
/// Segments of fixed size for small blocks have this many bytes, those for large ones more (`kSmallBuffer`).
const SMALL_SEGMENT: u64 = 2 << 20;
/// Expandable segments for large blocks grow by this many bytes (`kLargeBuffer`).
const LARGE_PAGE: u64 = 20 << 20;

/// Whose requests a segment serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) pool: (u64, u64),
    pub(super) small: bool,
    pub(super) stream: u64,
    pub(super) expandable: bool,
}

/// What is free for one kind of requests.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) kind: Kind,
    pub(super) reserved: u64,
    /// Free bytes, free blocks and the largest: upper bounds, because a block may be larger than is known.
    pub(super) free: u64,
    pub(super) blocks: u64,
    pub(super) largest: u64,
    /// Segments without a live block, and their bytes.
    pub(super) whole: u64,
    pub(super) whole_bytes: u64,
}

/// A place where a range begins or ends.
struct Border {
    address: u64,
    change: i64,
    /// The room of what begins here, unless something goes on.
    room: Option<u32>,
    /// Whether no free block goes across, though the same kind goes on.
    cuts: bool,
}

/// A live block.
struct Block {
    address: u64,
    rounded: u64,
}

/// How far it is.
#[derive(Default)]
pub(super) struct Space {
    next_segment: usize,
    next_event: u32,
    borders: Vec<Border>,
    kinds: HashMap<Kind, u32, foldhash::fast::RandomState>,
    pub(super) rooms: Vec<Room>,
    blocks: Vec<Block>,
    by_address: Option<[Radix; 2]>,
    sweep: Option<Sweep>,
    /// Bytes of live blocks that lie in nothing that was mapped: then not all is known.
    pub(super) astray: u64,
    /// Rounded bytes of all live blocks: a lower bound.
    pub(super) rounded: u64,
}

/// The run through all addresses, from the lowest.
#[derive(Default)]
struct Sweep {
    order: [Vec<u32>; 2],
    next: [usize; 2],
    depth: i64,
    room: u32,
    /// The range that is open: where it began, where the last block in it ends.
    open: Option<[u64; 2]>,
    /// Whether a block was in it.
    is_used: bool,
}

impl Space {
    /// A live block, of any order.
    pub(super) fn live(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId) {
        let (rounded, _) = rounded(file, history, id);
        self.rounded = self.rounded.saturating_add(rounded);
        self.blocks.push(Block { address: history.allocations.address(id), rounded });
    }

    /// Works while there is time, `true` when `rooms` are told: as it was after `event`, whose live blocks were all told.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        event: u32,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        self.next_event = self.next_event.max(event.saturating_add(1));
        while self.next_segment < file.snapshot.segments.len() {
            for segment in file.snapshot.segments.iter().skip(self.next_segment).take(ROWS_PER_CHECK) {
                self.next_segment += 1;
                if let Some(address) = segment.address
                    && segment.device == history.device
                {
                    let kind = Kind {
                        pool: segment.pool.unwrap_or_default(),
                        small: segment.small,
                        stream: segment.stream.unwrap_or_default(),
                        expandable: segment.expandable,
                    };
                    self.begins(kind, address, segment.total_size);
                }
            }
            if !has_time() {
                return false;
            }
        }
        while self.next_event < history.event_count() {
            let end = history.event_count().min(self.next_event + ROWS_PER_CHECK as u32);
            (self.next_event..end).for_each(|event| self.undo(file, history, event));
            self.next_event = end;
            if !has_time() {
                return false;
            }
        }
        let Space { borders, blocks, by_address, .. } = self;
        let by_address = by_address.get_or_insert_with(|| {
            let mut sorts = [Radix::with_room(borders.len()), Radix::with_room(blocks.len())];
            (0..).zip(&*borders).for_each(|(place, border)| sorts[0].push(border.address, place));
            (0..).zip(&*blocks).for_each(|(place, block)| sorts[1].push(block.address, place));
            sorts
        });
        if self.sweep.is_none() {
            if !by_address.iter_mut().all(|sort| sort.step(has_time)) {
                return false;
            }
            let order = std::mem::take(by_address).map(Radix::into_ids);
            self.sweep = Some(Sweep { order, ..Sweep::default() });
        }
        let Some(mut sweep) = self.sweep.take() else { return true };
        let is_done = self.sweep(&mut sweep, has_time);
        self.sweep = Some(sweep);
        is_done
    }

    /// What an event did, undone.
    fn undo(&mut self, file: &OpenFile, history: &DeviceHistory, event: u32) {
        let Subject::Segment(_) = history.events.subject(event) else { return };
        let action = history.events.action(event);
        let (address, size) = history.address_and_size(EventIdx(event));
        let end = address.saturating_add(size);
        let cuts = matches!(action, Action::SegmentAlloc | Action::SegmentFree);
        if matches!(action, Action::SegmentAlloc | Action::SegmentMap) {
            self.borders.push(Border { address, change: -1, room: None, cuts });
            self.borders.push(Border { address: end, change: 1, room: None, cuts });
            return;
        }
        let labels = file.snapshot.labels.labels(history.events.labels(event));
        let kind = Kind {
            pool: labels.pool.unwrap_or_default(),
            small: if cuts { size <= SMALL_SEGMENT } else { !size.is_multiple_of(LARGE_PAGE) },
            stream: labels.stream.unwrap_or_default(),
            expandable: !cuts,
        };
        self.begins(kind, address, size);
    }

    fn begins(&mut self, kind: Kind, address: u64, size: u64) {
        let new = self.rooms.len() as u32;
        let room = *self.kinds.entry(kind).or_insert(new);
        if room == new {
            let (reserved, free, blocks, largest, whole, whole_bytes) = Default::default();
            self.rooms.push(Room { kind, reserved, free, blocks, largest, whole, whole_bytes });
        }
        let cuts = !kind.expandable;
        self.borders.push(Border { address, change: 1, room: Some(room), cuts });
        self.borders.push(Border { address: address.saturating_add(size), change: -1, room: None, cuts });
    }

    fn sweep(&mut self, sweep: &mut Sweep, has_time: &mut dyn FnMut() -> bool) -> bool {
        loop {
            for _ in 0..ROWS_PER_CHECK {
                let [border, block] = [0, 1].map(|which| Some(*sweep.order[which].get(sweep.next[which])? as usize));
                let border = border.and_then(|place| self.borders.get(place));
                let block = block.and_then(|place| self.blocks.get(place));
                match (border, block) {
                    (None, None) => return true,
                    // What begins at an address holds the block there.
                    (Some(border), block) if block.is_none_or(|block| border.address <= block.address) => {
                        let address = border.address;
                        self.cross(sweep, address);
                    }
                    (_, Some(block)) => {
                        sweep.next[1] += 1;
                        let Some([_, until]) = &mut sweep.open else {
                            self.astray = self.astray.saturating_add(block.rounded);
                            continue;
                        };
                        let gap = block.address.saturating_sub(*until);
                        *until = block.address.saturating_add(block.rounded).max(*until);
                        sweep.is_used = true;
                        self.gap(sweep.room, gap);
                    }
                    _ => return true,
                }
            }
            if !has_time() {
                return false;
            }
        }
    }

    /// All borders at one address, together: what ends here and begins again goes on.
    fn cross(&mut self, sweep: &mut Sweep, address: u64) {
        let (mut cuts, mut begins) = (false, None);
        while let Some(border) = sweep.order[0].get(sweep.next[0]).and_then(|&place| self.borders.get(place as usize)) {
            if border.address != address {
                break;
            }
            sweep.next[0] += 1;
            sweep.depth = sweep.depth.saturating_add(border.change);
            cuts |= border.cuts;
            begins = border.room.or(begins);
        }
        let room = begins.unwrap_or(sweep.room);
        let goes_on = sweep.depth > 0 && !cuts && room == sweep.room;
        if let Some([from, until]) = sweep.open.filter(|_| !goes_on) {
            // A block may be thought to reach beyond its segment in a broken file.
            self.gap(sweep.room, address.saturating_sub(until));
            if let Some(room) = self.rooms.get_mut(sweep.room as usize) {
                room.reserved = room.reserved.saturating_add(address - from);
                if !sweep.is_used {
                    room.whole += 1;
                    room.whole_bytes = room.whole_bytes.saturating_add(address - from);
                }
            }
            sweep.open = None;
        }
        sweep.room = room;
        if sweep.depth > 0 && sweep.open.is_none() {
            (sweep.open, sweep.is_used) = (Some([address, address]), false);
        }
    }

    fn gap(&mut self, room: u32, bytes: u64) {
        let Some(room) = self.rooms.get_mut(room as usize).filter(|_| bytes > 0) else { return };
        room.free = room.free.saturating_add(bytes);
        room.blocks += 1;
        room.largest = room.largest.max(bytes);
    }
}
