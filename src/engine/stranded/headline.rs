//! Free memory at one driver request: holes by kind, and the blocks that pin them.
//!
//! ```text
//! plain        [A][-- hole --][B][-- hole --]     half of the first hole is pinned by A, half by B; the second by B
//!              [-------- free --------]           a free segment: pinned by nothing
//! expandable   [A][--|------------|--][B]         free pages (between the bars) are pinned by nothing
//! ```

use super::kinds::{Kinds, Reason};
use super::memory::Extent;
use crate::side::Side;
use crate::state::page_size;
use base::sorted::{sorted_numbers, two_part_key};
use history::replay::AllocationId;
use protocol::Grouping;

/// Free memory that serves the same requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KindHoles {
    /// Index into [`history::replay::SegmentLifetimes::kinds`], of the first kind if there are several.
    pub(crate) kind: u32,
    /// Reason why the driver request could not use it.
    pub(crate) reason: Reason,
    pub(crate) bytes: u64,
    pub(crate) holes: u64,
    pub(crate) largest_hole: u64,
    /// Bytes in free segments and free pages, which no block pins. Part of `bytes`.
    pub(crate) unpinned: u64,
}

/// Free memory pinned by the blocks of a call site.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pins {
    pub(crate) bytes: u64,
    /// Number of blocks that pin memory.
    pub(crate) blocks: u64,
    /// Allocation of the block that pins the most, and the bytes that it pins.
    pub(crate) largest: u32,
    pub(crate) largest_bytes: u64,
}

/// Scan of the extents at one driver request, in address order.
pub(crate) struct Headline {
    /// Index of the driver request.
    pub(crate) request: u32,
    /// Kind of the memory that it asks for.
    wanted: u32,
    /// Free memory by pool, size class and stream.
    pub(crate) kinds: Vec<KindHoles>,
    /// Pinned memory by call site group.
    pub(crate) pins: Vec<Pins>,
    /// Address of the next extent.
    pub(super) next: u64,
    /// Start of the current segment, and the end of its extents so far.
    segment: u64,
    end: u64,
    kind: u32,
    hole: Option<u64>,
    /// Live block below the current address in this segment, and the bytes that it pins so far.
    block: Option<(u32, u64)>,
}

impl Headline {
    pub(super) fn new(side: Side<'_>, request: u32, wanted: u32) -> Headline {
        let sites = side.group_count(Grouping::CallSite) as usize;
        let (next, segment, end, kind, hole, block) = Default::default();
        let (kinds, pins) = (Vec::new(), vec![Pins::default(); sites]);
        Headline { request, wanted, kinds, pins, next, segment, end, kind, hole, block }
    }

    /// Adds the next extent. `continues` is true if it belongs to the segment of the one before.
    pub(super) fn add(&mut self, (side, kinds): (Side<'_>, &Kinds), (begin, extent): (u64, &Extent), continues: bool) {
        if !continues {
            self.end_segment(side, kinds);
            (self.segment, self.kind) = (begin, extent.kind);
        }
        if extent.is_live() {
            let right = self.end_hole(kinds, begin, true);
            self.end_block(side);
            self.block = Some((extent.allocation, right));
        } else {
            self.hole.get_or_insert(begin);
            let (holes, bytes) = (self.holes_of(kinds, extent.kind), extent.end - begin);
            holes.into_iter().for_each(|holes| holes.bytes = holes.bytes.saturating_add(bytes));
        }
        (self.end, self.next) = (extent.end, extent.end);
    }

    fn holes_of(&mut self, kinds: &Kinds, kind: u32) -> Option<&mut KindHoles> {
        self.kinds.resize(kinds.group_count(), KindHoles::default());
        let holes = self.kinds.get_mut(kinds.stream_group(kind))?;
        if holes.bytes == 0 {
            (holes.kind, holes.reason) = (kind, kinds.reason(self.wanted, kind));
        }
        Some(holes)
    }

    /// Returns the end of the extents so far, and the kind of the last segment.
    pub(super) fn last(&self) -> (u64, u32) {
        (self.end, self.kind)
    }

    pub(super) fn end_segment(&mut self, side: Side<'_>, kinds: &Kinds) {
        self.end_hole(kinds, self.end, false);
        self.end_block(side);
    }

    /// Ends the current hole at `end`. Returns the bytes pinned by the block above, if there is one.
    fn end_hole(&mut self, kinds: &Kinds, end: u64, is_block_above: bool) -> u64 {
        let Some(start) = self.hole.take() else { return 0 };
        let (bytes, is_block_below) = (end - start, self.block.is_some());
        let kind = kinds.kind(self.kind);
        let mut ends = [bytes; 2];
        if kind.is_some_and(|kind| kind.expandable) {
            let page = page_size(kind.is_some_and(|kind| kind.small));
            let [first, last] = [start, end].map(|at| (at - self.segment) % page);
            // Bytes in the page that the hole begins in, and in the one that it ends in.
            ends = [(page - first) % page, last].map(|part| part.min(bytes));
        }
        let [below, above] = match (is_block_below, is_block_above) {
            (false, false) => [0, 0],
            (true, false) => [ends[0], 0],
            (false, true) => [0, ends[1]],
            (true, true) if ends[0].saturating_add(ends[1]) > bytes => [bytes - bytes / 2, bytes / 2],
            (true, true) => ends,
        };
        if let Some((_, pinned)) = &mut self.block {
            *pinned = pinned.saturating_add(below);
        }
        if let Some(holes) = self.holes_of(kinds, self.kind) {
            holes.holes += 1;
            holes.largest_hole = holes.largest_hole.max(bytes);
            holes.unpinned = holes.unpinned.saturating_add(bytes.saturating_sub(below.saturating_add(above)));
        }
        above
    }

    /// Adds the bytes pinned by the current block to its call site.
    fn end_block(&mut self, side: Side<'_>) {
        let Some((allocation, bytes)) = self.block.take().filter(|(_, bytes)| *bytes > 0) else { return };
        let id = AllocationId(allocation);
        let group = side.group(Grouping::CallSite, id);
        let Some(pins) = self.pins.get_mut(group as usize) else { return };
        pins.bytes = pins.bytes.saturating_add(bytes);
        pins.blocks += 1;
        if bytes > pins.largest_bytes {
            (pins.largest, pins.largest_bytes) = (allocation, bytes);
        }
    }

    /// Returns the call site groups whose blocks pin memory, most bytes first.
    pub(crate) fn ranked_pins(&self) -> Vec<u32> {
        let some = self.pins.iter().zip(0..).filter(|(pins, _)| pins.bytes > 0);
        sorted_numbers(some.map(|(pins, group)| (two_part_key(!pins.bytes, 0), group)).collect())
    }
}
