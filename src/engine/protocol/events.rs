//! The list of events: what part of it is wanted, and its rows.

use history::snapshot::Action;
use serde::{Deserialize, Serialize};

/// What part of the list is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsQuestion {
    pub filter: EventsFilter,
    /// The rows that are wanted: the first, and how many.
    pub rows: [u32; 2],
    /// The row of this event is wanted as well; where it is not listed, that of the first listed one after it, or of the last.
    pub reveal: Option<u32>,
    /// The rows that are wanted as text: each from its first to before its second, ascending, none twice.
    pub chosen: Vec<[u32; 2]>,
    /// The search whose matches are marked, by its serial.
    pub find: Option<u32>,
}

/// Which events are listed: those of which all of this holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsFilter {
    /// What [`EventTerms::parse`](analysis::EventTerms::parse) reads; what can't be read lists nothing.
    pub text: String,
    /// They do one of these: bit `k` stands for the `k`-th of [`Action::ALL`]; 0: any.
    pub actions: u32,
    /// They happen in this range of the trace: the first event, and the first beyond.
    pub between: Option<[u32; 2]>,
}

impl EventsFilter {
    /// The bit of an action.
    pub fn bit(action: Action) -> u32 {
        1 << action as u32
    }
}

/// A part of the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsPage {
    /// How many events there are.
    pub all: u32,
    /// How many the filter leaves.
    pub listed: u32,
    /// The number of the first of `rows`.
    pub first: u32,
    /// The rows that were asked for, as many as there are.
    pub rows: Vec<EventRow>,
    pub revealed: Option<u32>,
    /// How many events do each of [`Action::ALL`], the filter aside.
    pub actions: Vec<u32>,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// Its number in the trace.
    pub event: u32,
    /// What it does: its place in [`Action::ALL`].
    pub action: u8,
    /// When, µs since 1970, where recorded.
    pub time_us: Option<i64>,
    /// µs since the event before it in the trace, on the axis of time; where both are recorded.
    pub since_us: Option<i64>,
    /// Bytes: requested ones of an allocation, reserved ones of a segment, of `oom` those that were asked for.
    pub size: u64,
    pub address: Option<u64>,
    /// How many blocks (or segments) at that address have ended before, in this trace: `7f89b4000000_0` is the first.
    pub version: u32,
    /// Of `oom`: the bytes the driver had free.
    pub device_free: Option<u64>,
    /// Its stream: as recorded, else that of its allocation or of the segment that holds its address at the end; where known.
    pub stream: Option<u64>,
    /// Its pool, found as its stream is; where known.
    pub pool: Option<(u64, u64)>,
    /// The allocation it is about, if it is about one.
    pub allocation: Option<u32>,
    /// The call site in short; of a free without a stack, that of its allocation; empty where there is none.
    pub site: String,
    /// Active requested bytes after it.
    pub active: u64,
    /// Of these, the pending ones: what is left is allocated.
    pub pending: u64,
    /// Reserved bytes after it.
    pub reserved: u64,
    pub matches: bool,
}

/// `7f89b4000000_0`: an address and its version as memory_viz names them.
pub fn versioned(address: u64, version: u32) -> String {
    format!("{address:x}_{version}")
}
