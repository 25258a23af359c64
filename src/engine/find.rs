//! Searches over all allocations of a device, in slices: what a query finds, and what shares a stack.
//!
//! A query about frames looks at frames and stacks first ([`StackMatch`]), then at every allocation; all others only at the allocations.

use super::answers::Population;
use super::found::Found;
use super::open::OpenFile;
use super::origin::{has_stack, is_of_free, stack_of};
use super::protocol::{Answer, Begin, Direction, Looks, Match, Query, Reply, Scope, Tally};
use super::stack_match::StackMatch;
use analysis::IdSet;
use base::units::Moment;
use history::replay::{AllocationId, DeviceHistory, Source};
use history::snapshot::StackId;
use std::collections::VecDeque;

/// Allocations between two questions for the time.
const ROWS_PER_CHECK: usize = 2048;

/// The searches that were asked for and are not done: one of each kind, the latest.
#[derive(Default)]
pub(super) struct Searches {
    query: Option<Box<Search>>,
    stack: Option<Box<Search>>,
}

impl Searches {
    /// A search by a query; it overtakes the one before.
    pub(super) fn find(&mut self, serial: u32, device: i64, query: &str) {
        // The page asks for what can be read; what can't finds nothing.
        let sought = Query::parse(query).map_or(Sought::Nothing, Sought::Query);
        self.query = Some(Box::new(Search::new(serial, device, sought)));
    }

    /// A count of what has this stack; it overtakes the one before.
    pub(super) fn count_stack(&mut self, serial: u32, device: i64, stack: u32) {
        self.stack = Some(Box::new(Search::new(serial, device, Sought::Stack(StackId(stack)))));
    }

    /// Works while there is time: `true` when nothing is left to do.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        if let Some(search) = &mut self.query {
            if !search.step(file, has_time) {
                return false;
            }
            let Search { serial, device, tally, .. } = **search;
            let matches = std::mem::take(&mut search.matches);
            let frames = std::mem::take(&mut search.stacks.frames);
            file.found = Some(Found { serial, device, matches, frames });
            file.answers.forget_found();
            replies.push_back(Reply::Answer { serial, answer: Answer::Find(tally) });
            self.query = None;
        }
        if let Some(search) = &mut self.stack {
            if !search.step(file, has_time) {
                return false;
            }
            replies.push_back(Reply::Answer { serial: search.serial, answer: Answer::SameStack(search.tally) });
            self.stack = None;
        }
        true
    }
}

/// What a search looks for.
enum Sought {
    Query(Query),
    Stack(StackId),
    Nothing,
}

/// One search.
struct Search {
    serial: u32,
    device: i64,
    sought: Sought,
    stacks: StackMatch,
    /// The allocation that is looked at next.
    next: usize,
    matches: IdSet,
    tally: Tally,
}

impl Search {
    fn new(serial: u32, device: i64, sought: Sought) -> Search {
        let (stacks, matches) = (StackMatch::default(), IdSet::default());
        Search { serial, device, sought, stacks, next: 0, matches, tally: Tally::default() }
    }

    /// `true` when done; without such a device, at once.
    fn step(&mut self, file: &mut OpenFile, has_time: &mut dyn FnMut() -> bool) -> bool {
        if file.history(self.device).is_none() {
            return true;
        }
        if let Sought::Query(query) = &self.sought
            && !self.stacks.step(file, query, has_time)
        {
            return false;
        }
        let Some(history) = file.history(self.device) else { return true };
        while !self.look_at_allocations(file, history) {
            if !has_time() {
                return false;
            }
        }
        true
    }

    fn look_at_allocations(&mut self, file: &OpenFile, history: &DeviceHistory) -> bool {
        let (count, next) = (history.allocations.len(), self.next);
        if next == 0 && !matches!(self.sought, Sought::Stack(_)) {
            self.matches = IdSet::below(count);
        }
        let peak = u32::try_from(history.numbers.peak_event + 1).unwrap_or(0);
        let end = count.min(next + ROWS_PER_CHECK);
        for (at, (born, died, size)) in (next..end).zip(history.allocations.spans_in(next..end)) {
            let id = AllocationId(at as u32);
            if !self.is_sought(file, history, id, size) {
                continue;
            }
            self.matches.insert(id.0);
            let tally = &mut self.tally;
            tally.count += 1;
            tally.requested = tally.requested.saturating_add(size);
            if (born..died).contains(&peak) {
                tally.peak_count += 1;
                tally.peak_requested = tally.peak_requested.saturating_add(size);
            }
        }
        self.next = end;
        end >= count
    }

    fn is_sought(&self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, size: u64) -> bool {
        match &self.sought {
            Sought::Nothing => false,
            Sought::Stack(stack) => has_stack(&file.snapshot, history, id, *stack),
            Sought::Query(query) => is_sought(file, history, id, size, query, &self.stacks.stacks),
        }
    }
}

/// Whether a query finds an allocation of this size, when it matches these stacks.
pub(super) fn is_sought(
    file: &OpenFile,
    history: &DeviceHistory,
    id: AllocationId,
    size: u64,
    query: &Query,
    stacks: &IdSet,
) -> bool {
    match query {
        Query::Number(number) => id.0 == *number,
        Query::Size(least, most) => (*least..=*most).contains(&size),
        Query::Address(address) => {
            let inside = address.checked_sub(history.allocations.address(id));
            inside.is_some_and(|inside| inside < size.max(1)) && history.allocations.source(id) != Source::Unexplained
        }
        Query::Category(name) => file.groups.categories.is_called(history, id, name),
        Query::Frame(_) => stacks.contains(stack_of(&file.snapshot, history, id).0),
        Query::Site(_) => {
            let stack = stack_of(&file.snapshot, history, id);
            stacks.contains(stack.0) && !is_of_free(history, id, stack)
        }
    }
}

/// The match of a scope after or before `begin`, the first after the last; `None` when there is none, or when the matches are those
/// of another search.
pub(super) fn step_to(
    file: &mut OpenFile,
    (find, scope): (u32, Scope),
    begin: Begin,
    direction: Direction,
    looks: Looks,
    window: [u32; 2],
) -> Option<Match> {
    let found = file.found.as_ref().filter(|found| found.serial == find)?;
    let (device, matches) = (found.device, &found.matches);
    let history = file.history(device)?;
    let (allocations, population) = (&history.allocations, Population::new(history, scope));
    let first_from = |moment: u32| match moment {
        0 => 0,
        moment => allocations.early() as u32 + allocations.born_by(moment - 1),
    };
    let is_next = direction == Direction::Next;
    let from = match begin {
        Begin::Allocation(id) => id.saturating_add(is_next.into()),
        Begin::Moment(moment) => first_from(moment),
    };
    // From `from` to the end, then from the other end.
    let way = |from: u32| {
        let first = if is_next { matches.next_from(from) } else { matches.last_below(from) };
        std::iter::successors(first, |&id| if is_next { matches.next_from(id + 1) } else { matches.last_below(id) })
    };
    let mut ways = way(from).chain(way(if is_next { 0 } else { u32::MAX }));
    let allocation = ways.find(|&id| population.holds(history, AllocationId(id)))?;
    let (place, id) = (matches.rank(allocation), AllocationId(allocation));
    let (born, died, requested) = allocations.span(id);
    let [from, to] = window;
    let moment = Moment(if born < to && died > from { born.max(from) } else { born });
    let lowest_byte = file.height_of(device, looks, id, moment);
    Some(Match { allocation, place, requested, lowest_byte: lowest_byte.unwrap_or(0) })
}
