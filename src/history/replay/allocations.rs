//! Allocations of one device. Ids are assigned in the order of allocation.
//!
//! ```text
//! id   0           the unexplained bytes, absent if there are none
//!      ..          static blocks: live at the end, without an event in the trace
//!      ..          allocated before recording, freed in the trace
//!      early..      allocated in the trace, in order of events (`early` is `early_count()`)
//! ```

use super::trace::{LifetimeColumns, NEVER, Subject};
use base::column::Column;
use base::units::{EventIdx, Moment};
use std::ops::Range;

/// Index of an allocation of one device, in the order of allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationId(pub u32);

/// Evidence in the file that an allocation existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Bytes that were live before the trace, although neither events nor blocks explain them.
    Unexplained,
    /// Block that is live at the end and has no event in the trace.
    Static,
    /// Allocated before the trace and freed in the trace. Holds the first of the events that free the allocation.
    FreedBy(EventIdx),
    /// Allocated in the trace by this event.
    AllocatedBy(EventIdx),
}

/// Allocations of one device, as columns. All sizes are *requested* bytes.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// Allocations that are live at [`Moment::START`], then allocations made in the trace.
    pub(super) parts: [LifetimeColumns; 2],
    /// First moment at which each allocation of the trace is live. Allocations from before the trace have no row.
    pub(super) allocated_at: Column<u32>,
    pub(super) unexplained_count: u32,
    pub(super) static_count: u32,
    /// True if `free_completed` ends lifetimes and the trace also has `free_requested` events (`skip_actions` can
    /// remove them). An early allocation whose first event is `free_completed` was then awaiting free before the trace.
    pub(super) may_start_awaiting_free: bool,
}

base::heap_bytes!(Allocations: [parts], allocated_at);

impl Allocations {
    /// Creates allocations from lifetimes alone, for tests and benchmarks: `(allocated_at, freed_at, size)` as in
    /// [`Allocations::spans`], in the order of allocation.
    pub fn from_spans(spans: impl IntoIterator<Item = (u32, u32, u64)>) -> Allocations {
        let mut allocations = Allocations::default();
        for (allocated_at, freed_at, size) in spans {
            if allocated_at > 0 {
                allocations.allocated_at.push(allocated_at);
            }
            allocations.parts[usize::from(allocated_at > 0)].push_row(0, size, freed_at, freed_at);
        }
        debug_assert!(allocations.allocated_at.iter().is_sorted(), "spans are in the order of allocation");
        allocations.static_count = allocations.early_count() as u32;
        allocations
    }

    /// Records that the free of an allocation was requested. `moment` is the first moment after the request. For tests,
    /// like [`Allocations::from_spans`].
    pub fn request_free(&mut self, id: AllocationId, moment: Moment) {
        let index = id.0 as usize;
        let (part, row) = index.checked_sub(self.early_count()).map_or((0, index), |row| (1, row));
        if let Some(lifetimes) = self.parts.get_mut(part) {
            lifetimes.free_requested.set(row, moment.0);
        }
    }

    /// Frees the unused capacity of the columns, once all allocations are added.
    pub(super) fn shrink(&mut self) {
        self.allocated_at.shrink();
        for LifetimeColumns { address, size, free_requested, freed_at } in &mut self.parts {
            [address, size].into_iter().for_each(Column::shrink);
            [free_requested, freed_at].into_iter().for_each(Column::shrink);
        }
    }

