//! Blocks that are live at the end, and their allocations.

use super::allocations::{AllocationId, Allocations};
use super::loaded_range::EarlyFacts;
use super::numbers::DeviceFigures;
use super::trace::{Anomaly, LifetimeColumns, NEVER, to_signed};
use crate::snapshot::{Action, BlockState, Snapshot};
use base::column::Column;
use hashbrown::HashMap;

/// Returns the rows of the live blocks in these segments, in file order. If several blocks have the same address, the
/// last one counts.
pub(super) fn end_blocks(segments: &[u32], snapshot: &Snapshot) -> Vec<u32> {
    let mut by_address: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
    let rows = || {
        let segments = segments.iter().filter_map(|&segment| snapshot.segments.get(segment as usize));
        segments.flat_map(|segment| segment.blocks.clone())
    };
    for row in rows() {
        if let Some(block) = snapshot.blocks.get(row as usize) {
            by_address.insert(block.address, row);
        }
    }
    let last = |row: &u32| {
        let block = snapshot.blocks.get(*row as usize);
        block.is_some_and(|block| block.state.is_live() && by_address.get(&block.address) == Some(row))
    };
    rows().filter(last).collect()
}

/// Allocations of the blocks that are live at the end.
#[derive(Default)]
pub(super) struct EndAllocations {
    /// Allocations made in the trace, each as its index and the row of its block.
    pub(super) traced: Vec<(u32, u32)>,
    /// Row of the block for each allocation from before the trace that is awaiting free at the end, by index.
    pub(super) early: EndBlocks,
    /// Rows of blocks without an event in the trace.
    pub(super) statics: Vec<u32>,
}

/// Number of rows added between two checks of the time slice.
const ROWS_PER_STEP: usize = 1 << 14;

/// Builder of the allocations that were live before the trace, in id order. It works in time slices, because a trace
/// may consist only of frees of such allocations.
pub(super) struct EarlyBuilder {
    early: LifetimeColumns,
    /// Facts about the allocations in `early`. Empty if the whole trace is loaded.
    pub(super) facts: Column<EarlyFacts>,
    ending_action: Action,
    at_end: EndAllocations,
    next: usize,
    /// Number of allocations that ended before the first event.
    pub(super) ended: u32,
    /// Inconsistency for a warning: early allocations that are never freed but have no block at the end.
    pub(super) never_freed: Anomaly,
    /// Requested bytes of all allocations that are live before the first event.
    pub(super) drawn: i64,
    /// Requested bytes of all allocations that are awaiting free before the first event.
    pub(super) awaiting_free: i64,
}

/// Information about the allocations that were live before the trace.
pub(super) struct InitialState {
    pub(super) early: LifetimeColumns,
    pub(super) facts: Column<EarlyFacts>,
    /// Action that ends lifetimes.
    pub(super) ending_action: Action,
    /// Blocks that are live at the end.
    pub(super) at_end: EndAllocations,
}

/// Row in the snapshot's block table for each allocation that is live at the end, by allocation id.
pub(super) type EndBlocks = HashMap<u32, u32, foldhash::fast::RandomState>;

impl EarlyBuilder {
    /// Creates a builder and adds the allocations without events: the unexplained bytes and the static blocks.
    pub(super) fn new(
        at_start: InitialState,
        numbers: &DeviceFigures,
        snapshot: &Snapshot,
        allocations: &mut Allocations,
        end_blocks: &mut EndBlocks,
    ) -> EarlyBuilder {
        let InitialState { early, facts, ending_action, at_end } = at_start;
        let before = &mut allocations.parts[0];
        let unexplained = u64::try_from(numbers.remainder).unwrap_or(0);
        let (mut drawn, mut awaiting_free) = (to_signed(unexplained), 0i64);
        if unexplained > 0 {
            before.push_row(0, unexplained, NEVER, NEVER);
        }
        for &row in &at_end.statics {
            if let Some(block) = snapshot.blocks.get(row as usize) {
                end_blocks.insert(before.size.len() as u32, row);
                before.push_row(block.address, block.requested, NEVER, NEVER);
                drawn = drawn.saturating_add(to_signed(block.requested));
                if block.state == BlockState::AwaitingFree {
                    awaiting_free = awaiting_free.saturating_add(to_signed(block.requested));
                }
            }
        }
        allocations.unexplained_count = u32::from(unexplained > 0);
        allocations.static_count = allocations.early_count() as u32 - allocations.unexplained_count;
        EarlyBuilder {
            early,
            facts,
            ending_action,
            at_end,
            next: 0,
            ended: 0,
            never_freed: Anomaly::default(),
            drawn,
            awaiting_free,
        }
    }

    /// Adds the next allocations that have events. Returns `true` when all are added. An allocation that is never freed
    /// gets the size of its block at the end. Without a block, its lifetime becomes empty, so that the totals do not
    /// include it.
    pub(super) fn step(&mut self, snapshot: &Snapshot, allocations: &mut Allocations) -> bool {
        let end = self.early.freed_at.len().min(self.next + ROWS_PER_STEP);
        for index in self.next..end {
            let (mut size, mut freed_at) = (self.early.size.at(index), self.early.freed_at.at(index));
            let mut requested = self.early.free_requested.at(index);
            if freed_at == NEVER {
                let row = self.at_end.early.get(&(index as u32));
                let facts = self.facts.get(index);
                // Its free was requested before the trace.
                if requested == NEVER
                    && allocations.may_start_awaiting_free
                    && facts.is_some_and(|facts| facts.only_completes())
                {
                    requested = 0;
                }
                match row.and_then(|&row| snapshot.blocks.get(row as usize)) {
                    // The size comes from its alloc.
                    _ if facts.is_some_and(|facts| facts.is_carried) => {}
                    Some(block) => size = block.requested,
                    None if facts.is_some_and(|facts| facts.stays_live(self.ending_action)) => {}
                    None => {
                        self.never_freed.add(requested.saturating_sub(1), 0);
                        freed_at = 0;
                    }
                }
            }
            if freed_at > 0 {
                self.drawn = self.drawn.saturating_add(to_signed(size));
            } else {
                self.ended += 1;
            }
            let id = AllocationId(allocations.early_count() as u32);
            allocations.parts[0].push_row(self.early.address.at(index), size, requested, freed_at);
            if allocations.awaiting_free_from(id) < freed_at.min(1) {
                self.awaiting_free = self.awaiting_free.saturating_add(to_signed(size));
            }
        }
        self.next = end;
        end == self.early.freed_at.len()
    }

    /// Adds to `end_blocks` the blocks of early allocations that have events and are live at the end.
    pub(super) fn finish(&self, allocations: &Allocations, end_blocks: &mut EndBlocks) {
        let freed_from = allocations.unexplained_count + allocations.static_count;
        end_blocks.extend(self.at_end.early.iter().map(|(&index, &row)| (freed_from + index, row)));
        end_blocks.extend(self.at_end.traced.iter().map(|&(index, row)| (allocations.traced_id(index).0, row)));
    }
}
