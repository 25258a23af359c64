//! Checkpoints of the live set, for finding the allocations that are live at a moment without scanning all allocations.
//!
//! ```text
//! checkpoint at moment 8192: 4 17 98 5001 5002 ..     ids of live allocations, in the order of allocation
//! live at moment 9000  =  ids of the checkpoint and later ids, without allocations freed by then
//! ```
//!
//! A checkpoint is taken when the moments since the last one outnumber the live allocations. All checkpoints together
//! then take at most four bytes per event, and a query costs about as much as its result.

use super::allocations::{AllocationId, Allocations};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use std::ops::Range;

/// Number of moments in a chunk. A checkpoint is always at the start of a chunk.
const CHUNK_MOMENTS: u32 = 1024;
/// Minimum number of chunks between two checkpoints. More checkpoints would cost more memory than they save time.
const MIN_CHUNKS: u32 = 4;

/// Checkpoints of the live set of one device. Queries are always correct, and are fast after [`LiveSets::step`] has
/// finished.
#[derive(Clone, Debug, Default)]
pub struct LiveSets {
    /// Moment of each checkpoint, and the end of its ids in `ids`.
    checkpoints: Vec<(u32, usize)>,
    ids: Column<u32>,
    work: Work,
}

base::heap_bytes!(LiveSets: ids, checkpoints);

/// Superset of the allocations that are live at a moment, in id order: the ids of a checkpoint, then a range of later
/// ids. All were allocated by that moment, but some may have been freed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    checkpoint_ids: Range<usize>,
    first: u32,
    last: u32,
}

impl Candidates {
    /// Creates candidates from a range of ids.
    pub fn from_ids(ids: Range<u32>) -> Candidates {
        Candidates { checkpoint_ids: 0..0, first: ids.start, last: ids.end.max(ids.start) }
    }

    pub fn len(&self) -> usize {
        self.checkpoint_ids.len() + (self.last - self.first) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone, Debug, Default)]
enum Work {
    #[default]
    Start,
    /// Counts the frees in each chunk. Holds the counts, and the next allocation to count.
    CountFrees(Vec<u32>, usize),
    /// Takes the checkpoints. Holds the counts, the next chunk, and the number of live allocations at the start of
    /// the previous chunk.
    TakeCheckpoints(Vec<u32>, u32, u32),
    Done,
}

impl LiveSets {
    /// Continues taking checkpoints until all are taken or the time slice is used up. Every call must pass the same
    /// allocations.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, allocations: &Allocations, moments: u32, slice: &mut TimeSlice) -> SliceResult {
        loop {
            match &mut self.work {
                Work::Start => {
                    self.work = Work::CountFrees(vec![0; (moments / CHUNK_MOMENTS) as usize + 1], 0);
                }
                Work::CountFrees(counts, next) => {
                    while let Some(part) = slice.next_range(next, allocations.len(), 1)? {
                        for (_, freed_at, _) in allocations.spans_in(part) {
                            if let Some(count) = counts.get_mut((freed_at / CHUNK_MOMENTS) as usize) {
                                *count += 1;
                            }
                        }
                    }
                    let counts = std::mem::take(counts);
                    self.work = Work::TakeCheckpoints(counts, 1, allocations.early_count() as u32);
                }
                Work::TakeCheckpoints(counts, chunk, live) => {
                    let Some(&freed) = counts.get(*chunk as usize - 1).filter(|_| (*chunk as usize) < counts.len())
                    else {
                        self.work = Work::Done;
                        return Ok(());
                    };
                    let moment = *chunk * CHUNK_MOMENTS;
                    // Frees at the very start of a chunk are counted one moment late, as part of that chunk. The rule
                    // needs no more precision.
                    let allocated = allocations.allocated_by(moment) - allocations.allocated_by(moment - CHUNK_MOMENTS);
                    *live = live.saturating_add(allocated).saturating_sub(freed);
                    *chunk += 1;
                    let since = moment - self.checkpoints.last().map_or(0, |&(moment, _)| moment);
                    if since >= (*live).max(MIN_CHUNKS * CHUNK_MOMENTS) {
                        self.take_checkpoint(allocations, moment);
                    }
                }
                Work::Done => return Ok(()),
            }
            slice.check()?;
        }
    }

    fn take_checkpoint(&mut self, allocations: &Allocations, moment: u32) {
        let live: Vec<u32> = self.live_at(allocations, Moment(moment)).map(|id| id.0).collect();
        live.into_iter().for_each(|id| self.ids.push(id));
        self.checkpoints.push((moment, self.ids.len()));
    }

    /// Returns candidates for the allocations that are live at `moment`.
    pub fn candidates(&self, allocations: &Allocations, moment: Moment) -> Candidates {
        let after = self.checkpoints.partition_point(|&(taken_at, _)| taken_at <= moment.0);
        let checkpoint = |index: usize| self.checkpoints.get(index).copied();
        let (since, end) = after.checked_sub(1).and_then(checkpoint).unwrap_or_default();
        let start = after.checked_sub(2).and_then(checkpoint).map_or(0, |(_, end)| end);
        let early = allocations.early_count() as u32;
        // Before the first checkpoint, the early allocations are included.
        let first = if after == 0 { 0 } else { early + allocations.allocated_by(since) };
        Candidates { checkpoint_ids: start..end, first, last: early + allocations.allocated_by(moment.0) }
    }

    /// Returns candidates for the allocations that are live at `from` or are allocated between `from` and `to`.
    pub fn candidates_through(&self, allocations: &Allocations, [from, to]: [Moment; 2]) -> Candidates {
        let last = allocations.early_count() as u32 + allocations.allocated_by(to.0);
        let at_start = self.candidates(allocations, from);
        Candidates { last: at_start.last.max(last), ..at_start }
    }

    /// Returns the id of the candidate at `index`, or `None` if the index is out of range.
    #[inline(always)]
    pub fn candidate(&self, candidates: &Candidates, index: usize) -> Option<AllocationId> {
        let id = match index.checked_sub(candidates.checkpoint_ids.len()) {
            None => self.ids.get(candidates.checkpoint_ids.start + index)?,
            Some(beyond) => candidates.first + beyond as u32,
        };
        Some(AllocationId(id))
    }

    /// Iterates over the allocations that are live at `moment`, in id order, including empty ones.
    pub fn live_at<'a>(
        &'a self,
        allocations: &'a Allocations,
        moment: Moment,
    ) -> impl Iterator<Item = AllocationId> + 'a {
        let Candidates { checkpoint_ids, first, last } = self.candidates(allocations, moment);
        // All candidates were allocated by then.
        self.ids
            .range(checkpoint_ids)
            .chain(first..last)
            .map(AllocationId)
            .filter(move |&id| allocations.outlives(id, moment))
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/live.rs"]
mod tests;
