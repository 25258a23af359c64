//! State before the first event of a [`Recording`](super::Recording): its segments and allocations.

use super::reading::{NEVER, Reading};
use super::recording::{Allocation, Early, Held};
use base::sorted::sorted_by_key;
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::Snapshot;

impl Reading {
    /// Collects the segments that exist before the first event. Adjacent parts of an expandable segment are merged.
    pub(super) fn hold(&mut self, lives: &SegmentLifetimes) {
        let mut last: Option<AllocationId> = None;
        let early = (0..lives.ranges.len()).map(|id| AllocationId(id as u32));
        for id in early.take_while(|&id| lives.ranges.allocated_at(id).0 == 0) {
            let (address, size) = (lives.ranges.address(id), lives.ranges.size(id));
            let Some(kind) = lives.kind(id).filter(|_| size > 0) else { continue };
            self.reserved = self.reserved.saturating_add(size);
            let goes_on = last.replace(id).is_some_and(|below| lives.is_same_segment(below, id));
            match self.recording.held.last_mut() {
                Some(held) if goes_on => held.size = held.size.saturating_add(size),
                _ => {
                    let place = self.place(kind.stream, kind.pool);
                    let (small, expandable) = (kind.small, kind.expandable);
                    self.recording.held.push(Held { address, size, place, small, expandable });
                }
            }
        }
    }

    /// Collects the allocations made before the first event, ordered by address.
    pub(super) fn early(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let allocations = &history.allocations;
        let early = (0..allocations.early_count() as u32).filter_map(|number| {
            let id = AllocationId(number);
            let (_, freed_at, _) = allocations.span(id);
            let block = history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize));
            // Allocations without an explanation have no address. Allocations that never existed have no lifetime.
            let is_there = allocations.address(id) > 0 && freed_at > 0;
            let block_size = block.filter(|_| freed_at == NEVER).map(|block| block.size);
            let freed_at = freed_at.saturating_sub(u32::from(freed_at != NEVER));
            is_there.then_some(Early { allocation: number, block_size, freed_at, follower: None })
        });
        let address = |early: &Early| allocations.address(AllocationId(early.allocation));
        let early = sorted_by_key(early.collect(), |early| address(early).into());
        let mut addresses = early.iter().map(address).enumerate().peekable();
        for held in &self.recording.held {
            let end = held.address.saturating_add(held.size);
            while addresses.next_if(|(_, address)| *address < held.address).is_some() {}
            while let Some((at, address)) = addresses.next_if(|(_, address)| *address < end) {
                let next = addresses.peek().map_or(end, |(_, next)| end.min(*next));
                if let Some(early) = early.get(at) {
                    let number = early.allocation as usize;
                    let allocation = self.recording.allocations.at(number);
                    self.recording.allocations.set(number, Allocation { place: held.place, ..allocation });
                }
                if !held.small && !held.expandable {
                    self.gaps.push([address.saturating_add(1), next, at as u64]);
                }
            }
        }
        self.recording.early = early;
    }

    /// Records the address of an allocation. If it is the first one behind an allocation made before recording, it
    /// bounds the size of that allocation's block.
    pub(super) fn follow(&mut self, address: u64, event: u32) {
        let at = self.gaps.partition_point(|[begin, ..]| *begin <= address);
        let gap = at.checked_sub(1).and_then(|at| self.gaps.get(at)).filter(|[_, end, _]| address < *end);
        let early = gap.and_then(|[.., at]| self.recording.early.get_mut(*at as usize));
        if let Some(early) = early.filter(|early| early.follower.is_none() && event < early.freed_at) {
            early.follower = Some(address);
        }
    }
}