    pub fn len(&self) -> usize {
        self.parts[0].size.len() + self.parts[1].size.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of allocations that are live before the first event. They have the lowest ids.
    pub fn early_count(&self) -> usize {
        self.parts[0].size.len()
    }

    #[inline(always)]
    pub(super) fn columns_of(&self, id: AllocationId) -> (&LifetimeColumns, usize) {
        let index = id.0 as usize;
        match index.checked_sub(self.early_count()) {
            None => (&self.parts[0], index),
            Some(row) => (&self.parts[1], row),
        }
    }

    /// Returns the requested bytes of an allocation.
    #[inline(always)]
    pub fn size(&self, id: AllocationId) -> u64 {
        let (lifetimes, row) = self.columns_of(id);
        lifetimes.size.at(row)
    }

    /// Returns the address of an allocation, or 0 for the unexplained bytes.
    pub fn address(&self, id: AllocationId) -> u64 {
        let (lifetimes, row) = self.columns_of(id);
        lifetimes.address.at(row)
    }

    /// Returns the first moment at which the allocation is live.
    #[inline(always)]
    pub fn allocated_at(&self, id: AllocationId) -> Moment {
        let index = id.0 as usize;
        if index < self.early_count() {
            Moment::START
        } else {
            Moment(self.allocated_at.at(index - self.early_count()))
        }
    }

    /// Returns the first moment after the completed free, or `None` if the allocation is live at the end.
    #[inline(always)]
    pub fn freed_at(&self, id: AllocationId) -> Option<Moment> {
        let (lifetimes, row) = self.columns_of(id);
        Some(lifetimes.freed_at.at(row)).filter(|&moment| moment != NEVER).map(Moment)
    }

    /// Returns the first moment after the free was requested, or `None` if the trace contains no request.
    pub fn free_requested(&self, id: AllocationId) -> Option<Moment> {
        let (lifetimes, row) = self.columns_of(id);
        Some(lifetimes.free_requested.at(row)).filter(|&moment| moment != NEVER).map(Moment)
    }

    /// Returns whether the id stands for the unexplained bytes instead of an actual allocation.
    pub fn is_unexplained(&self, id: AllocationId) -> bool {
        id.0 < self.unexplained_count
    }

    /// Returns the event of an allocation that the trace makes.
    #[inline(always)]
    pub fn alloc_event(&self, id: AllocationId) -> Option<EventIdx> {
        let row = (id.0 as usize).checked_sub(self.early_count())?;
        Moment(self.allocated_at.at(row)).event()
    }

    /// Returns the evidence in the file that the allocation existed.
    pub fn provenance(&self, id: AllocationId) -> Provenance {
        if self.is_unexplained(id) {
            return Provenance::Unexplained;
        }
        if id.0 < self.unexplained_count + self.static_count {
            return Provenance::Static;
        }
        if (id.0 as usize) < self.early_count() {
            let requested = self.free_requested(id).filter(|&moment| moment > Moment::START);
            let event = requested.or(self.freed_at(id)).and_then(Moment::event);
            return event.map_or(Provenance::Static, Provenance::FreedBy);
        }
        self.allocated_at(id).event().map_or(Provenance::Static, Provenance::AllocatedBy)
    }

    /// Returns the columns and the row of the allocation that an event refers to.
    #[inline(always)]
    pub(super) fn row(&self, subject: Subject) -> Option<(&LifetimeColumns, usize)> {
        match subject {
            Subject::Traced(index) => Some((&self.parts[1], index as usize)),
            Subject::Early(index) => Some((&self.parts[0], self.freed_id(index).0 as usize)),
            Subject::Segment(_) | Subject::Note(_) => None,
        }
    }

    /// Returns the allocation that an event refers to.
    #[inline(always)]
    pub(super) fn id(&self, subject: Subject) -> Option<AllocationId> {
        match subject {
            Subject::Traced(index) => Some(self.traced_id(index)),
            Subject::Early(index) => Some(self.freed_id(index)),
            Subject::Segment(_) | Subject::Note(_) => None,
        }
    }

    pub(super) fn traced_id(&self, index: u32) -> AllocationId {
        AllocationId(self.early_count() as u32 + index)
    }

    /// Returns the id of the `index`-th allocation from before recording that is freed in the trace.
    pub(super) fn freed_id(&self, index: u32) -> AllocationId {
        AllocationId(self.unexplained_count + self.static_count + index)
    }

    /// Iterates over `(allocated_at, freed_at, size)` of all allocations in id order, for linear passes. The first two
    /// are moments. `freed_at` is `u32::MAX` if the allocation is live at the end.
    pub fn spans(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.spans_in(0..self.len())
    }

    /// Returns true if the allocation has not been freed by `moment`. Does not check whether it has been allocated by
    /// then.
    pub fn outlives(&self, id: AllocationId, moment: Moment) -> bool {
        let (lifetimes, row) = self.columns_of(id);
        moment.0 < lifetimes.freed_at.at(row)
    }

    /// Returns the number of allocations that the trace makes up to `moment`. Their ids follow the ids of the early
    /// allocations.
    pub fn allocated_by(&self, moment: u32) -> u32 {
        let (mut from, mut to) = (0, self.allocated_at.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.allocated_at.at(middle) <= moment { from = middle + 1 } else { to = middle }
        }
        from as u32
    }

    /// Returns `(allocated_at, freed_at, size)` of an allocation, as in [`Allocations::spans`].
    #[inline(always)]
    pub fn span(&self, id: AllocationId) -> (u32, u32, u64) {
        let (lifetimes, row) = self.columns_of(id);
        (self.allocated_at(id).0, lifetimes.freed_at.at(row), lifetimes.size.at(row))
    }

    /// Same as [`Allocations::spans`] for a range of ids, for passes that are split into time slices.
    pub fn spans_in(&self, ids: Range<usize>) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        (ids.start..ids.end.min(self.len())).map(|id| self.span(AllocationId(id as u32)))
    }
}
