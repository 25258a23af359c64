//! Questions and answers of the Allocations table and its histograms.

use super::{Arrangement, Scope, Weight};
use serde::{Deserialize, Serialize};

/// Query for a part of the Allocations table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableQuestion {
    pub scope: Scope,
    pub filter: TableFilter,
    pub sort: TableSort,
    /// Requested rows: first and count.
    pub rows: [u32; 2],
    /// Allocation whose row is also requested.
    pub reveal: Option<u32>,
    /// Rows whose total is requested: sorted, disjoint ranges of start and end (exclusive).
    pub selected: Vec<[u32; 2]>,
    /// Serial of the search whose matches are highlighted.
    pub find: Option<u32>,
}

/// Filter of the Allocations table. All conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableFilter {
    /// Terms as parsed by [`Filter::parse`](super::Filter::parse). Invalid text matches nothing.
    pub text: String,
    /// Tree node at or below which the stacks must be.
    pub node: Option<(Arrangement, u32)>,
    /// First and last [size class](size_class).
    pub sizes: Option<[u8; 2]>,
    /// First and last [lifetime class](lifetime_class).
    pub lifetimes: Option<[u8; 2]>,
}

/// Sort order of the Allocations table. Equal rows are in allocation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSort {
    pub column: TableColumn,
    pub direction: SortDirection,
}

/// Column of the Allocations table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableColumn {
    /// Allocation id, which is its index in allocation order.
    Id,
    /// Requested bytes.
    Size,
    /// Call site: sorted by the first 32 bytes of the file name, the line, and the first 16 bytes of the function.
    CallSite,
    Address,
    /// Stream. Unknown ones come first.
    Stream,
    /// Pool. Unknown ones come first.
    Pool,
    /// Index of the alloc event. Allocations made before recording come first.
    Allocated,
    /// Time since the allocation, or since the start of the trace.
    Age,
    /// Index of the event that completed the free. Allocations live at the end come last.
    Freed,
    /// Known part of the lifetime. Allocations live at the end come last.
    Lifetime,
}

impl TableColumn {
    /// All columns, in the order of the page.
    pub const ALL: [TableColumn; 10] = [
        TableColumn::Id,
        TableColumn::Size,
        TableColumn::CallSite,
        TableColumn::Address,
        TableColumn::Stream,
        TableColumn::Pool,
        TableColumn::Allocated,
        TableColumn::Age,
        TableColumn::Freed,
        TableColumn::Lifetime,
    ];
}

/// Direction of a [`TableSort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortDirection {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Requested part of the table, and its histograms. All bytes are requested bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablePage {
    pub scope: Weight,
    /// Total of the listed rows.
    pub listed: Weight,
    /// For [`Scope::Change`], the total of the listed rows that are freed in the range. All others are allocated in it.
    pub freed: Weight,
    pub selected: Weight,
    /// Total of the listed rows that match the search.
    pub found: Weight,
    /// Index of the first item in `rows`.
    pub first: u32,
    /// Requested rows that exist.
    pub rows: Vec<TableRow>,
    /// Row index of the requested allocation, if it is listed.
    pub revealed: Option<u32>,
    /// Histogram by [size class](size_class), without the filter on sizes.
    pub sizes: Vec<Weight>,
    /// Histogram by [lifetime class](lifetime_class), without the filter on lifetimes.
    pub lifetimes: Vec<Weight>,
}

/// Row of the Allocations table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    pub allocation: u32,
    pub requested: u64,
    /// Address. `None` for unexplained bytes.
    pub address: Option<u64>,
    /// Stream, if known.
    pub stream: Option<u64>,
    /// Pool id, if known.
    pub pool: Option<(u64, u64)>,
    /// Index of the alloc event. `None` if the allocation was made before recording.
    pub allocated_at: Option<u32>,
    /// Time of the allocation in µs since 1970, if recorded.
    pub allocated_us: Option<i64>,
    /// Index of the event that completed the free. `None` if the allocation is live at the end.
    pub freed: Option<u32>,
    /// Time of the free in µs since 1970, if recorded.
    pub freed_us: Option<i64>,
    /// Number of events from the allocation (or the start of the trace) to the moment of the scope, the end of its
    /// range, or the free, whichever comes first.
    pub age: u32,
    /// Age in µs on the time axis, if both ends are recorded. Never negative.
    pub age_us: Option<i64>,
    /// Lifetime in µs on the time axis, if both ends are recorded. Never negative.
    pub lifetime_us: Option<i64>,
    /// Call site, after the tensor's name if a recorder stored it. Empty if there is no stack.
    pub call_site: String,
    pub matches: bool,
}

/// Part of a table as tab-separated text, in display order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableText {
    /// Whole lines. The first part starts with a header line.
    pub text: String,
    /// Number of rows in this part and all parts before it.
    pub rows: u32,
    pub last: bool,
}

/// Maximum number of rows that are copied as text. More than a spreadsheet can handle comfortably.
pub const MAX_COPIED: u32 = 200_000;

/// Number of size classes.
pub const SIZE_CLASSES: usize = 65;

/// Returns the size class of a number of bytes: 0 for 0 bytes, k for 2^(k − 1) to before 2^k bytes.
pub fn size_class(requested: u64) -> u8 {
    (u64::BITS - requested.leading_zeros()) as u8
}

/// Number of lifetime classes.
pub const LIFETIME_CLASSES: usize = 35;

/// Lifetime class of allocations made before recording and freed in the trace, whose lifetime is unknown.
pub const LIFETIME_UNKNOWN: u8 = 33;

/// Lifetime class of allocations that are live at the end.
pub const LIFETIME_TO_END: u8 = 34;

/// Returns the lifetime class for moments of allocation and free (`u32::MAX` if live at the end): k for lifetimes of
/// 2^(k − 1) to before 2^k events.
pub fn lifetime_class(allocated_at: u32, freed_at: u32) -> u8 {
    match (allocated_at, freed_at) {
        (_, u32::MAX) => LIFETIME_TO_END,
        (0, _) => LIFETIME_UNKNOWN,
        (allocated_at, freed_at) => (u32::BITS - freed_at.saturating_sub(allocated_at).leading_zeros()) as u8,
    }
}
