//! Stranded bytes: memory that was reserved and free while the driver was asked for more.
//!
//! ```text
//! stranded = reserved − live (rounded) − awaiting free, at the moment before a driver request
//! ```
//! One pass over the recorded events, without a simulation. Each free range stores the number of driver requests at the
//! time it became free. When it is used again, the requests since then found it free. A range costs O(log n).

mod curve;
mod frees;
mod headline;
mod kinds;
mod memory;
mod request;
mod start;

use crate::device::SizeSource;
use crate::side::Side;
use base::column::Column;
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use curve::Changes;
pub(crate) use curve::StrandedCurve;
pub(crate) use frees::Frees;
use frees::{Joining, Stacks, charge, frees_of};
pub(crate) use headline::{Headline, KindHoles, Pins};
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::Action;
pub(crate) use kinds::Reason;
use memory::{Extent, Memory};
pub(crate) use request::DriverRequest;
use start::{Start, Tails};

/// Number of events after a driver request that are searched for the request of the program that caused it.
const MAX_SEARCHED_EVENTS: u32 = 64;

/// Pass over the events of a device.
pub(crate) struct Ledger {
    /// Event of the driver request for the headline.
    headline_event: Option<u32>,
    pub(crate) requests: Column<DriverRequest>,
    pub(crate) headline: Option<Headline>,
    pub(crate) frees: Vec<Frees>,
    changes: Changes,
    work: Work,
}

base::heap_bytes!(Ledger: requests, frees);

/// Replayed state.
struct State {
    memory: Memory,
    tails: Tails,
    /// Next range in the order of mapping.
    next_range: u32,
    /// Indices into [`Ledger::frees`] by stack.
    stacks: Stacks,
}

/// Current pass.
enum Work {
    Start(Start),
    /// Replays the events from this one on.
    Events(u32, State),
    /// Ends the pieces that are left.
    Rest(State),
    Sites(Joining),
    Done,
}

impl Ledger {
    /// Creates a ledger. `headline_event` is the driver request whose holes are listed.
    pub(crate) fn new(headline_event: Option<u32>) -> Ledger {
        let (requests, headline, frees, changes) = Default::default();
        Ledger { headline_event, requests, headline, frees, changes, work: Work::Start(Start::default()) }
    }

    /// Returns the stranded bytes over the trace. The pass must be done.
    pub(crate) fn into_curve(self) -> StrandedCurve {
        self.changes.curve()
    }

