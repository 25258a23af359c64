//! The blocks that are live at the end, and which allocations they are.

use super::allocations::Allocations;
use super::numbers::Numbers;
use super::trace::{Lives, NEVER, Oddity};
use crate::column::Column;
use crate::snapshot::Snapshot;
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

/// Early allocations that are never freed: those with a block are static, with the block's bytes; the others were never
/// there as far as the totals know (their lifetime becomes empty).
pub(super) fn settle_early(early: &mut Lives, at_end: &AtEnd, snapshot: &Snapshot) -> Oddity {
    let mut ghosts = Oddity::default();
    for index in 0..early.died.len() {
        if early.died.at(index) != NEVER {
            continue;
        }
        match at_end.early.get(&(index as u32)).and_then(|&row| snapshot.blocks.get(row as usize)) {
            Some(block) => early.size.set(index, block.requested),
            None => {
                let event = early.free_requested.at(index).saturating_sub(1);
                ghosts.first = if ghosts.count == 0 { event } else { ghosts.first };
                ghosts.count += 1;
                early.died.set(index, 0);
            }
        }
    }
    ghosts
}

/// Puts the allocations in birth order, and names the block of each that is live at the end.
pub(super) fn lay_out(
    early: Lives,
    traced: Lives,
    born: Column<u32>,
    at_end: &AtEnd,
    numbers: &Numbers,
    snapshot: &Snapshot,
) -> (Allocations, HashMap<u32, u32, foldhash::fast::RandomState>) {
    let mut before = Lives::default();
    let unexplained = u64::try_from(numbers.remainder).unwrap_or(0);
    if unexplained > 0 {
        before.push_row(0, unexplained, NEVER, NEVER);
    }
    let mut end_blocks = HashMap::default();
    for &row in &at_end.statics {
        if let Some(block) = snapshot.blocks.get(row as usize) {
            end_blocks.insert(before.size.len() as u32, row);
            before.push_row(block.address, block.requested, NEVER, NEVER);
        }
    }
    let freed_from = before.size.len() as u32;
    for index in 0..early.size.len() {
        let moments = (early.free_requested.at(index), early.died.at(index));
        before.push_row(early.address.at(index), early.size.at(index), moments.0, moments.1);
    }
    let allocations = Allocations {
        parts: [before, traced],
        born,
        unexplained: u32::from(unexplained > 0),
        statics: freed_from - u32::from(unexplained > 0),
    };
    end_blocks.extend(at_end.early.iter().map(|(&index, &row)| (freed_from + index, row)));
    end_blocks.extend(at_end.traced.iter().map(|&(index, row)| (allocations.traced(index).0, row)));
    (allocations, end_blocks)
}
