//! Search over all allocations of a device, in time slices: by query, or by a common stack.
//!
//! A query that refers to frames examines frames and stacks first ([`StackMatch`]), then every allocation. Other
//! queries examine only the allocations.

use super::open::OpenFile;
use super::origin::{has_labels, has_stack, is_free_stack, is_held_by, tensors_of};
use super::search_matches::SearchMatches;
use super::side::Side;
use super::stack_match::StackMatch;
use super::stack_trees::Population;
use analysis::IdSet;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::{Direction, Match, PlotSettings, Query, Scope, SearchStart, Tally};
use std::ops::Range;

/// Criterion that the allocations found by a search must meet.
pub(super) enum SearchTarget {
    Query(Query),
    Stack(StackId),
    Nothing,
}

/// A search over the allocations of a device, in time slices.
pub(super) struct Search {
    device: i64,
    target: SearchTarget,
    stacks: StackMatch,
    /// Index of the next allocation to examine.
    next: usize,
    matches: IdSet,
    tally: Tally,
}

impl Search {
    pub(super) fn new(device: i64, target: SearchTarget) -> Search {
        let (stacks, matches) = (StackMatch::default(), IdSet::default());
        Search { device, target, stacks, next: 0, matches, tally: Tally::default() }
    }

    /// Continues examining allocations. Returns the tally of the matches once all are examined. The tally is empty if
    /// the file has no such device.
    pub(super) fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Tally> {
        if file.history(self.device).is_none() {
            return Ok(self.tally);
        }
        if let SearchTarget::Query(query) = &self.target {
            file.match_stacks(&mut self.stacks, query, slice)?;
        }
        let Some(side) = file.side(self.device) else { return Ok(self.tally) };
        let count = side.history.allocations.len();
        if self.next == 0 {
            self.matches = IdSet::with_bound(count);
        }
        while let Some(ids) = slice.next_range(&mut self.next, count, 1)? {
            self.examine(side, ids);
        }
        Ok(self.tally)
    }

    /// Stores the matches of the finished search under `serial`. They replace the matches of the previous search.
    pub(super) fn store_as(self, file: &mut OpenFile, serial: u32) {
        let Search { device, matches, stacks: StackMatch { frames, .. }, .. } = self;
        file.found = Some(SearchMatches { serial, device, matches, frames });
        file.stack_trees.drop_search_results();
    }

    /// Returns the matches of the finished search.
    pub(super) fn into_matches(self) -> IdSet {
        self.matches
    }

    fn examine(&mut self, side: Side<'_>, ids: Range<usize>) {
        let peak = u32::try_from(side.history.numbers.peak_event + 1).unwrap_or(0);
        for (index, (allocated_at, freed_at, size)) in ids.clone().zip(side.history.allocations.spans_in(ids)) {
            let id = AllocationId(index as u32);
            if !self.is_match(side, id, size) {
                continue;
            }
            self.matches.insert(id.0);
            let tally = &mut self.tally;
            tally.count += 1;
            tally.requested = tally.requested.saturating_add(size);
            if (allocated_at..freed_at).contains(&peak) {
                tally.peak_count += 1;
                tally.peak_requested = tally.peak_requested.saturating_add(size);
            }
        }
    }

    fn is_match(&self, side: Side<'_>, id: AllocationId, size: u64) -> bool {
        match &self.target {
            SearchTarget::Nothing => false,
            SearchTarget::Stack(stack) => has_stack(side.snapshot(), side.history, id, *stack),
            SearchTarget::Query(query) => matches_target(side, id, size, query, &self.stacks),
        }
    }
}

/// Returns whether a query matches an allocation of `size` bytes. `matched` has the stacks and labels that match the
/// query.
pub(super) fn matches_target(side: Side<'_>, id: AllocationId, size: u64, query: &Query, matched: &StackMatch) -> bool {
    let Side { file, history } = side;
    match query {
        Query::Number(number) => id.0 == *number,
        Query::Size(min, max) => (*min..=*max).contains(&size),
        Query::Address(address) => {
            let offset = address.checked_sub(history.allocations.address(id));
            offset.is_some_and(|offset| offset < size.max(1)) && !history.allocations.is_unexplained(id)
        }
        Query::Addresses(from, to) => {
            let address = history.allocations.address(id);
            address < *to && address.saturating_add(size.max(1)) > *from && !history.allocations.is_unexplained(id)
        }
        Query::Freed(freed) => history.allocations.freed_at(id).is_some() == *freed,
        Query::Category(name) => file.groups.categories.has_name(history, id, name),
        Query::Metadata(_) => has_labels(history, id, &matched.labels),
        Query::Stream(stream) => side.stream(id) == Some(*stream),
        Query::Pool(pool) => side.pool(id) == Some(*pool),
        Query::Frame(matcher) => {
            matched.stacks.contains(side.stack(id).0)
                || tensors_of(&file.snapshot, history, id)
                    .iter()
                    .any(|tensor| matcher.matches(&file.snapshot.recorder.name(tensor)))
        }
        Query::HeldBy(matcher) => is_held_by(&file.snapshot, history, id, matcher),
        Query::Site(_) => {
            let stack = side.stack(id);
            matched.stacks.contains(stack.0) && !is_free_stack(history, id, stack)
        }
    }
}

/// Returns the next or previous match in a scope, starting at `begin` and wrapping around at the ends. Returns `None`
/// if the scope has no match, or if `find` is not the serial of the latest finished search.
pub(super) fn find_match(
    file: &mut OpenFile,
    (search_serial, scope): (u32, Scope),
    begin: SearchStart,
    direction: Direction,
    plot_settings: PlotSettings,
    window: [u32; 2],
) -> Option<Match> {
    let found = file.found.as_ref().filter(|found| found.serial == search_serial)?;
    let (device, matches) = (found.device, &found.matches);
    let history = file.history(device)?;
    let (allocations, population) = (&history.allocations, Population::new(history, scope));
    let first_from = |moment: u32| match moment {
        0 => 0,
        moment => allocations.early_count() as u32 + allocations.allocated_by(moment - 1),
    };
    let is_next = direction == Direction::Next;
    let from = match begin {
        SearchStart::Allocation(id) => id.saturating_add(is_next.into()),
        SearchStart::Moment(moment) => first_from(moment),
    };
    // From `from` to the end, then from the other end.
    let matches_from = |from: u32| {
        let first = if is_next { matches.next_from(from) } else { matches.last_below(from) };
        std::iter::successors(first, |&id| if is_next { matches.next_from(id + 1) } else { matches.last_below(id) })
    };
    let mut candidates = matches_from(from).chain(matches_from(if is_next { 0 } else { u32::MAX }));
    let allocation = candidates.find(|&id| population.contains(history, AllocationId(id)))?;
    let (index, id) = (matches.rank(allocation), AllocationId(allocation));
    let (allocated_at, freed_at, requested) = allocations.span(id);
    let [from, to] = window;
    let moment = Moment(if allocated_at < to && freed_at > from { allocated_at.max(from) } else { allocated_at });
    let lowest_byte = file.height_of(device, plot_settings, id, moment);
    Some(Match { allocation, index, requested, lowest_byte: lowest_byte.unwrap_or(0) })
}
