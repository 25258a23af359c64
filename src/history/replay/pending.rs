//! When the bytes of an allocation are pending: live, but their free was requested.
//!
//! ```text
//! alloc ── allocated ──▶ free_requested ── pending ──▶ free_completed
//! ```
//! A free that completes without a request in the trace was requested in the same event, as far as its allocation's columns tell. Of an
//! allocation from before recording it was requested before it, where the trace has requests at all.

use super::allocations::{AllocationId, Allocations};
use super::trace::NEVER;
use crate::snapshot::Action;

impl Allocations {
    /// The moment from which an allocation is pending: [`Moment::START`](base::units::Moment::START) when it was before the trace;
    /// when it never is, that of its death or later.
    #[inline(always)]
    pub fn pending_from(&self, id: AllocationId) -> u32 {
        self.pending(id)[0]
    }

    /// The same, and the moment of its death, `u32::MAX` when it is live at the end.
    #[inline(always)]
    pub(super) fn pending(&self, id: AllocationId) -> [u32; 2] {
        let (lives, at) = self.part(id);
        let (requested, died) = (lives.free_requested.at(at), lives.died.at(at));
        let before = self.may_start_pending && (id.0 as usize) < self.early() && requested == died && died != NEVER;
        [if before { 0 } else { requested }, died]
    }
}

/// How many allocations more are pending from `moment`, that of the event which does `action` to one that is [pending](Allocations::pending)
/// from the first of these moments to the other: 1, −1 or 0. `ends` is the action that ends lives in this trace.
#[inline(always)]
pub(super) fn pending_change([from, died]: [u32; 2], action: Action, ends: Action, moment: u32) -> i64 {
    match action {
        // Where the request ends a life, nothing is ever pending.
        _ if ends != Action::FreeCompleted || from >= died => 0,
        Action::FreeRequested => i64::from(from == moment),
        Action::FreeCompleted => -i64::from(died == moment),
        _ => 0,
    }
}
