//! The how-manieth of its address everything is, as memory_viz and Mosaic name it: `7f89b4000000_2` is the block at that address before whose
//! first event two frees of it have completed. Segments count for themselves, by what the events gave back at their address.

use super::allocations::AllocationId;
use super::device_history::DeviceHistory;
use super::trace::Subject;
use crate::snapshot::Action;
use base::column::Column;
use base::units::EventIdx;
use hashbrown::HashMap;

/// Events or allocations between two questions for the time.
const ROWS_PER_CHECK: u32 = 2048;
/// Tables of addresses: each alone grows so fast that nobody waits.
const SHARDS: usize = 256;

/// The versions of one device, four bytes an allocation and segment operation. Nothing is in it before [`Versions::step`] has finished.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// Of those born in the trace, of those freed in it that were born before, of those never in it; and of segment operations.
    traced: Column<u32>,
    freed: Column<u32>,
    statics: Column<u32>,
    segments: Column<u32>,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    /// Counts what ends from this event on.
    Events(u32, Box<[Ended; 2]>),
    /// Looks up the allocations from this one on, which no event is about.
    Statics(u32, Box<[Ended; 2]>),
    Done,
}

impl Default for Work {
    fn default() -> Work {
        Work::Events(0, Box::default())
    }
}

/// How many have ended at each address.
#[derive(Clone, Debug, Default)]
struct Ended(Vec<HashMap<u64, u32, foldhash::fast::RandomState>>);

impl Ended {
    fn shard(address: u64) -> usize {
        (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    fn at(&self, address: u64) -> u32 {
        self.0.get(Ended::shard(address)).and_then(|shard| shard.get(&address)).copied().unwrap_or(0)
    }

    fn end(&mut self, address: u64) {
        if self.0.is_empty() {
            self.0.resize_with(SHARDS, HashMap::default);
        }
        if let Some(shard) = self.0.get_mut(Ended::shard(address)) {
            *shard.entry(address).or_default() += 1;
        }
    }
}

impl Versions {
    /// The version of what an event is about; 0 for one about neither an allocation nor a segment.
    pub fn of_event(&self, history: &DeviceHistory, event: u32) -> u32 {
        let known = match history.events.subject(event) {
            Subject::Traced(index) => self.traced.get(index as usize),
            Subject::Early(index) => self.freed.get(index as usize),
            Subject::Segment(index) => self.segments.get(index as usize),
            Subject::Note(_) => None,
        };
        known.unwrap_or(0)
    }

    /// The version of an allocation; of one that no event is about, how many frees of its address have completed in all.
    pub fn of_allocation(&self, history: &DeviceHistory, id: AllocationId) -> u32 {
        let allocations = &history.allocations;
        let at = id.0 as usize;
        let first_freed = allocations.freed(0).0 as usize;
        let known = match (at.checked_sub(allocations.early()), at.checked_sub(first_freed)) {
            (Some(index), _) => self.traced.get(index),
            (None, Some(index)) => self.freed.get(index),
            (None, None) => self.statics.get(at),
        };
        known.unwrap_or(0)
    }

    /// Works while there is time; `true` when done. The history must be the same every time.
    pub fn step(&mut self, history: &DeviceHistory, has_time: &mut dyn FnMut() -> bool) -> bool {
        loop {
            self.work = match std::mem::replace(&mut self.work, Work::Done) {
                Work::Events(next, mut ended) => {
                    let end = history.event_count().min(next.saturating_add(ROWS_PER_CHECK));
                    (next..end).for_each(|event| self.event(history, event, &mut ended));
                    if end < history.event_count() { Work::Events(end, ended) } else { Work::Statics(0, ended) }
                }
                Work::Statics(next, ended) => {
                    let all = history.allocations.freed(0).0;
                    let end = all.min(next.saturating_add(ROWS_PER_CHECK));
                    let [blocks, _] = &*ended;
                    for id in next..end {
                        self.statics.push(blocks.at(history.allocations.address(AllocationId(id))));
                    }
                    if end < all { Work::Statics(end, ended) } else { Work::Done }
                }
                Work::Done => return true,
            };
            if !has_time() {
                return matches!(self.work, Work::Done);
            }
        }
    }

    /// Everything has the version that its first event sees: while it is there, nothing else ends at its address.
    fn event(&mut self, history: &DeviceHistory, event: u32, ended: &mut [Ended; 2]) {
        let [blocks, segments] = ended;
        let address = history.address_and_size(EventIdx(event)).0;
        match history.events.subject(event) {
            Subject::Traced(index) if index as usize == self.traced.len() => self.traced.push(blocks.at(address)),
            Subject::Early(index) if index as usize == self.freed.len() => self.freed.push(blocks.at(address)),
            Subject::Segment(_) => self.segments.push(segments.at(address)),
            _ => {}
        }
        match history.events.action(event) {
            Action::FreeCompleted => blocks.end(address),
            Action::SegmentFree | Action::SegmentUnmap => segments.end(address),
            _ => {}
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let ended = match &self.work {
            Work::Events(_, ended) | Work::Statics(_, ended) => {
                ended.iter().flat_map(|ended| &ended.0).map(HashMap::allocation_size).sum()
            }
            Work::Done => 0,
        };
        [&self.traced, &self.freed, &self.statics, &self.segments].map(Column::heap_bytes).iter().sum::<usize>() + ended
    }
}
