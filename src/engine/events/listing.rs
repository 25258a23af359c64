//! List of the events that pass a filter. Without a filter, the list needs no scan of the events.

use crate::open::OpenFile;
use crate::origin::{has_labels, is_held_by};
use crate::side::Side;
use crate::stack_match::StackMatch;
use analysis::event_terms::{EventTerm, EventTerms, NamedObject};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::EventIdx;
use history::replay::{DeviceHistory, Subject};
use history::snapshot::Action;
use protocol::{EventsFilter, Query};

/// List of a device's events that pass a filter.
pub(super) struct Listing {
    device: i64,
    filter: EventsFilter,
    /// Parsed text of the filter. `None` if the text is invalid.
    terms: Option<Vec<(EventTerm, StackMatch)>>,
    /// Range of events that are examined: start and end (exclusive).
    range: [u32; 2],
    /// Indices of the events that pass the filter. `None` if all events pass.
    passed: Option<Column<u32>>,
    next: usize,
}

base::heap_bytes!(Listing: passed, [[terms]]);

impl Listing {
    pub(super) fn new(file: &OpenFile, device: i64, filter: EventsFilter) -> Listing {
        let count = file.history(device).map_or(0, DeviceHistory::event_count);
        let to = filter.range.map_or(count, |[_, to]| to.min(count));
        let from = filter.range.map_or(0, |[from, _]| from);
        let from = from.max(file.history(device).map_or(0, |history| history.events.first())).min(to);
        let terms = EventTerms::parse(&filter.text).ok();
        let terms = terms.map(|it| it.terms.into_iter().map(|term| (term, StackMatch::default())).collect::<Vec<_>>());
        let is_all = filter.actions == 0 && terms.as_ref().is_some_and(Vec::is_empty);
        Listing { device, filter, terms, range: [from, to], passed: (!is_all).then(Column::new), next: from as usize }
    }

    /// Returns whether the list was built for this device and filter.
    pub(super) fn is_for(&self, device: i64, filter: &EventsFilter) -> bool {
        self.device == device && self.filter == *filter
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> u32 {
        let [from, to] = self.range;
        self.passed.as_ref().map_or(to - from, |passed| passed.len() as u32)
    }

    /// Returns the index of the event in a row. `None` if there is no such row.
    pub(super) fn event(&self, row: u32) -> Option<u32> {
        let [from, to] = self.range;
        match &self.passed {
            Some(passed) => passed.get(row as usize),
            None => from.checked_add(row).filter(|&event| event < to),
        }
    }

    /// Returns the row of an event. If the event is not listed, returns the row of the next listed event, or the last
    /// row if there is none.
    pub(super) fn row_of(&self, event: u32) -> Option<u32> {
        let last = self.len().checked_sub(1)?;
        let row = match &self.passed {
            None => event.saturating_sub(self.range[0]),
            Some(passed) => {
                let (mut from, mut to) = (0, passed.len());
                while from < to {
                    let middle = usize::midpoint(from, to);
                    if passed.at(middle) < event { from = middle + 1 } else { to = middle }
                }
                from as u32
            }
        };
        Some(row.min(last))
    }

    /// Continues filtering the events until all are examined or the time slice is used up.
    pub(super) fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult {
        for (term, stacks) in self.terms.iter_mut().flatten() {
            if let EventTerm::Query(query) = term {
                file.match_stacks(stacks, query, slice)?;
            }
        }
        let (Some(terms), Some(passed), Some(side)) = (&self.terms, &mut self.passed, file.side(self.device)) else {
            return Ok(());
        };
        while let Some(part) = slice.next_range(&mut self.next, self.range[1] as usize, 1)? {
            for event in part.map(|event| event as u32) {
                let bit = EventsFilter::bit(side.history.events.action(event));
                if (self.filter.actions == 0 || self.filter.actions & bit != 0)
                    && terms.iter().all(|(term, stacks)| term_matches(side, event, term, stacks))
                {
                    passed.push(event);
                }
            }
        }
        Ok(())
    }
}

fn term_matches(side: Side<'_>, event: u32, term: &EventTerm, stacks: &StackMatch) -> bool {
    let action = side.history.events.action(event);
    match term {
        EventTerm::Actions(bits) => bits & EventsFilter::bit(action) != 0,
        EventTerm::Versioned(name) => {
            let has_object = match side.history.events.subject(event) {
                Subject::Note(_) => false,
                Subject::Segment(_) => name.object != NamedObject::Block,
                Subject::Traced(_) | Subject::Early(_) => name.object != NamedObject::Segment,
            };
            has_object
                && side.history.address_and_size(EventIdx(event)).0 == name.address
                && side.version_of(event) == name.version
        }
        EventTerm::Query(query) => query_matches(side, (event, action), query, stacks),
    }
}

fn query_matches(side: Side<'_>, (event, action): (u32, Action), query: &Query, stacks: &StackMatch) -> bool {
    let Side { file, history } = side;
    match query {
        Query::Number(number) => history.allocation_of(EventIdx(event)).is_some_and(|id| id.0 == *number),
        Query::Size(min, max) => {
            let size = history.address_and_size(EventIdx(event)).1;
            (action.requires_address() || action == Action::Oom) && (*min..=*max).contains(&size)
        }
        Query::Address(address) => {
            let (from, size) = history.address_and_size(EventIdx(event));
            action.requires_address() && address.checked_sub(from).is_some_and(|offset| offset < size.max(1))
        }
        Query::Addresses(from, to) => {
            let (address, size) = history.address_and_size(EventIdx(event));
            action.requires_address() && address < *to && address.saturating_add(size.max(1)) > *from
        }
        Query::Freed(freed) => {
            let allocation = history.allocation_of(EventIdx(event));
            allocation.is_some_and(|id| history.allocations.freed_at(id).is_some() == *freed)
        }
        Query::Category(name) => {
            let allocation = history.allocation_of(EventIdx(event));
            allocation.is_some_and(|id| file.groups.categories.has_name(history, id, name))
        }
        Query::HeldBy(matcher) => {
            let allocation = history.allocation_of(EventIdx(event));
            allocation.is_some_and(|id| is_held_by(&file.snapshot, history, id, matcher))
        }
        Query::Stream(stream) => side.event_stream(event) == Some(*stream),
        Query::Pool(pool) => side.event_pool(event) == Some(*pool),
        Query::Metadata(_) => {
            let allocation = history.allocation_of(EventIdx(event));
            stacks.labels.contains(history.events.labels(event).0)
                || allocation.is_some_and(|id| has_labels(history, id, &stacks.labels))
        }
        Query::Frame(_) | Query::Site(_) => stacks.stacks.contains(side.event_stack(event).0),
    }
}
