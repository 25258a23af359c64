//! Totals of many ranges of the trace, computed in one pass over the events.
//! [`RangeFacts`](protocol::RangeFacts) has the same totals for a single range.
//!
//! The starts and ends of all ranges are called borders. They divide the trace into stretches. The pass has a stack of
//! stretches, each with a higher maximum than all later ones, which yields the peak of every range that ends at the
//! current moment. To find the bytes that stay live, a Fenwick tree sums live bytes by the stretch of their allocation.

use crate::radix::Radix;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::DeviceHistory;
use protocol::Span;

/// Totals of a range, in requested bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RangeTotals {
    /// Live bytes at the start of the range. `at_end` has the live bytes at its end.
    pub(super) at_begin: u64,
    pub(super) at_end: u64,
    /// Maximum of live bytes in the range, including both ends. `peak_moment` is the first moment with this value.
    pub(super) peak: u64,
    pub(super) peak_moment: u32,
    pub(super) allocated: u64,
    pub(super) freed: u64,
    /// Bytes that are allocated in the range and still live at its end. `never_freed` counts only bytes that are live
    /// at the end of the trace.
    pub(super) kept: u64,
    pub(super) never_freed: u64,
}

/// Totals of many ranges, computed in one pass over the events.
#[derive(Default)]
pub(super) struct Ranges {
    spans: Vec<Span>,
    /// Totals of each range. Until the pass reaches the end of a range, `allocated` and `freed` are the (wrapping)
    /// totals from the start of the trace to the start of the range.
    facts: Vec<RangeTotals>,
    /// Sorts the ranges by their ends. `by_end` has the result.
    ends: Radix,
    by_end: Vec<u32>,
    started: usize,
    ended: usize,
    finalized: usize,
    state: PassState,
    /// Moments up to the current one at which a range starts or ends, in ascending order.
    borders: Vec<u32>,
    /// Stretches that have a higher maximum than all later ones. Each is the index of the border at its start, the
    /// maximum of live bytes, and the moment of the maximum.
    maxima: Vec<(u32, i64, u32)>,
    live_by_stretch: FenwickTree,
}

/// Totals up to the current moment of the pass.
#[derive(Default)]
struct PassState {
    moment: u32,
    total: i64,
    allocated: u64,
    freed: u64,
    /// Maximum of live bytes since the last border, and the moment of the maximum.
    max: (i64, u32),
}

impl Ranges {
    /// Prepares to compute the totals of these ranges. They must be sorted by start and lie within the trace.
    pub(super) fn new(spans: Vec<Span>) -> Ranges {
        let (facts, ends) = (Vec::with_capacity(spans.len()), Radix::with_capacity(spans.len()));
        let mut live_by_stretch = FenwickTree(Vec::with_capacity(2 * spans.len() + 2));
        live_by_stretch.0.extend([0; 2]);
        Ranges { spans, facts, ends, live_by_stretch, ..Ranges::default() }
    }

    /// Continues processing the events. Once this has returned `Ok`, [`Ranges::facts`] is complete.
    pub(super) fn step(&mut self, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        if self.spans.is_empty() {
            return Ok(());
        }
        while self.ends.len() < self.spans.len() && self.by_end.is_empty() {
            slice.tick()?;
            let range = self.ends.len() as u32;
            self.ends.push(self.span(range).to.into(), range);
            // Resized with the loop, because resizing at once could exceed the time slice.
            self.facts.push(RangeTotals::default());
            self.live_by_stretch.0.extend([0; 2]);
        }
        if self.by_end.is_empty() {
            self.ends.step(slice)?;
            self.by_end = std::mem::take(&mut self.ends).into_ids();
            self.state.total = history.drawn_at(Moment::START);
            self.state.max = (self.state.total, 0);
        }
        while self.finalized < self.spans.len() {
            slice.tick()?;
            self.advance(history, slice)?;
        }
        Ok(())
    }

    /// Appends the totals of a range that were computed elsewhere.
    pub(super) fn push(&mut self, facts: RangeTotals) {
        self.facts.push(facts);
    }

    /// Returns the totals of each range. They are complete once [`Ranges::step`] has returned `Ok`.
    pub(super) fn facts(&self) -> &[RangeTotals] {
        &self.facts
    }

    /// Returns the range with the index `range`, and its totals.
    pub(super) fn range(&self, range: u32) -> (Span, RangeTotals) {
        (self.span(range), self.facts.get(range as usize).copied().unwrap_or_default())
    }

    fn span(&self, range: u32) -> Span {
        self.spans.get(range as usize).copied().unwrap_or(Span { from: 0, to: 0 })
    }

