//! Time during which an allocation is awaiting free: it is still live, but its free was requested.
//!
//! ```text
//! alloc ── allocated ──▶ free_requested ── awaiting free ──▶ free_completed
//! ```
//! If a trace has a `free_completed` without its `free_requested`, the columns of the allocation contain the moment of
//! completion for both. If this allocation existed before recording, and the trace has requests of other frees, its
//! free was requested before recording.

use super::allocations::{AllocationId, Allocations};
use super::trace::NEVER;
use crate::snapshot::Action;

impl Allocations {
    /// Returns the first moment at which an allocation is awaiting free. This is
    /// [`Moment::START`](base::units::Moment::START) if its free was requested before the trace. For an allocation that
    /// is never awaiting free, returns the moment of its free or a later one.
    #[inline(always)]
    pub fn awaiting_free_from(&self, id: AllocationId) -> u32 {
        self.awaiting_free_span(id)[0]
    }

    /// Returns two moments: the result of [`Allocations::awaiting_free_from`], and the moment of the free, which is
    /// `u32::MAX` if the allocation is live at the end.
    #[inline(always)]
    pub(super) fn awaiting_free_span(&self, id: AllocationId) -> [u32; 2] {
        let (lifetimes, row) = self.columns_of(id);
        let (requested, freed_at) = (lifetimes.free_requested.at(row), lifetimes.freed_at.at(row));
        let requested_before = self.may_start_awaiting_free
            && (id.0 as usize) < self.early_count()
            && requested == freed_at
            && freed_at != NEVER;
        [if requested_before { 0 } else { requested }, freed_at]
    }
}

/// Returns the change in the number of allocations awaiting free (1, −1 or 0) at the event before `moment`. The event
/// applies `action` to an allocation with the [span](Allocations::awaiting_free_span) `[from, freed_at]`. `ends` is the
/// action that ends lifetimes in this trace.
#[inline(always)]
pub(super) fn awaiting_free_change([from, freed_at]: [u32; 2], action: Action, ends: Action, moment: u32) -> i64 {
    match action {
        // If the request ends a lifetime, nothing ever awaits its free.
        _ if ends != Action::FreeCompleted || from >= freed_at => 0,
        Action::FreeRequested => i64::from(from == moment),
        Action::FreeCompleted => -i64::from(freed_at == moment),
        _ => 0,
    }
}
