//! The blocks that are live at the end, and which allocations they are.

use super::allocations::{AllocationId, Allocations};
use super::kept::Facts;
use super::numbers::Numbers;
use super::trace::{Lives, NEVER, Oddity, signed};
use crate::snapshot::{Action, BlockState, Snapshot};
use base::column::Column;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// The rows of the live blocks of these segments, in file order. Of blocks at one address the last counts.
pub(super) fn end_blocks(segments: &[u32], snapshot: &Snapshot) -> Vec<u32> {
    let mut at: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
    let rows = || {
        let segments = segments.iter().filter_map(|&segment| snapshot.segments.get(segment as usize));
        segments.flat_map(|segment| segment.blocks.clone())
    };
    for row in rows() {
        if let Some(block) = snapshot.blocks.get(row as usize) {
            at.insert(block.address, row);
        }
    }
    let last = |row: &u32| {
        let block = snapshot.blocks.get(*row as usize);
        block.is_some_and(|block| block.state.is_live() && at.get(&block.address) == Some(row))
    };
    rows().filter(last).collect()
}

/// Which allocation each block that is live at the end is.
#[derive(Default)]
pub(super) struct AtEnd {
    /// Those born in the trace: index and row of the block.
    pub(super) traced: Vec<(u32, u32)>,
    /// Those that the trace only frees, pending at the end.
    pub(super) early: BTreeMap<u32, u32>,
    /// Rows of blocks that the trace does not know.
    pub(super) statics: Vec<u32>,
}

/// Rows laid out between two questions for the time.
const ROWS_AT_ONCE: usize = 1 << 14;

/// The allocations that were live before the trace, on their way into birth order. In slices: a trace may be nothing but frees of
/// what it never saw allocated.
pub(super) struct Laying {
    early: Lives,
    /// Of those, where a range of the trace is loaded.
    pub(super) facts: Column<Facts>,
    ends: Action,
    at_end: AtEnd,
    next: usize,
    /// How many were over before the first event.
    pub(super) over: u32,
    /// Early allocations that are never freed and have no block.
    pub(super) ghosts: Oddity,
    /// Bytes drawn before the first event.
    pub(super) drawn: i64,
    /// Of these, the bytes whose free was requested before it.
    pub(super) pending: i64,
}

/// What is known of the allocations that were live before the trace.
pub(super) struct AtStart {
    pub(super) early: Lives,
    pub(super) facts: Column<Facts>,
    /// Which action ends lives.
    pub(super) ends: Action,
    /// The blocks that are live at the end.
    pub(super) at_end: AtEnd,
}

/// What is known of each allocation that is live at the end: its block.
pub(super) type EndBlocks = HashMap<u32, u32, foldhash::fast::RandomState>;

impl Laying {
    /// Begins with what no event names: the unexplained bytes and the static blocks.
    pub(super) fn begin(
        at_start: AtStart,
        numbers: &Numbers,
        snapshot: &Snapshot,
        allocations: &mut Allocations,
        end_blocks: &mut EndBlocks,
    ) -> Laying {
        let AtStart { early, facts, ends, at_end } = at_start;
        let before = &mut allocations.parts[0];
        let unexplained = u64::try_from(numbers.remainder).unwrap_or(0);
        let (mut drawn, mut pending) = (signed(unexplained), 0i64);
        if unexplained > 0 {
            before.push_row(0, unexplained, NEVER, NEVER);
        }
        for &row in &at_end.statics {
            if let Some(block) = snapshot.blocks.get(row as usize) {
                end_blocks.insert(before.size.len() as u32, row);
                before.push_row(block.address, block.requested, NEVER, NEVER);
                drawn = drawn.saturating_add(signed(block.requested));
                if block.state == BlockState::Pending {
                    pending = pending.saturating_add(signed(block.requested));
                }
            }
        }
        allocations.unexplained = u32::from(unexplained > 0);
        allocations.statics = allocations.early() as u32 - allocations.unexplained;
        Laying { early, facts, ends, at_end, next: 0, over: 0, ghosts: Oddity::default(), drawn, pending }
    }

    /// Lays out some of those that events name: `true` when all are. One that is never freed is static where it has a block, with
    /// the block's bytes; where it has none it was never there as far as the totals know: its lifetime becomes empty.
    pub(super) fn step(&mut self, snapshot: &Snapshot, allocations: &mut Allocations) -> bool {
        let end = self.early.died.len().min(self.next + ROWS_AT_ONCE);
        for index in self.next..end {
            let (mut size, mut died) = (self.early.size.at(index), self.early.died.at(index));
            let mut requested = self.early.free_requested.at(index);
            if died == NEVER {
                let row = self.at_end.early.get(&(index as u32));
                let facts = self.facts.get(index);
                // Its free was requested before the trace.
                if requested == NEVER
                    && allocations.may_start_pending
                    && facts.is_some_and(|facts| facts.only_completes())
                {
                    requested = 0;
                }
                match row.and_then(|&row| snapshot.blocks.get(row as usize)) {
                    // Its alloc says how many bytes.
                    _ if facts.is_some_and(|facts| facts.is_carried) => {}
                    Some(block) => size = block.requested,
                    None if facts.is_some_and(|facts| facts.stays(self.ends)) => {}
                    None => {
                        self.ghosts.add(requested.saturating_sub(1), 0);
                        died = 0;
                    }
                }
            }
            if died > 0 {
                self.drawn = self.drawn.saturating_add(signed(size));
            } else {
                self.over += 1;
            }
            let id = AllocationId(allocations.early() as u32);
            allocations.parts[0].push_row(self.early.address.at(index), size, requested, died);
            if allocations.pending_from(id) < died.min(1) {
                self.pending = self.pending.saturating_add(signed(size));
            }
        }
        self.next = end;
        end == self.early.died.len()
    }

    /// Names the blocks of those that events name and that are live at the end.
    pub(super) fn finish(&self, allocations: &Allocations, end_blocks: &mut EndBlocks) {
        let freed_from = allocations.unexplained + allocations.statics;
        end_blocks.extend(self.at_end.early.iter().map(|(&index, &row)| (freed_from + index, row)));
        end_blocks.extend(self.at_end.traced.iter().map(|&(index, row)| (allocations.traced(index).0, row)));
    }
}
