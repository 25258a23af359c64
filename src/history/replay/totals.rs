//! Running total over the moments, with fast queries for the maximum of any range.
//!
//! ```text
//! level 1                 |      16 blocks       |      16 blocks       | ..        maximum, and first moment with it
//! level 0   (blocks)      | 64 moments | 64 moments | 64 moments | ..               and the first moment's total
//! moments                 0 1 2 3 ..                                                recomputed from the events
//! ```
//!
//! It takes a third of a byte per event. Totals are signed, because a corrupt file can free more bytes than were live.

use base::column::Column;
use base::units::{EventIdx, Moment};
use std::ops::Range;

/// Number of moments per block. Recomputing a block takes well under a microsecond.
const BLOCK_MOMENTS: u32 = 64;
/// Number of nodes that a node of the next level covers.
const FAN_OUT: usize = 16;

/// Running total as a pyramid of maxima. It grows by one event at a time, so it can be built in time slices or while
/// decoding.
#[derive(Clone, Debug)]
pub struct Totals {
    moments: u32,
    last: i64,
    block_start: Column<i64>,
    levels: Vec<Maxima>,
}

base::heap_bytes!(Totals: block_start, [levels]);

/// Level of the pyramid. Each node has the maximum over its moments, and the first moment with this maximum.
#[derive(Clone, Debug, Default)]
struct Maxima {
    total: Column<i64>,
    moment: Column<u32>,
}

base::heap_bytes!(Maxima: total, moment);

/// Running total together with the change at each event, which queries need.
#[derive(Clone, Copy)]
pub struct Curve<'a> {
    totals: &'a Totals,
    change: &'a dyn Fn(EventIdx) -> i64,
}

impl Totals {
    /// Creates the totals with the value before the first event, in bytes.
    pub fn new(base: i64) -> Totals {
        let mut totals = Totals { moments: 0, last: base, block_start: Column::new(), levels: vec![Maxima::default()] };
        totals.open_block();
        totals.moments = 1;
        totals
    }

    /// Creates the totals of `events` events in one call, without time slices.
    pub fn build(events: u32, base: i64, change: impl Fn(EventIdx) -> i64) -> Totals {
        let mut totals = Totals::new(base);
        (0..events).for_each(|event| totals.push(change(EventIdx(event))));
        totals
    }

    /// Adds an event that changes the total by `change` bytes. The total saturates at the limits of `i64`.
    #[inline(always)]
    pub fn push(&mut self, change: i64) {
        self.last = self.last.saturating_add(change);
        if self.moments.is_multiple_of(BLOCK_MOMENTS) {
            self.open_block();
        } else if let Some(blocks) = self.levels.first_mut().filter(|_| change > 0) {
            blocks.raise_last(self.last, self.moments);
        }
        self.moments += 1;
    }

    /// Returns three columns with an entry per block: the first total, the maximum, and the first moment with this
    /// maximum.
    pub(super) fn blocks(&self) -> (&Column<i64>, &Column<i64>, &Column<u32>) {
        // The first level always exists.
        let blocks = &self.levels[0];
        (&self.block_start, &blocks.total, &blocks.moment)
    }

    /// Restores totals from their [blocks](Totals::blocks) and the last total. Returns `None` if the blocks are
    /// inconsistent.
    pub(super) fn from_blocks(
        moments: u32,
        last: i64,
        (block_start, total, moment): (Column<i64>, Column<i64>, Column<u32>),
    ) -> Option<Totals> {
        let count = moments.div_ceil(BLOCK_MOMENTS) as usize;
        let is_inside = |(block, moment): (usize, u32)| moment < moments && (moment / BLOCK_MOMENTS) as usize == block;
        if [block_start.len(), total.len(), moment.len()] != [count; 3] || !moment.iter().enumerate().all(is_inside) {
            return None;
        }
        let mut totals = Totals { moments, last, block_start, levels: vec![Maxima { total, moment }] };
        (1..count).for_each(|complete| totals.complete_groups(complete));
        Some(totals)
    }

    /// Returns the number of moments, which is the number of events plus one.
    pub fn moment_count(&self) -> u32 {
        self.moments
    }

    /// Returns the total after the last event.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Starts the block of moment `self.moments` with total `self.last`. Adds nodes for the groups that are now
    /// complete.
    fn open_block(&mut self) {
        self.complete_groups(self.block_start.len());
        self.block_start.push(self.last);
        if let Some(blocks) = self.levels.first_mut() {
            blocks.push((Moment(self.moments), self.last));
        }
    }

