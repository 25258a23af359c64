//! Queries for the Events list and their results.

use history::snapshot::Action;
use serde::{Deserialize, Serialize};

/// Query for some rows of the Events list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsQuestion {
    pub filter: EventsFilter,
    /// Requested rows: index of the first row, and number of rows.
    pub rows: [u32; 2],
    /// Event whose row index is requested as well. If the filter hides the event, the next listed event is used, or the
    /// last one if there is none.
    pub reveal: Option<u32>,
    /// Rows that are returned as text: sorted, disjoint ranges of start and end (exclusive).
    pub selected: Vec<[u32; 2]>,
    /// Serial of the search whose matches are highlighted.
    pub search_serial: Option<u32>,
}

/// Filter of the Events list. An event must meet all conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsFilter {
    /// Terms in the syntax of [`EventTerms::parse`](analysis::EventTerms::parse). Invalid text matches no event.
    pub text: String,
    /// Bit set of the actions that pass. Each bit is an index in [`Action::ALL`]. 0 lets all actions pass.
    pub actions: u32,
    /// Range of event indices: start and end (exclusive).
    pub range: Option<[u32; 2]>,
}

impl EventsFilter {
    /// Returns the bit of an action in [`EventsFilter::actions`].
    pub fn bit(action: Action) -> u32 {
        1 << action as u32
    }
}

/// Requested rows of the Events list, and the number of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsPage {
    /// Number of events in the trace.
    pub total: u32,
    /// Number of events that pass the filter.
    pub listed: u32,
    /// Row index of the first item in `rows`.
    pub first: u32,
    /// The requested rows, as far as they exist.
    pub rows: Vec<EventRow>,
    pub revealed: Option<u32>,
    /// Number of events of each action in [`Action::ALL`], ignoring the filter.
    pub actions: Vec<u32>,
}

/// A row of the Events list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// Index of the event in the trace.
    pub event: u32,
    /// Index of the action in [`Action::ALL`].
    pub action: u8,
    /// Time in µs since 1970, if recorded.
    pub time_us: Option<i64>,
    /// Time since the previous event of the trace, in µs on the time axis. `None` if either event has no recorded time.
    pub since_us: Option<i64>,
    /// Size in bytes: requested by an allocation, reserved by a segment, or requested by the allocation that failed in
    /// an `oom` event.
    pub size: u64,
    pub address: Option<u64>,
    /// Number of earlier blocks (or segments) at the same address. The first block has version 0, as in
    /// `7f89b4000000_0`.
    pub version: u32,
    /// Free device memory in bytes, as reported by the driver. Only for `oom` events.
    pub device_free: Option<u64>,
    /// Stream, if known. If the event does not record it, the stream of the allocation or of the segment that contains
    /// the address at the end of the trace.
    pub stream: Option<u64>,
    /// Pool, if known. If the event does not record it, the pool of the allocation or of the segment that contains the
    /// address at the end of the trace.
    pub pool: Option<(u64, u64)>,
    /// Id of the allocation to which the event belongs, if any.
    pub allocation: Option<u32>,
    /// Call site. For a free without a stack, the call site of its allocation. Empty if unknown.
    pub call_site: String,
    /// Requested bytes of all active blocks after the event. They are allocated or awaiting free.
    pub active: u64,
    /// Bytes of `active` that are awaiting free.
    pub awaiting_free: u64,
    /// Reserved bytes after the event.
    pub reserved: u64,
    pub matches: bool,
}

/// Formats an address and its version in the notation of memory_viz, such as `7f89b4000000_0`.
pub fn versioned(address: u64, version: u32) -> String {
    format!("{address:x}_{version}")
}
