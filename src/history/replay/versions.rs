//! Versions of addresses, as in memory_viz and Mosaic: `7f89b4000000_2` is the block at that address whose first event
//! comes after two completed frees at the address. Segments are counted separately, by the frees and unmaps at their
//! address.

use super::device_history::DeviceHistory;
use super::trace::Subject;
use crate::snapshot::Action;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::EventIdx;
use hashbrown::HashMap;

/// Number of hash tables that the addresses are divided into. Each table stays small, so that resizing it never takes
/// long.
const SHARDS: usize = 256;

/// Versions of one device's addresses, four bytes per allocation and segment operation. Empty until [`Versions::step`]
/// has finished.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// Versions of the allocations in the trace.
    traced: Column<u32>,
    /// Versions of the allocations from before the trace that are freed in it.
    freed: Column<u32>,
    /// Versions of the segment operations.
    segments: Column<u32>,
    /// Index of the next event to process.
    next: usize,
    /// Number of frees at each address before the next event: of blocks, then of segments.
    freed_before: [FreeCounts; 2],
}

base::heap_bytes!(Versions: traced, freed, segments, [freed_before]);

/// Number of frees at each address, divided into [`SHARDS`] tables.
#[derive(Clone, Debug, Default)]
struct FreeCounts(Vec<HashMap<u64, u32, foldhash::fast::RandomState>>);

base::heap_bytes!(FreeCounts: [0]);

impl FreeCounts {
    fn shard(address: u64) -> usize {
        (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    fn get(&self, address: u64) -> u32 {
        self.0.get(FreeCounts::shard(address)).and_then(|shard| shard.get(&address)).copied().unwrap_or(0)
    }

    fn increment(&mut self, address: u64) {
        if self.0.is_empty() {
            self.0.resize_with(SHARDS, HashMap::default);
        }
        if let Some(shard) = self.0.get_mut(FreeCounts::shard(address)) {
            *shard.entry(address).or_default() += 1;
        }
    }
}

impl Versions {
    /// Returns the version of an event's allocation or segment, or 0 for other events.
    pub fn event_version(&self, history: &DeviceHistory, event: u32) -> u32 {
        let known = match history.events.subject(event) {
            Subject::Traced(index) => self.traced.get(index as usize),
            Subject::Early(index) => self.freed.get(index as usize),
            Subject::Segment(index) => self.segments.get(index as usize),
            Subject::Note(_) => None,
        };
        known.unwrap_or(0)
    }

    /// Continues processing events until all are processed or the time slice is used up. Every call must pass the same
    /// history.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        while let Some(events) = slice.next_range(&mut self.next, history.event_count() as usize, 1)? {
            events.for_each(|event| self.event(history, event as u32));
        }
        self.freed_before = Default::default();
        Ok(())
    }

    /// Processes an event. The version of a block is determined at its first event, because nothing else is freed at
    /// its address while it exists.
    fn event(&mut self, history: &DeviceHistory, event: u32) {
        let [blocks, segments] = &mut self.freed_before;
        let address = history.address_and_size(EventIdx(event)).0;
        match history.events.subject(event) {
            Subject::Traced(index) if index as usize == self.traced.len() => self.traced.push(blocks.get(address)),
            Subject::Early(index) if index as usize == self.freed.len() => self.freed.push(blocks.get(address)),
            Subject::Segment(_) => self.segments.push(segments.get(address)),
            _ => {}
        }
        match history.events.action(event) {
            Action::FreeCompleted => blocks.increment(address),
            Action::SegmentFree | Action::SegmentUnmap => segments.increment(address),
            _ => {}
        }
    }
}