    /// Continues the pass until it is done.
    pub(crate) fn step(&mut self, side: Side<'_>, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        loop {
            let work = std::mem::replace(&mut self.work, Work::Done);
            let (next, result) = match work {
                Work::Start(mut start) => match start.step(side, lives, slice) {
                    Ok((memory, tails)) => {
                        let next_range = lives.ranges.early_count() as u32;
                        let state = State { memory, tails, next_range, stacks: Stacks::default() };
                        (Work::Events(side.history.events.first(), state), Ok(()))
                    }
                    Err(late) => (Work::Start(start), Err(late)),
                },
                Work::Events(mut next, mut state) => {
                    let result = self.replay((side, lives), &mut next, &mut state, slice);
                    (if result.is_ok() { Work::Rest(state) } else { Work::Events(next, state) }, result)
                }
                Work::Rest(State { mut memory, mut stacks, tails, next_range }) => {
                    let Ledger { requests, frees, changes, .. } = self;
                    let mut charge = |bytes, piece: &Extent| {
                        charge(side, requests, (frees, &mut stacks), changes, (bytes, piece));
                    };
                    let mut left = STEPS_PER_CHECK;
                    while left > 0 && memory.take_first(&mut charge).is_some() {
                        left -= 1;
                    }
                    let rest = match left {
                        0 => Work::Rest(State { memory, tails, next_range, stacks }),
                        _ => Work::Sites(Joining::default()),
                    };
                    (rest, slice.check())
                }
                Work::Sites(mut joining) => {
                    let result = joining.step(&mut self.frees, side.snapshot(), slice);
                    (if result.is_ok() { Work::Done } else { Work::Sites(joining) }, result)
                }
                Work::Done => return Ok(()),
            };
            self.work = next;
            result?;
        }
    }

    /// Replays the events from `next` on.
    fn replay(
        &mut self,
        (side, lives): (Side<'_>, &SegmentLifetimes),
        next: &mut u32,
        state: &mut State,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while *next < side.history.event_count() {
            slice.spend(4)?;
            let event = EventIdx(*next);
            state.memory.event = event.0;
            let action = side.history.events.action(event.0);
            if matches!(action, Action::SegmentAlloc | Action::SegmentMap) {
                self.add_request((side, lives), event, state, slice)?;
            }
            *next += 1;
            let State { memory, tails, stacks, next_range } = state;
            let Ledger { requests, frees, changes, .. } = self;
            let mut charge = |bytes, piece: &Extent| {
                charge(side, requests, (frees, stacks), changes, (bytes, piece));
            };
            match action {
                Action::SegmentAlloc | Action::SegmentMap => {
                    while let Some((range, bounds)) = range_mapped_at(lives, *next_range, Moment::after(event).0) {
                        *next_range += 1;
                        let kind = lives.kind_index(range).unwrap_or(0);
                        memory.map(bounds, kind, lives.starts_segment(range), &mut charge);
                    }
                }
                Action::SegmentFree | Action::SegmentUnmap => {
                    let (address, size) = side.history.address_and_size(event);
                    memory.unmap([address, address.saturating_add(size)], &mut charge);
                }
                _ => match side.history.lifetime_change(event) {
                    Some((id, true)) => {
                        let (size, source) = side.device_data().rounded_size(id);
                        let tail = |kind: u32| tails.limit(lives.kinds().get(kind as usize), size);
                        let tail = (source == SizeSource::LowerBound).then_some(&tail as &dyn Fn(u32) -> u64);
                        memory.allocate(id.0, [side.history.allocations.address(id), size], tail, &mut charge);
                    }
                    Some((id, false)) => memory.release(side.history.allocations.address(id), id.0),
                    None => {}
                },
            }
        }
        Ok(())
    }

    /// Adds the driver request at `event`, before its memory is mapped. For the headline request, lists the holes.
    fn add_request(
        &mut self,
        (side, lives): (Side<'_>, &SegmentLifetimes),
        event: EventIdx,
        State { memory, next_range, stacks, .. }: &mut State,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Some((range, _)) = range_mapped_at(lives, *next_range, Moment::after(event).0) else { return Ok(()) };
        let kind = lives.kind_index(range).unwrap_or(0);
        let (index, cause) = (memory.requests, cause_of(side.history, event));
        if self.headline_event == Some(event.0) {
            let new = || Headline::new(side, index, kind);
            let headline = self.headline.get_or_insert_with(new);
            for (&begin, extent) in memory.extents.range(headline.next..) {
                slice.tick()?;
                let (end, last) = headline.last();
                let continues = memory.continues(end, last, (begin, extent));
                headline.add((side, &memory.kinds), (begin, extent), continues);
                let sums = (&mut self.frees, &mut *stacks);
                if !extent.is_live()
                    && let Some(sum) = frees_of(side, sums, extent.allocation)
                {
                    sum.add_hole(extent.end - begin, extent);
                }
            }
            headline.end_segment(side, &memory.kinds);
        }
        self.requests.push(DriverRequest { event: event.0, cause, kind, stranded: memory.kinds.unusable(kind) });
        memory.requests += 1;
        // The rest of the new memory becomes free when the request is served.
        memory.event = cause;
        Ok(())
    }
}

/// Returns a range that an event mapped just before `moment`, and its bounds. Ranges are in the order of mapping.
fn range_mapped_at(lives: &SegmentLifetimes, next: u32, moment: u32) -> Option<(AllocationId, [u64; 2])> {
    let id = AllocationId(next);
    if next as usize >= lives.ranges.len() || lives.ranges.allocated_at(id).0 != moment {
        return None;
    }
    let address = lives.ranges.address(id);
    Some((id, [address, address.saturating_add(lives.ranges.size(id))]))
}

/// Returns the event of the allocation or OOM that a driver request serves, or the event itself if there is none.
fn cause_of(history: &DeviceHistory, event: EventIdx) -> u32 {
    let end = history.event_count().min(event.0.saturating_add(MAX_SEARCHED_EVENTS));
    let mut later = (event.0..end).map(|later| (later, history.events.action(later)));
    let next = later.find(|(_, action)| matches!(action, Action::Alloc | Action::Oom | Action::FreeRequested));
    next.filter(|(_, action)| *action != Action::FreeRequested).map_or(event.0, |(cause, _)| cause)
}