    /// Advances the pass by one action: adds a border, starts or ends a range, or processes the events up to the next
    /// start or end.
    fn advance(&mut self, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let (now, count) = (self.state.moment, history.event_count());
        let begin = self.spans.get(self.started).map_or(count, |span| span.from);
        let last = self.by_end.get(self.ended).copied();
        let end = last.map_or(count, |range| self.span(range).to);
        let begins = self.started < self.spans.len() && begin <= now;
        let ends = last.filter(|_| end <= now);
        if (begins || ends.is_some()) && self.borders.last() != Some(&now) {
            self.pass_border();
        } else if begins {
            let PassState { total, allocated, freed, .. } = self.state;
            if let Some(facts) = self.facts.get_mut(self.started) {
                *facts = RangeTotals { at_begin: positive(total), allocated, freed, ..RangeTotals::default() };
            }
            self.started += 1;
        } else if let Some(range) = ends {
            self.end_range(range);
            self.ended += 1;
        } else if now < count {
            for _ in now..begin.min(end).min(count) {
                slice.tick()?;
                self.pass_event(history);
            }
        } else {
            let closed = self.finalized as u32;
            let Span { from, to } = self.span(closed);
            let never_freed = self
                .live_by_stretch
                .prefix_sum(self.border_index(to))
                .saturating_sub(self.live_by_stretch.prefix_sum(self.border_index(from)));
            self.facts.get_mut(self.finalized).into_iter().for_each(|facts| facts.never_freed = clamped(never_freed));
            self.finalized += 1;
        }
        Ok(())
    }

    fn pass_border(&mut self) {
        let (total, moment) = self.state.max;
        if let Some(begin) = self.borders.len().checked_sub(1) {
            while self.maxima.last().is_some_and(|&(_, lower, _)| lower < total) {
                self.maxima.pop();
            }
            self.maxima.push((begin as u32, total, moment));
        }
        self.borders.push(self.state.moment);
        self.state.max = (self.state.total, self.state.moment);
    }

    fn end_range(&mut self, range: u32) {
        let Span { from, .. } = self.span(range);
        let border = self.border_index(from);
        let after = self.maxima.partition_point(|&(begin, ..)| begin < border);
        let (_, peak, peak_moment) =
            self.maxima.get(after).copied().unwrap_or((border, self.state.total, self.state.moment));
        let all = u32::try_from(self.borders.len()).unwrap_or(u32::MAX);
        let kept = self.live_by_stretch.prefix_sum(all).saturating_sub(self.live_by_stretch.prefix_sum(border));
        let PassState { total, allocated, freed, .. } = self.state;
        if let Some(facts) = self.facts.get_mut(range as usize) {
            facts.at_end = positive(total);
            (facts.peak, facts.peak_moment) = (positive(peak), peak_moment);
            facts.allocated = allocated.wrapping_sub(facts.allocated);
            facts.freed = freed.wrapping_sub(facts.freed);
            facts.kept = clamped(kept);
        }
    }

    fn pass_event(&mut self, history: &DeviceHistory) {
        let event = EventIdx(self.state.moment);
        self.state.moment += 1;
        let Some((id, is_alloc)) = history.lifetime_change(event) else { return };
        let (allocated_at, _, size) = history.allocations.span(id);
        let change = i64::try_from(size).unwrap_or(i64::MAX);
        let stretch = if is_alloc { self.borders.len() as u32 } else { self.borders_before(allocated_at) };
        let now = &mut self.state;
        if is_alloc {
            now.total = now.total.saturating_add(change);
            now.allocated = now.allocated.wrapping_add(size);
            self.live_by_stretch.add(stretch, i128::from(size));
        } else {
            now.total = now.total.saturating_sub(change);
            now.freed = now.freed.wrapping_add(size);
            // Allocations from before recording belong to no stretch.
            if allocated_at > 0 {
                self.live_by_stretch.add(stretch, -i128::from(size));
            }
        }
        if now.total > now.max.0 {
            now.max = (now.total, now.moment);
        }
    }

    /// Returns the index of the border at a moment. Allocations made after the border belong to stretches with a higher
    /// index.
    fn border_index(&self, moment: u32) -> u32 {
        self.borders_before(moment)
    }

    fn borders_before(&self, moment: u32) -> u32 {
        self.borders.partition_point(|&border| border < moment) as u32
    }
}

fn positive(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

fn clamped(bytes: i128) -> u64 {
    u64::try_from(bytes.max(0)).unwrap_or(u64::MAX)
}

/// Fenwick tree, which computes prefix sums in logarithmic time.
#[derive(Default)]
struct FenwickTree(Vec<i128>);

impl FenwickTree {
    fn add(&mut self, index: u32, number: i128) {
        let mut node = index as usize + 1;
        while let Some(sum) = self.0.get_mut(node) {
            *sum += number;
            node += node & node.wrapping_neg();
        }
    }

    /// Returns the sum of all items up to and including `index`.
    fn prefix_sum(&self, index: u32) -> i128 {
        let mut node = (index as usize + 1).min(self.0.len().saturating_sub(1));
        let mut sum = 0;
        while node > 0 {
            sum += self.0.get(node).copied().unwrap_or(0);
            node &= node - 1;
        }
        sum
    }
}
