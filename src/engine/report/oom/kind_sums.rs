//! Reserved and free bytes by kind of segment. The kind determines which requests a segment can serve.

use crate::state::DeviceState;
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::{SegmentKind, SegmentLifetimes};
use protocol::SegmentsSums;

/// Totals of the segments of one kind. Free bytes are upper bounds, because blocks may be larger than recorded.
#[derive(Clone, Debug)]
pub(in crate::report) struct KindSums {
    /// Kind of the segments. If the pool or stream is unknown, the default one is used.
    pub(in crate::report) kind: SegmentKind,
    pub(in crate::report) sums: SegmentsSums,
    /// Number of segments without live blocks. `empty_segment_bytes` is the sum of their sizes.
    pub(super) empty_segments: u64,
    pub(super) empty_segment_bytes: u64,
}

/// Totals by kind of segment, in order of first occurrence.
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
            let Some(totals) = self.kinds.get_mut(number as usize) else { continue };
            totals.sums.add(&segment.sums);
            self.total.add(&segment.sums);
            if segment.sums.blocks == 0 {
                totals.empty_segments += 1;
                totals.empty_segment_bytes = totals.empty_segment_bytes.saturating_add(segment.sums.reserved);
            }
        }
        Ok(())
    }

    /// Returns the sums over all segments that can serve the same requests as `kind`, whether expandable or not.
    pub(in crate::report) fn serving(&self, kind: SegmentKind) -> SegmentsSums {
        let mut sums = SegmentsSums::default();
        for expandable in [false, true] {
            let number = self.index.get(&SegmentKind { expandable, ..with_default_pool(kind) });
            let totals = number.and_then(|&number| self.kinds.get(number as usize));
            totals.into_iter().for_each(|totals| sums.add(&totals.sums));
        }
        sums
    }
}

/// Replaces an unknown pool or stream of a kind with the default one.
fn with_default_pool(kind: SegmentKind) -> SegmentKind {
    SegmentKind { pool: Some(kind.pool.unwrap_or_default()), stream: Some(kind.stream.unwrap_or_default()), ..kind }
}
