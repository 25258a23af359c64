//! A range of a trace, kept while all of it is decoded: what lies before is dropped as soon as it is known, what comes behind is only
//! followed.
//!
//! ```text
//! event     0 ........... from ............... to ........ the last
//!           dropped       kept, with its       followed: what it frees was live in the range, what it
//!                         number in the file   allocates was not
//! ```
//! What is live where the range begins becomes an allocation from before it, with the stack of its alloc. The totals of the whole
//! trace are kept as sums, so those in the range are what they are in the whole file.

use crate::snapshot::{Action, LabelsId, StackId};
use base::column::Column;

/// Which events of each trace are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The first, and the one after the last.
    pub from: u32,
    pub to: u32,
    /// Of these so many, the last ones.
    pub last: u32,
}

impl Keep {
    /// All of them.
    pub const ALL: Keep = Keep { from: 0, to: u32::MAX, last: u32::MAX };

    /// Whether all are kept, however many there are.
    pub fn is_all(&self) -> bool {
        *self == Keep::ALL
    }
}

impl Default for Keep {
    fn default() -> Keep {
        Keep::ALL
    }
}

/// The range of a trace that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Its first event, and how many events of the file come behind its last.
    pub first: u32,
    pub behind: u64,
}

/// Where an allocation from before the range comes from, as far as the events say that were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub stack: StackId,
    pub labels: LabelsId,
    /// Whether that is the event of its free.
    pub of_free: bool,
}

impl Origin {
    pub(super) fn is_known(&self) -> bool {
        *self != NOWHERE
    }
}

pub(super) const NOWHERE: Origin = Origin { stack: StackId::NONE, labels: LabelsId(u32::MAX), of_free: false };

/// What is known of an early allocation besides its life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) origin: Origin,
    /// Allocated by an event that was dropped.
    pub(super) is_carried: bool,
    /// Its free is requested, or completes, behind the range.
    pub(super) requested_behind: bool,
    pub(super) completed_behind: bool,
}

pub(super) const NOTHING: Facts =
    Facts { origin: NOWHERE, is_carried: false, requested_behind: false, completed_behind: false };

impl Facts {
    /// Whether the only event on it is the completion of its free, behind the range.
    pub(super) fn only_completes(&self) -> bool {
        self.completed_behind && !self.requested_behind && !self.is_carried
    }

    /// Whether it is live to the end of the range although nothing ends it, where lives end with this action.
    pub(super) fn stays(&self, ends: Action) -> bool {
        self.is_carried || self.completed_behind || (ends == Action::FreeRequested && self.requested_behind)
    }
}

/// What events come to that are not kept: requested bytes of allocs and frees, reserved bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Net {
    pub(super) allocated: i64,
    pub(super) completed: i64,
    pub(super) requested: i64,
    pub(super) reserved: i64,
}

impl Net {
    /// By how much what is live grows, where lives end with this action.
    pub(super) fn live(&self, ends: Action) -> i64 {
        self.allocated.saturating_sub(if ends == Action::FreeRequested { self.requested } else { self.completed })
    }
}

/// An event behind the range that changes what is reserved.
#[derive(Clone, Copy, Debug)]
pub struct Behind {
    pub action: Action,
    pub address: u64,
    pub size: u64,
    pub labels: LabelsId,
}

/// What a trace knows of its events that are not kept.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    pub(super) keep: Keep,
    pub(super) counts: [u64; Action::ALL.len()],
    pub(super) before: Net,
    pub(super) after: Net,
    pub(super) behind: u64,
    pub(super) operations: Column<Behind>,
    /// By early allocation; nothing where all events are kept.
    pub(super) facts: Column<Facts>,
    /// The number of events at which there is something to do.
    pub(super) look_at: u32,
}

impl Default for Outside {
    fn default() -> Outside {
        let (keep, counts, before, after, behind, operations, facts) = Default::default();
        Outside { keep, counts, before, after, behind, operations, facts, look_at: u32::MAX }
    }
}
