//! Reserved and free bytes by kind of request.

use crate::protocol::SegmentsSums;
use crate::state::DeviceState;
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::{SegmentKind, SegmentLifetimes};

/// Free bytes for one kind of request. Upper bounds, because a block may be larger than recorded.
#[derive(Clone, Debug)]
pub(in crate::report) struct KindSums {
    /// Pool and stream. The default ones if they are not recorded.
    pub(in crate::report) kind: SegmentKind,
    pub(in crate::report) sums: SegmentsSums,
    /// Number of segments without a live block. `whole_bytes` is their size in bytes.
    pub(super) empty_segments: u64,
    pub(super) empty_segment_bytes: u64,
}

/// Sums by kind, in order of first occurrence.
#[derive(Default)]
pub(in crate::report) struct SumsByKind {
    pub(in crate::report) kinds: Vec<KindSums>,
    pub(in crate::report) total: SegmentsSums,
    index: HashMap<SegmentKind, u32, foldhash::fast::RandomState>,
    next: usize,
}

impl SumsByKind {
    pub(in crate::report) fn step(
        &mut self,
        state: &DeviceState,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        for segment in state.segments.iter().skip(self.next) {
            slice.tick()?;
            self.next += 1;
            let Some(&kind) = lives.kinds().get(segment.kind as usize) else { continue };
            let kind = with_default_pool(kind);
            let new = self.kinds.len() as u32;
            let number = *self.index.entry(kind).or_insert(new);
            if number == new {
                self.kinds.push(KindSums {
                    kind,
                    sums: SegmentsSums::default(),
                    empty_segments: 0,
                    empty_segment_bytes: 0,
                });
            }
            let Some(room) = self.kinds.get_mut(number as usize) else { continue };
            room.sums.add(&segment.sums);
            self.total.add(&segment.sums);
            if segment.sums.blocks == 0 {
                room.empty_segments += 1;
                room.empty_segment_bytes = room.empty_segment_bytes.saturating_add(segment.sums.reserved);
            }
        }
        Ok(())
    }

    /// Returns the sums over the segments that serve the same requests as `kind`, expandable or not.
    pub(in crate::report) fn serving(&self, kind: SegmentKind) -> SegmentsSums {
        let mut sums = SegmentsSums::default();
        for expandable in [false, true] {
            let number = self.index.get(&SegmentKind { expandable, ..with_default_pool(kind) });
            let room = number.and_then(|&number| self.kinds.get(number as usize));
            room.into_iter().for_each(|room| sums.add(&room.sums));
        }
        sums
    }
}

/// Returns the kind with the default pool and stream in place of unknown ones.
fn with_default_pool(kind: SegmentKind) -> SegmentKind {
    SegmentKind { pool: Some(kind.pool.unwrap_or_default()), stream: Some(kind.stream.unwrap_or_default()), ..kind }
}
