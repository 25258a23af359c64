//! Recorded memory that no listed segment contains, in files that list no segments (MLX), or only those of one pool.
//!
//! An address in a listed segment has the state that the segment's blocks say. Any other recorded allocation is live
//! until it is freed, and so is the memory that an event reserved.

use super::trace::{NEVER, Subject, Trace, to_signed};
use crate::snapshot::{Action, Snapshot};
use base::sorted::sorted_by_key;
use std::collections::BTreeMap;

/// Memory outside all listed segments of a device, at the end of its trace.
#[derive(Default)]
pub(super) struct Unlisted {
    /// Number and requested bytes of the allocations.
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// Address, size and event of each reserved range.
    pub(super) ranges: Vec<(u64, u64, u32)>,
    /// Bytes of the listed segments and of these ranges.
    pub(super) reserved: u64,
}

impl Unlisted {
    /// Finds the memory outside these segments. `blocks` are the rows of the blocks that are live at the end, and
    /// `ending_action` is the action that ends lifetimes.
    pub(super) fn new(
        trace: &Trace,
        segments: &[u32],
        blocks: &[u32],
        ending_action: Action,
        snapshot: &Snapshot,
    ) -> Unlisted {
        let (mut listed, mut found) = (Vec::new(), Unlisted::default());
        for segment in segments.iter().filter_map(|&row| snapshot.segments.get(row as usize)) {
            found.reserved = found.reserved.saturating_add(segment.total_size);
            listed.extend(segment.address.map(|start| [start, start.saturating_add(segment.total_size)]));
        }
        let listed = sorted_by_key(listed, |&[start, _]: &[u64; 2]| start.into());
        let is_listed = |address: u64| {
            let after = listed.partition_point(|&[start, _]| start <= address);
            after.checked_sub(1).and_then(|at| listed.get(at)).is_some_and(|&[_, end]| address < end)
        };
        // Segments in old files may have no address.
        let blocks = blocks.iter().filter_map(|&row| snapshot.blocks.get(row as usize)).map(|block| block.address);
        let blocks: Vec<u64> = blocks.filter(|&address| !is_listed(address)).collect();
        let blocks = sorted_by_key(blocks, |&address| address.into());
        for &address in trace.live.keys() {
            if !is_listed(address) && blocks.binary_search(&address).is_err() {
                found.add(trace, address, ending_action);
            }
        }
        if found.count > 0 || trace.reserved > to_signed(found.reserved) {
            let ranges = trace.reserved_ranges().into_iter();
            let ranges = ranges.filter(|&(start, _)| !is_listed(start));
            found.ranges = ranges.map(|(start, (end, event))| (start, end - start, event)).collect();
            let sizes = found.ranges.iter().map(|&(_, size, _)| size);
            found.reserved = sizes.fold(found.reserved, u64::saturating_add);
        }
        found
    }

    fn add(&mut self, trace: &Trace, address: u64, ending_action: Action) {
        let ends_by_request = ending_action == Action::FreeRequested;
        let later = trace.outside.states.get(&address).copied().unwrap_or_default();
        if ends_by_request && later.is_requested {
            return;
        }
        let (lives, index) = match trace.live_at(address) {
            Some(Subject::Traced(index)) => (&trace.traced, index),
            Some(Subject::Early(index)) if trace.is_carried(index) => (&trace.early, index),
            Some(Subject::Note(_)) => return self.count(later.size),
            _ => return,
        };
        let ends = if ends_by_request { &lives.free_requested } else { &lives.freed_at };
        if ends.get(index as usize) == Some(NEVER) {
            self.count(lives.size.get(index as usize).unwrap_or(0));
        }
    }

    fn count(&mut self, size: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(size);
    }
}

impl Trace {
    /// Returns the start, end and event of each range that the loaded events reserved and did not release. Takes time
    /// proportional to the number of events, so it is called only if memory is missing.
    fn reserved_ranges(&self) -> BTreeMap<u64, (u64, u32)> {
        let mut open: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        for event in self.events.first()..self.events.len() {
            let action = self.events.action(event);
            let Subject::Segment(operation) = self.events.subject_of(event, action) else { continue };
            let Some((start, size)) = self.segment_operations.get(operation as usize) else { continue };
            let end = start.saturating_add(size);
            remove(&mut open, start, end);
            if matches!(action, Action::SegmentAlloc | Action::SegmentMap) && start < end {
                open.insert(start, (end, event));
            }
        }
        open
    }
}

/// Removes a range from the open ones, and cuts those that it overlaps.
fn remove(open: &mut BTreeMap<u64, (u64, u32)>, start: u64, end: u64) {
    if let Some((&below, &(below_end, event))) = open.range(..start).next_back().filter(|(_, (to, _))| *to > start) {
        open.insert(below, (start, event));
        if below_end > end {
            open.insert(end, (below_end, event));
        }
    }
    while let Some((&first, &(to, event))) = open.range(start..end).next() {
        open.remove(&first);
        if to > end {
            open.insert(end, (to, event));
        }
    }
}
