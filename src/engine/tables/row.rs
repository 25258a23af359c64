//! Rows of a table, and the parts that cells are made of.

use crate::Side;
use crate::moments::elapsed_us;
use analysis::{Sites, frame_line};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, Allocations, Curve, Provenance, SegmentKind};
use history::snapshot::{Action, FrameId, Snapshot, StackId};
use protocol::{EventSpan, Grouping};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};

/// Call sites of the stacks of a file, computed on first use.
#[derive(Default)]
pub struct SiteCache(RefCell<Option<Sites>>);

impl SiteCache {
    /// Returns the call site of a stack (the innermost frame of the user's own code) as text: `file:line function`.
    pub fn text(&self, snapshot: &Snapshot, stack: StackId) -> Option<String> {
        let mut sites = self.0.borrow_mut();
        let frame = sites.get_or_insert_with(|| Sites::new(snapshot)).call_site(snapshot, stack)?;
        let mut line = String::new();
        frame_line::write(&mut line, snapshot, snapshot.frames.frame(frame));
        Some(line)
    }
}

/// A total of a device at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Requested bytes of live allocations.
    Live,
    /// Part of the live bytes that is awaiting free.
    AwaitingFree,
    Reserved,
}

/// The totals that were read last: for each quantity the device, the moment and the bytes. The total of the next moment
/// is computed from it by adding one event.
#[derive(Default)]
pub struct TotalsCache([Cell<Option<(i64, u32, i64)>>; 3]);

impl TotalsCache {
    /// Returns a total in bytes. Only corrupt files have negative ones.
    pub fn bytes(&self, side: Side<'_>, quantity: Quantity, moment: Moment) -> i64 {
        let history = side.history;
        let change = |event| match quantity {
            Quantity::Live => history.drawn_change(event),
            Quantity::AwaitingFree => history.awaiting_free_change(event),
            Quantity::Reserved => history.reserved_change(event),
        };
        let totals = match quantity {
            Quantity::Live => &history.drawn,
            Quantity::AwaitingFree => &history.awaiting_free,
            Quantity::Reserved => &history.reserved,
        };
        let slot = self.0.get(quantity as usize);
        let bytes = match slot.and_then(Cell::get) {
            Some((known, at, bytes)) if (known, at) == (history.device, moment.0) => bytes,
            Some((known, at, bytes)) if (known, at.checked_add(1)) == (history.device, Some(moment.0)) => {
                bytes.saturating_add(change(EventIdx(at)))
            }
            _ => Curve::new(totals, &change).at(moment),
        };
        slot.into_iter().for_each(|slot| slot.set(Some((history.device, moment.0, bytes))));
        bytes
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub side: Side<'a>,
    pub sites: &'a SiteCache,
    pub totals: &'a TotalsCache,
    /// Number that is added to the ids of stacks.
    pub first_stack: u64,
    /// Id of the allocation, segment or stack, event, or moment that the row describes.
    pub index: u32,
    /// Moment at which ages are measured.
    pub moment: Moment,
    /// Position in the stack, counted from the innermost frame, and frame that the row describes.
    pub frame: Option<(u32, FrameId)>,
}

impl<'a> Row<'a> {
    /// Creates the first row of a device.
    pub fn new(side: Side<'a>, sites: &'a SiteCache, totals: &'a TotalsCache) -> Row<'a> {
        Row { side, sites, totals, first_stack: 0, index: 0, moment: Moment(u32::MAX), frame: None }
    }

    /// Returns the row with another index.
    pub fn at(self, index: u32) -> Row<'a> {
        Row { index, ..self }
    }

    pub(crate) fn id(&self) -> AllocationId {
        AllocationId(self.index)
    }

    pub(super) fn group_label(&self, by: Grouping) -> String {
        self.side.group_label(by, self.side.group(by, self.id()))
    }

    pub(super) fn action(&self) -> Action {
        self.side.history.events.action(self.index)
    }

    pub(super) fn address_and_size(&self) -> (u64, u64) {
        self.side.history.address_and_size(EventIdx(self.index))
    }

    pub(super) fn is_own_code(&self, frame: FrameId) -> bool {
        let snapshot = self.side.snapshot();
        Sites::is_user(snapshot, snapshot.frames.frame(frame))
    }

    pub(crate) fn allocations(&self) -> &'a Allocations {
        &self.side.history.allocations
    }

