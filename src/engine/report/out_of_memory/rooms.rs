//! Reserved and free bytes by kind of request.

use crate::protocol::StateSums;
use crate::state::DeviceState;
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::replay::{SegmentKind, SegmentLives};

/// Free bytes for one kind of request. Upper bounds, because a block may be larger than recorded.
#[derive(Clone, Debug)]
pub(in crate::report) struct Room {
    /// Pool and stream. The default ones if they are not recorded.
    pub(in crate::report) kind: SegmentKind,
    pub(in crate::report) sums: StateSums,
    /// Number of segments without a live block. `whole_bytes` is their size in bytes.
    pub(super) whole: u64,
    pub(super) whole_bytes: u64,
}

/// Sums by kind, in order of first occurrence.
#[derive(Default)]
pub(in crate::report) struct Rooms {
    pub(in crate::report) rooms: Vec<Room>,
    pub(in crate::report) all: StateSums,
    numbers: HashMap<SegmentKind, u32, foldhash::fast::RandomState>,
    next: usize,
}

impl Rooms {
    pub(in crate::report) fn step(&mut self, state: &DeviceState, lives: &SegmentLives, slice: &mut Slice) -> Sliced {
        for segment in state.segments.iter().skip(self.next) {
            slice.tick()?;
            self.next += 1;
            let Some(&kind) = lives.kinds().get(segment.kind as usize) else { continue };
            let kind = served(kind);
            let new = self.rooms.len() as u32;
            let number = *self.numbers.entry(kind).or_insert(new);
            if number == new {
                self.rooms.push(Room { kind, sums: StateSums::default(), whole: 0, whole_bytes: 0 });
            }
            let Some(room) = self.rooms.get_mut(number as usize) else { continue };
            room.sums.add(&segment.sums);
            self.all.add(&segment.sums);
            if segment.sums.blocks == 0 {
                room.whole += 1;
                room.whole_bytes = room.whole_bytes.saturating_add(segment.sums.reserved);
            }
        }
        Ok(())
    }

    /// Returns the sums over the segments that serve the same requests as `kind`, expandable or not.
    pub(in crate::report) fn serving(&self, kind: SegmentKind) -> StateSums {
        let mut sums = StateSums::default();
        for expandable in [false, true] {
            let number = self.numbers.get(&SegmentKind { expandable, ..served(kind) });
            let room = number.and_then(|&number| self.rooms.get(number as usize));
            room.into_iter().for_each(|room| sums.add(&room.sums));
        }
        sums
    }
}

/// Returns the kind with the default pool and stream in place of unknown ones.
fn served(kind: SegmentKind) -> SegmentKind {
    SegmentKind { pool: Some(kind.pool.unwrap_or_default()), stream: Some(kind.stream.unwrap_or_default()), ..kind }
}
