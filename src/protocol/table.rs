//! Queries for the Allocations table and its histograms, and their results.

use super::{Arrangement, Scope, Weight};
use serde::{Deserialize, Serialize};

/// Query for some rows of the Allocations table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableQuestion {
    pub scope: Scope,
    pub filter: TableFilter,
    pub sort: TableSort,
    /// Requested rows: index of the first row, and number of rows.
    pub rows: [u32; 2],
    /// Allocation whose row index is requested as well.
    pub reveal: Option<u32>,
    /// Selected rows, whose total is requested: sorted, disjoint ranges of start and end (exclusive).
    pub selected: Vec<[u32; 2]>,
    /// Serial of the search whose matches are highlighted.
    pub search_serial: Option<u32>,
}

/// Filter of the Allocations table. A row must meet all conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableFilter {
    /// Terms in the syntax of [`Filter::parse`](super::Filter::parse). Invalid text matches no allocation.
    pub text: String,
    /// Tree node. Only allocations whose stacks are at or below this node are listed.
    pub node: Option<(Arrangement, u32)>,
    /// First and last [size class](size_class) to list.
    pub sizes: Option<[u8; 2]>,
    /// First and last [lifetime class](lifetime_class) to list.
    pub lifetimes: Option<[u8; 2]>,
}

/// Sort order of the Allocations table. Rows with equal values are in order of allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSort {
    pub column: TableColumn,
    pub direction: SortDirection,
}

base::listed! {
    /// A column of the Allocations table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum TableColumn {
        /// Allocation id. Ids are assigned in order of allocation, starting with 0.
        Id,
        /// Requested bytes.
        Size,
        /// Call site. Sorted by file name (first 32 bytes), line, and function (first 16 bytes).
        CallSite,
        Address,
        /// Stream. Rows with an unknown stream come first.
        Stream,
        /// Pool. Rows with an unknown pool come first.
        Pool,
        /// Index of the alloc event. Allocations made before recording come first.
        Allocated,
        /// Time since the allocation. For allocations made before recording, time since the start of the trace.
        Age,
        /// Index of the event that completed the free. Allocations that are live at the end of the trace come last.
        Freed,
        /// Known part of the lifetime. Allocations that are live at the end of the trace come last.
        Lifetime,
    }
}

/// Names and texts of a [`TableColumn`].
#[derive(Clone, Copy, Debug)]
pub struct ColumnTexts {
    /// Name in SQL, exports and JSON. They have other columns instead of [`TableColumn::Age`] and
    /// [`TableColumn::Lifetime`], which depend on a moment or on other columns.
    pub key: &'static str,
    /// Name in links to the page.
    pub link: &'static str,
    pub title: &'static str,
    pub tooltip: &'static str,
}

impl TableColumn {
    pub const fn texts(self) -> ColumnTexts {
        let (key, link, title, tooltip) = match self {
            TableColumn::Id => ("id", "number", "#", "Index of the allocation, in order of allocation"),
            TableColumn::Size => ("requested_bytes", "size", "Requested", "Requested bytes"),
            TableColumn::CallSite => ("call_site", "site", "Call site", "Innermost frame of your code"),
            TableColumn::Address => ("address", "address", "Address", "Start address"),
            TableColumn::Stream => ("stream", "stream", "Stream", "Stream it was allocated on"),
            TableColumn::Pool => ("pool", "pool", "Pool", "Memory pool"),
            TableColumn::Allocated => ("allocated_at", "born", "Allocated at", "Event that allocated it"),
            TableColumn::Age => {
                let tooltip = "Events from its allocation to the cursor, or to the end of the range or of its lifetime";
                ("age_events", "age", "Age", tooltip)
            }
            TableColumn::Freed => ("freed_at", "freed", "Freed at", "Event that freed it"),
            TableColumn::Lifetime => {
                ("lifetime_events", "lifetime", "Lifetime", "Events from its allocation to its free")
            }
        };
        ColumnTexts { key, link, title, tooltip }
    }
}

