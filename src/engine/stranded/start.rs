//! Memory before the first event, and the part of a hole that the allocator does not split off.

use super::kinds::Kinds;
use super::memory::Memory;
use crate::device::SizeSource;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, DeviceHistory, SegmentKind, SegmentLifetimes};
use history::snapshot::Snapshot;

/// Largest rest of a free block for large requests that stays part of the allocated block (`kSmallSize`).
const MAX_TAIL: u64 = 1 << 20;

/// Settings that decide whether a free block is split.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tails {
    /// Expandable segments are on: every rest is split off.
    splits_all: bool,
    /// Minimum size of blocks that are not split.
    max_split_size: Option<u64>,
}

impl Tails {
    pub(super) fn new(snapshot: &Snapshot) -> Tails {
        let setting =
            |name: &str| snapshot.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        Tails {
            splits_all: setting("expandable_segments").is_some_and(|on| on.eq_ignore_ascii_case("true") || on == "1"),
            max_split_size: setting("max_split_size").and_then(|value| value.parse().ok()).filter(|&size| size > 0),
        }
    }

    /// Returns the largest rest in bytes that stays part of a block of `size` bytes, in memory of this kind.
    pub(super) fn limit(&self, kind: Option<&SegmentKind>, size: u64) -> u64 {
        match kind {
            _ if self.splits_all => 0,
            Some(SegmentKind { small: false, expandable: false, .. }) => match self.max_split_size {
                Some(most) if size >= most => u64::MAX,
                _ => MAX_TAIL,
            },
            _ => 0,
        }
    }
}

/// Construction of the memory before the first event.
#[derive(Default)]
pub(super) struct Start {
    memory: Option<Memory>,
    tails: Tails,
    next_range: usize,
    next_block: usize,
    /// Next address to examine for a hole behind a block.
    next_hole: u64,
    /// Next allocation in the trace that may show where a hole begins, and the number of holes not known yet.
    next_traced: usize,
    unsettled: u32,
}

impl Start {
    /// Continues the construction until it is done.
    pub(super) fn step(
        &mut self,
        side: Side<'_>,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult<(Memory, Tails)> {
        let mut memory = match self.memory.take() {
            Some(memory) => memory,
            None => {
                self.tails = Tails::new(side.snapshot());
                Memory { event: side.history.events.first(), ..Memory::new(Kinds::new(lives.kinds())) }
            }
        };
        match self.fill(&mut memory, side, lives, slice) {
            Ok(()) => Ok((memory, self.tails)),
            Err(late) => {
                self.memory = Some(memory);
                Err(late)
            }
        }
    }

    fn fill(
        &mut self,
        memory: &mut Memory,
        side: Side<'_>,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let allocations = &side.history.allocations;
        while self.next_range < lives.ranges.early_count() {
            slice.spend(4)?;
            let id = AllocationId(self.next_range as u32);
            self.next_range += 1;
            if lives.ranges.outlives(id, Moment::START) {
                let address = lives.ranges.address(id);
                let bounds = [address, address.saturating_add(lives.ranges.size(id))];
                let kind = lives.kind_index(id).unwrap_or(0);
                memory.map(bounds, kind, lives.starts_segment(id), &mut |_, _| ());
            }
        }
        while self.next_block < allocations.early_count() {
            slice.spend(4)?;
            let id = AllocationId(self.next_block as u32);
            self.next_block += 1;
            if allocations.outlives(id, Moment::START) && !allocations.is_unexplained(id) {
                let (size, _) = side.device_data().rounded_size(id);
                memory.allocate(id.0, [allocations.address(id), size], None, &mut |_, _| ());
            }
        }
        while let Some((&begin, &block)) = memory.extents.range(self.next_hole..).next() {
            slice.spend(4)?;
            self.next_hole = begin.saturating_add(1);
            let size = block.end - begin;
            let is_lower_bound = block.is_live()
                && side.device_data().rounded_size(AllocationId(block.allocation)).1 == SizeSource::LowerBound;
            let limit = self.tails.limit(lives.kinds().get(block.kind as usize), size);
            let hole = memory.extents.get(&block.end).filter(|hole| {
                is_lower_bound
                    && limit > 0
                    && !hole.is_live()
                    && memory.continues(block.end, block.kind, (block.end, hole))
            });
            match hole.map(|hole| hole.end) {
                Some(end) if end - block.end <= limit => self.extend(memory, begin, end),
                Some(_) => {
                    if let Some(hole) = memory.extents.get_mut(&block.end) {
                        hole.is_unsettled = true;
                        self.unsettled += 1;
                    }
                }
                None => {}
            }
        }
        while self.unsettled > 0 && self.next_traced < allocations.len() - allocations.early_count() {
            slice.spend(4)?;
            let id = AllocationId((allocations.early_count() + self.next_traced) as u32);
            self.next_traced += 1;
            self.settle(memory, side.history, id);
        }
        Ok(())
    }

    /// Settles the hole that an allocation in the trace is the first to use: it starts where the hole begins, and what
    /// is below it belongs to the block in front.
    fn settle(&mut self, memory: &mut Memory, history: &DeviceHistory, id: AllocationId) {
        let address = history.allocations.address(id);
        let Some((begin, hole)) = memory.extent_at(address).filter(|(_, hole)| hole.is_unsettled) else { return };
        self.unsettled -= 1;
        if let Some(hole) = memory.extents.get_mut(&begin) {
            hole.is_unsettled = false;
        }
        let Some((&block, below)) = memory.extents.range(..begin).next_back() else { return };
        let outlives =
            history.allocations.outlives(AllocationId(below.allocation), history.allocations.allocated_at(id));
        if outlives && address > begin && address - begin <= MAX_TAIL && hole.end > address {
            self.extend(memory, block, address);
        }
    }

    /// Extends the block that starts at `begin` to `end`, within the hole above.
    fn extend(&self, memory: &mut Memory, begin: u64, end: u64) {
        let Some(block) = memory.extents.get(&begin).copied() else { return };
        let size = end - begin;
        memory.release(begin, block.allocation);
        memory.allocate(block.allocation, [begin, size], None, &mut |_, _| ());
    }
}
