//! Loading of a range of a trace. Events before the range are dropped as soon as possible. Events after it only update
//! sums and facts.
//!
//! ```text
//! event     0 ........... from ............... to ........ last
//!           dropped       kept with its        allocations that these events free were live in the range,
//!                         index in the file    allocations that these events make were not
//! ```
//! Allocations that are live at the start of the range are treated as allocations from before the trace, but keep the
//! stack of their `alloc` event. The sums over the whole trace are kept, so totals in the range are the same as if the
//! whole file were loaded.

use crate::snapshot::{Action, LabelsId, StackId};
use base::column::Column;
use hashbrown::HashMap;

/// Range of events that are kept from each trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepRange {
    /// Index of the first event.
    pub from: u32,
    /// One past the index of the last event.
    pub to: u32,
    /// Maximum number of events. If the range is longer, only its last events are kept.
    pub last: u32,
}

impl KeepRange {
    /// Range of all events.
    pub const ALL: KeepRange = KeepRange { from: 0, to: u32::MAX, last: u32::MAX };

    /// Returns true if the range contains all events and has no maximum length.
    pub fn is_all(&self) -> bool {
        *self == KeepRange::ALL
    }
}

impl Default for KeepRange {
    fn default() -> KeepRange {
        KeepRange::ALL
    }
}

/// Range of a trace that is loaded, if it is not the whole trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedRange {
    /// Index of the first event in the range.
    pub first: u32,
    /// Number of events in the file after the range.
    pub later_events: u64,
}

/// Stack and labels of an allocation from before the range, known from events that were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub stack: StackId,
    pub labels: LabelsId,
    /// True if the stack and labels were recorded by the free instead of the alloc.
    pub is_of_free: bool,
}

impl Origin {
    pub(super) fn is_known(&self) -> bool {
        *self != UNKNOWN_ORIGIN
    }
}

pub(super) const UNKNOWN_ORIGIN: Origin =
    Origin { stack: StackId::NONE, labels: LabelsId(u32::MAX), is_of_free: false };

/// Facts about an early allocation that are not part of its lifetime.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyFacts {
    pub(super) origin: Origin,
    /// True if the alloc event of this allocation was dropped.
    pub(super) is_carried: bool,
    /// True if the allocation's free is requested after the range.
    pub(super) requested_later: bool,
    /// True if the allocation's free is completed after the range.
    pub(super) completed_later: bool,
}

pub(super) const NO_FACTS: EarlyFacts =
    EarlyFacts { origin: UNKNOWN_ORIGIN, is_carried: false, requested_later: false, completed_later: false };

impl EarlyFacts {
    /// Returns whether the allocation's only event is a `free_completed` after the range.
    pub(super) fn only_completes(&self) -> bool {
        self.completed_later && !self.requested_later && !self.is_carried
    }

    /// Returns whether the allocation is live at the end of the range if no event in the range frees it. `ends` is the
    /// action that ends lifetimes.
    pub(super) fn stays_live(&self, ends: Action) -> bool {
        self.is_carried || self.completed_later || (ends == Action::FreeRequested && self.requested_later)
    }
}

/// Effect of events that are not kept: requested bytes of all allocs and of all frees, and change of the reserved
/// bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NetChange {
    pub(super) allocated: i64,
    pub(super) completed: i64,
    pub(super) requested: i64,
    pub(super) reserved: i64,
}

impl NetChange {
    /// Returns the change in live bytes if `ends` is the action that ends lifetimes.
    pub(super) fn live(&self, ends: Action) -> i64 {
        self.allocated.saturating_sub(if ends == Action::FreeRequested { self.requested } else { self.completed })
    }
}

/// Event after the range that changes reserved memory.
#[derive(Clone, Copy, Debug)]
pub struct LaterOperation {
    pub action: Action,
    pub address: u64,
    pub size: u64,
    pub labels: LabelsId,
}

/// State of an allocation after the loaded range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaterState {
    /// Requested bytes, if it is allocated after the range.
    pub(super) size: u64,
    /// True if its free is requested after the range.
    pub(super) is_requested: bool,
}

/// Summary of the events of a trace that are outside the loaded range.
#[derive(Clone, Debug)]
pub(super) struct OutsideRange {
    pub(super) keep: KeepRange,
    pub(super) counts: [u64; Action::ALL.len()],
    pub(super) before: NetChange,
    pub(super) after: NetChange,
    pub(super) later_events: u64,
    pub(super) operations: Column<LaterOperation>,
    /// Facts about each early allocation. Empty if all events are loaded.
    pub(super) facts: Column<EarlyFacts>,
    /// States by address of allocations that are allocated, or whose free is requested, after the range.
    pub(super) states: HashMap<u64, LaterState, foldhash::fast::RandomState>,
    /// Number of recorded events at which [`Trace::is_after_range`](super::trace::Trace::is_after_range) must be called
    /// next.
    pub(super) next_check: u32,
}

impl Default for OutsideRange {
    fn default() -> OutsideRange {
        let (keep, counts, before, after, later_events, operations, facts, states) = Default::default();
        OutsideRange { keep, counts, before, after, later_events, operations, facts, states, next_check: u32::MAX }
    }
}