/// Direction of a [`TableSort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortDirection {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Requested rows of the Allocations table, and its histograms. All byte counts are requested bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablePage {
    pub scope: Weight,
    /// Total of the rows that pass the filter.
    pub listed: Weight,
    /// For [`Scope::Change`], the total of the listed rows whose allocations are freed in the range. The other rows are
    /// allocated in the range.
    pub freed: Weight,
    pub selected: Weight,
    /// Total of the rows that pass the filter and match the search.
    pub found: Weight,
    /// Row index of the first item in `rows`.
    pub first: u32,
    /// The requested rows, as far as they exist.
    pub rows: Vec<TableRow>,
    /// Row index of the requested allocation, if it is listed.
    pub revealed: Option<u32>,
    /// Histogram by [size class](size_class). It ignores the filter on sizes.
    pub sizes: Vec<Weight>,
    /// Histogram by [lifetime class](lifetime_class). It ignores the filter on lifetimes.
    pub lifetimes: Vec<Weight>,
}

/// A row of the Allocations table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    pub allocation: u32,
    pub requested: u64,
    /// Start address. `None` for unexplained bytes.
    pub address: Option<u64>,
    /// Stream, if known.
    pub stream: Option<u64>,
    /// Pool id, if known.
    pub pool: Option<(u64, u64)>,
    /// Index of the alloc event. `None` if the allocation was made before recording.
    pub allocated_at: Option<u32>,
    /// Time of the allocation in µs since 1970, if recorded.
    pub allocated_us: Option<i64>,
    /// Index of the event that completed the free. `None` if the allocation is live at the end of the trace.
    pub freed: Option<u32>,
    /// Time of the free in µs since 1970, if recorded.
    pub freed_us: Option<i64>,
    /// Number of events from the allocation (or the start of the trace) to the free. If the moment or the range of the
    /// scope ends before the free, only events up to this end are counted.
    pub age: u32,
    /// Age in µs on the time axis, if both times are recorded. Never negative.
    pub age_us: Option<i64>,
    /// Lifetime in µs on the time axis, if both times are recorded. Never negative.
    pub lifetime_us: Option<i64>,
    /// Call site. If a recorder stored a tensor name, it precedes the call site. Empty if there is no stack.
    pub call_site: String,
    pub matches: bool,
}

/// A part of a table as tab-separated text, in the displayed order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableText {
    /// Complete lines. The first part starts with a header line.
    pub text: String,
    /// Number of rows in this part and all previous parts.
    pub rows: u32,
    pub last: bool,
}

/// Maximum number of rows that are copied as text. Spreadsheets become slow with more rows.
pub const MAX_COPIED: u32 = 200_000;

/// Number of size classes.
pub const SIZE_CLASSES: usize = 65;

/// Returns the size class of a number of bytes: 0 for 0 bytes, and k for sizes from 2^(k − 1) up to, but not including,
/// 2^k bytes.
pub fn size_class(requested: u64) -> u8 {
    (u64::BITS - requested.leading_zeros()) as u8
}

/// Number of lifetime classes.
pub const LIFETIME_CLASSES: usize = 35;

/// Lifetime class of allocations that were made before recording and are freed in the trace. Their lifetime is unknown.
pub const LIFETIME_UNKNOWN: u8 = 33;

/// Lifetime class of allocations that are live at the end of the trace.
pub const LIFETIME_TO_END: u8 = 34;

/// Returns the lifetime class for the moments of an allocation and its free (`u32::MAX` if it is live at the end).
/// Class k has lifetimes from 2^(k − 1) up to, but not including, 2^k events.
pub fn lifetime_class(allocated_at: u32, freed_at: u32) -> u8 {
    match (allocated_at, freed_at) {
        (_, u32::MAX) => LIFETIME_TO_END,
        (0, _) => LIFETIME_UNKNOWN,
        (allocated_at, freed_at) => (u32::BITS - freed_at.saturating_sub(allocated_at).leading_zeros()) as u8,
    }
}
