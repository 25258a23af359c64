//! Questions and answers of the Events list.

use history::snapshot::Action;
use serde::{Deserialize, Serialize};

/// Query for a part of the Events list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsQuestion {
    pub filter: EventsFilter,
    /// Requested rows: first and count.
    pub rows: [u32; 2],
    /// Event whose row index is also requested. An event that is not listed stands for the next listed one, or else for
    /// the last one.
    pub reveal: Option<u32>,
    /// Rows to return as text: sorted, disjoint ranges of start and end (exclusive).
    pub selected: Vec<[u32; 2]>,
    /// Serial of the search whose matches are highlighted.
    pub find: Option<u32>,
}

/// Filter of the Events list. All conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsFilter {
    /// Terms as parsed by [`EventTerms::parse`](analysis::EventTerms::parse). Invalid text matches nothing.
    pub text: String,
    /// Bit set of actions, by index in [`Action::ALL`]. 0 allows any action.
    pub actions: u32,
    /// Range of events: start and end (exclusive).
    pub range: Option<[u32; 2]>,
}

impl EventsFilter {
    /// Returns the bit of an action in [`EventsFilter::actions`].
    pub fn bit(action: Action) -> u32 {
        1 << action as u32
    }
}

/// Requested part of the Events list, and its counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsPage {
    /// Number of events in the trace.
    pub total: u32,
    /// Number of events that pass the filter.
    pub listed: u32,
    /// Index of the first item in `rows`.
    pub first: u32,
    /// Requested rows that exist.
    pub rows: Vec<EventRow>,
    pub revealed: Option<u32>,
    /// Number of events for each of [`Action::ALL`], without the filter.
    pub actions: Vec<u32>,
}

/// Row of the Events list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// Index of the event in the trace.
    pub event: u32,
    /// Index of the action in [`Action::ALL`].
    pub action: u8,
    /// Time in µs since 1970, if recorded.
    pub time_us: Option<i64>,
    /// Time since the previous event of the trace, in µs on the time axis, if both are recorded.
    pub since_us: Option<i64>,
    /// Requested bytes of an allocation, reserved bytes of a segment, or the bytes that an `oom` event asked for.
    pub size: u64,
    pub address: Option<u64>,
    /// Number of earlier blocks (or segments) at this address in the trace. `7f89b4000000_0` is the first one.
    pub version: u32,
    /// Free device memory in bytes, as reported by the driver. Only for `oom` events.
    pub device_free: Option<u64>,
    /// Stream, if known: the recorded one, or the stream of the allocation, or of the segment that contains the address
    /// at the end of the trace.
    pub stream: Option<u64>,
    /// Pool, if known. Found in the same way as the stream.
    pub pool: Option<(u64, u64)>,
    /// Id of the allocation that the event is about, if any.
    pub allocation: Option<u32>,
    /// Call site. For a free without a stack, the call site of its allocation. Empty if unknown.
    pub call_site: String,
    /// Active requested bytes after the event.
    pub active: u64,
    /// Bytes of `active` that are awaiting free. The rest is allocated.
    pub awaiting_free: u64,
    /// Reserved bytes after the event.
    pub reserved: u64,
    pub matches: bool,
}

/// Formats an address and its version like memory_viz: `7f89b4000000_0`.
pub fn versioned(address: u64, version: u32) -> String {
    format!("{address:x}_{version}")
}