    /// Returns the address ranges that were ever reserved.
    pub(super) fn ranges(&self) -> Option<&'a Allocations> {
        self.side.segment_lives().map(|lives| &lives.ranges)
    }

    pub(super) fn segment_kind(&self) -> Option<SegmentKind> {
        self.side.segment_lives()?.kind(self.id())
    }

    pub(super) fn segment_stack(&self) -> StackId {
        let lives = self.side.segment_lives();
        lives.map_or(StackId::NONE, |lives| lives.stack(self.side.snapshot(), self.side.history, self.id()))
    }

    pub(super) fn allocation_stack(&self) -> StackId {
        if self.allocations().is_unexplained(self.id()) { StackId::NONE } else { self.side.stack(self.id()) }
    }

    /// Returns the start address of the allocation. `None` for unexplained bytes.
    pub(super) fn allocation_address(&self) -> Option<u64> {
        (!self.allocations().is_unexplained(self.id())).then(|| self.allocations().address(self.id()))
    }

    /// Returns the event at which the allocation was made, if it was recorded.
    pub(crate) fn allocated_at(&self) -> Option<EventIdx> {
        match self.allocations().provenance(self.id()) {
            Provenance::AllocatedBy(event) => Some(event),
            _ => None,
        }
    }

    /// Returns the event that freed the allocation or segment.
    pub(crate) fn freed_at(&self, list: &Allocations) -> Option<EventIdx> {
        list.freed_at(self.id()).and_then(Moment::event)
    }

    /// Returns the time from the allocation to the free, or to the moment at which ages are measured if that is
    /// earlier.
    pub(super) fn age(&self) -> EventSpan {
        let (allocated_at, freed_at, _) = self.allocations().span(self.id());
        let until = self.moment.0.min(freed_at);
        self.span_to(Moment(until).event(), Some(until.saturating_sub(allocated_at)))
    }

    pub(super) fn lifetime(&self) -> EventSpan {
        let freed = self.freed_at(self.allocations());
        let events = freed.map(|freed| match self.allocated_at() {
            Some(allocated_at) => freed.0.saturating_sub(allocated_at.0),
            // Allocated before event 0, so it was live during all events before its free.
            None => freed.0.saturating_add(1),
        });
        self.span_to(freed, events)
    }

    fn span_to(&self, end: Option<EventIdx>, events: Option<u32>) -> EventSpan {
        let allocated_at = self.allocated_at();
        let us = allocated_at.zip(end).and_then(|(from, to)| elapsed_us(self.side.history, from, to));
        EventSpan { events, us, is_lower_bound: allocated_at.is_none() }
    }

    pub(crate) fn time_us(&self, event: Option<EventIdx>) -> Option<i64> {
        self.side.history.events.times.at(event?.0)
    }

    pub(super) fn pool_name(&self, pool: Option<(u64, u64)>) -> Option<Cow<'a, str>> {
        pool.map(|pool| self.side.pool_label(pool).into())
    }

    /// Returns the id of a stack. `None` if the stack has no frames.
    pub(super) fn stack_id(&self, stack: StackId) -> Option<u64> {
        self.side.snapshot().stacks.innermost(stack)?;
        Some(self.first_stack + u64::from(stack.0))
    }

    pub(super) fn call_site(&self, stack: StackId) -> Option<Cow<'a, str>> {
        self.side.snapshot().stacks.innermost(stack)?;
        self.sites.text(self.side.snapshot(), stack).map(Cow::Owned)
    }

    /// Returns the moment after the event.
    pub(super) fn after(&self) -> Moment {
        Moment::after(EventIdx(self.index))
    }

    pub(super) fn total(&self, quantity: Quantity, moment: Moment) -> i64 {
        self.totals.bytes(self.side, quantity, moment)
    }
}

/// Returns the function of a frame.
pub fn function(snapshot: &Snapshot, frame: FrameId) -> Cow<'_, str> {
    snapshot.strings.text(snapshot.frames.frame(frame).name)
}

/// Returns the path of a frame's file, if known.
pub fn file(snapshot: &Snapshot, frame: FrameId) -> Option<Cow<'_, str>> {
    let file = snapshot.strings.text(snapshot.frames.frame(frame).filename);
    // PyTorch writes these for C++ frames without debug information.
    (!matches!(&*file, "" | "??" | "none")).then_some(file)
}

/// Returns the line of a frame, if known.
pub fn line(snapshot: &Snapshot, frame: FrameId) -> Option<u32> {
    // Files contain 2^64 − 1 or 0 for unknown lines.
    u32::try_from(snapshot.frames.frame(frame).line).ok().filter(|line| (1..=i32::MAX as u32).contains(line))
}