    /// Adds a node to each higher level for a group of nodes that has become complete. `complete` is the number of
    /// complete blocks.
    fn complete_groups(&mut self, mut complete: usize) {
        let mut below = 0;
        while complete > 0 && complete.is_multiple_of(FAN_OUT) {
            if below + 1 == self.levels.len() {
                self.levels.push(Maxima::default());
            }
            let group = complete - FAN_OUT..complete;
            let max = self.levels.get(below).and_then(|level| level.max_of_nodes(group));
            if let (Some(max), Some(level)) = (max, self.levels.get_mut(below + 1)) {
                level.push(max);
            }
            complete /= FAN_OUT;
            below += 1;
        }
    }

    /// Returns the first moment with the maximum of a range of blocks, and this maximum.
    fn max_of_blocks(&self, blocks: Range<usize>) -> Option<(Moment, i64)> {
        let mut best = None;
        let mut index = blocks.start;
        while index < blocks.end {
            // Largest complete node that starts here and ends within the range.
            let (mut level, mut width) = (0, 1);
            while index.is_multiple_of(width * FAN_OUT)
                && index + width * FAN_OUT <= blocks.end
                && self.levels.get(level + 1).is_some_and(|above| index / (width * FAN_OUT) < above.total.len())
            {
                level += 1;
                width *= FAN_OUT;
            }
            let node = index / width;
            best = max_of(best, self.levels.get(level).and_then(|nodes| nodes.max_of_nodes(node..node + 1)));
            index += width;
        }
        best
    }
}

impl Maxima {
    fn push(&mut self, (moment, total): (Moment, i64)) {
        self.total.push(total);
        self.moment.push(moment.0);
    }

    fn raise_last(&mut self, total: i64, moment: u32) {
        let Some(last) = self.total.len().checked_sub(1) else { return };
        if self.total.get(last).is_some_and(|highest| total > highest) {
            self.total.set(last, total);
            self.moment.set(last, moment);
        }
    }

    fn max_of_nodes(&self, nodes: Range<usize>) -> Option<(Moment, i64)> {
        let maxima = self.moment.range(nodes.clone()).zip(self.total.range(nodes));
        maxima.fold(None, |best, (moment, total)| max_of(best, Some((Moment(moment), total))))
    }
}

impl<'a> Curve<'a> {
    /// Creates a curve. `change` must return the values that were pushed to `totals`, event by event.
    pub fn new(totals: &'a Totals, change: &'a dyn Fn(EventIdx) -> i64) -> Curve<'a> {
        Curve { totals, change }
    }

    /// Returns the number of moments, which is the number of events plus one.
    pub fn moment_count(&self) -> u32 {
        self.totals.moments
    }

    /// Returns the total at `moment`, clamped to the last moment.
    pub fn at(&self, moment: Moment) -> i64 {
        self.scan(moment.0..moment.0.saturating_add(1)).map_or(self.totals.last, |(_, total)| total)
    }

    /// Returns the first moment of the range `moments` with the maximum, and the total there. Returns `None` for an
    /// empty range.
    pub fn max_in(&self, moments: Range<u32>) -> Option<(Moment, i64)> {
        let (start, end) = (moments.start, moments.end.min(self.totals.moments));
        let first_whole = start.div_ceil(BLOCK_MOMENTS);
        // The last block may be short. It counts as complete if the range reaches the last moment.
        let end_whole = if end == self.totals.moments { end.div_ceil(BLOCK_MOMENTS) } else { end / BLOCK_MOMENTS };
        if first_whole >= end_whole {
            let border = first_whole.saturating_mul(BLOCK_MOMENTS).clamp(start, end.max(start));
            return max_of(self.scan(start..border), self.scan(border..end));
        }
        let head = self.scan(start..first_whole * BLOCK_MOMENTS);
        let whole = self.totals.max_of_blocks(first_whole as usize..end_whole as usize);
        let tail = self.scan(end_whole.saturating_mul(BLOCK_MOMENTS)..end);
        max_of(max_of(head, whole), tail)
    }

    /// Same as [`Curve::max_in`] for a range inside one block, by recomputing every moment.
    fn scan(&self, moments: Range<u32>) -> Option<(Moment, i64)> {
        let end = moments.end.min(self.totals.moments);
        if moments.start >= end {
            return None;
        }
        let block = moments.start / BLOCK_MOMENTS;
        let mut total = self.totals.block_start.get(block as usize)?;
        let mut best = None;
        for moment in block * BLOCK_MOMENTS..end {
            if let Some(event) = Moment(moment).event().filter(|_| moment > block * BLOCK_MOMENTS) {
                total = total.saturating_add((self.change)(event));
            }
            if moment >= moments.start {
                best = max_of(best, Some((Moment(moment), total)));
            }
        }
        best
    }
}

/// Returns the pair with the higher total, or `first` if the totals are equal.
fn max_of(first: Option<(Moment, i64)>, second: Option<(Moment, i64)>) -> Option<(Moment, i64)> {
    match (first, second) {
        (Some(a), Some(b)) => Some(if b.1 > a.1 { b } else { a }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/totals.rs"]
mod tests;
