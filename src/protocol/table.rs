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

impl Default for TableSort {
    /// The largest allocations come first.
    fn default() -> TableSort {
        TableSort { column: TableColumn::Size, direction: SortDirection::Descending }
    }
}

/// Declares [`TableColumn`] and its texts from the list of columns.
macro_rules! tab_columns {
    (
        files { $($key:literal: $kind:ident($($cell:tt)*)
            $(, $at:literal $Column:ident $link:literal $title:literal $tooltip:literal)?;)* }
        tab { $($tab_key:literal: $tab_kind:ident($($tab_cell:tt)*),
            $tab_at:literal $Tab:ident $tab_link:literal $tab_title:literal $tab_tooltip:literal;)* }
    ) => {
        /// A column of the Allocations table. Its number is its position there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum TableColumn {
            $($($Column = $at,)?)*
            $($Tab = $tab_at,)*
        }

        impl TableColumn {
            /// All columns, in the order of the table.
            pub const ALL: [TableColumn; COLUMNS.len()] = {
                let mut all = [TableColumn::Id; COLUMNS.len()];
                let mut index = 0;
                while index < all.len() {
                    all[COLUMNS[index] as usize] = COLUMNS[index];
                    index += 1;
                }
                all
            };

            /// Returns the names and texts of the column.
            pub const fn texts(self) -> ColumnTexts {
                match self {
                    $($(TableColumn::$Column => ColumnTexts {
                        key: $key, kind: ColumnKind::$kind, link: $link, title: $title, tooltip: $tooltip,
                    },)?)*
                    $(TableColumn::$Tab => ColumnTexts {
                        key: $tab_key, kind: ColumnKind::$tab_kind, link: $tab_link, title: $tab_title, tooltip: $tab_tooltip,
                    },)*
                }
            }
        }

        /// All columns, in the order of files.
        const COLUMNS: &[TableColumn] = &[$($(TableColumn::$Column,)?)* $(TableColumn::$Tab,)*];
    };
}
crate::allocation_columns!(tab_columns);

/// Kind of a column's values. It determines how they are written, shown and sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Unsigned,
    Signed,
    Bool,
    Text,
    Bytes,
    Address,
    Stream,
    Pool,
    /// Event at which the row's item starts. Items from before recording come first.
    Start,
    /// Event at which the row's item ends. Items without an end come last.
    End,
    /// Call site. Sorted by file name (first 32 bytes), line, and function (first 16 bytes).
    CallSite,
    /// Number of events, as [`EventSpan`].
    Events,
}

/// Names and texts of a [`TableColumn`].
#[derive(Clone, Copy, Debug)]
pub struct ColumnTexts {
    /// Name in SQL, exports and JSON. They have other columns instead of [`TableColumn::Age`] and
    /// [`TableColumn::Lifetime`], which depend on a moment or on other columns.
    pub key: &'static str,
    pub kind: ColumnKind,
    /// Name in links to the page.
    pub link: &'static str,
    pub title: &'static str,
    pub tooltip: &'static str,
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
    /// Index of the alloc event. `None` if the allocation was made before recording.
    pub allocated_at: Option<u32>,
    /// Index of the event that completed the free. `None` if the allocation is live at the end of the trace.
    pub freed: Option<u32>,
    /// Call site. If a recorder stored a tensor name, it precedes the call site. Empty if there is no stack.
    pub call_site: String,
    pub matches: bool,
    /// Cells of the columns, in the order of [`TableColumn::ALL`].
    pub cells: Vec<TableCell>,
}

impl TableRow {
    /// Returns the start address. `None` for unexplained bytes.
    pub fn address(&self) -> Option<u64> {
        if let Some(TableCell::Address(address)) = self.cells.get(TableColumn::Address as usize) {
            *address
        } else {
            None
        }
    }

    /// Returns the pool id, if known.
    pub fn pool(&self) -> Option<(u64, u64)> {
        if let Some(TableCell::Pool(pool)) = self.cells.get(TableColumn::Pool as usize) { *pool } else { None }
    }
}

/// A cell of a [`TableRow`], of the kind of its column. Unknown values are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableCell {
    Unsigned(Option<u64>),
    /// Text, signed number or truth value as text. Empty if unknown.
    Text(String),
    Bytes(Option<u64>),
    Address(Option<u64>),
    /// Stream handle.
    Stream(Option<u64>),
    /// Pool id.
    Pool(Option<(u64, u64)>),
    /// Event, and its time in µs since 1970, if recorded.
    Start(Option<u32>, Option<i64>),
    End(Option<u32>, Option<i64>),
    /// [`TableRow::call_site`].
    CallSite,
    Events(EventSpan),
}

/// Part of the lifetime of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSpan {
    /// Number of events. `None` if the part has no end in the trace.
    pub events: Option<u32>,
    /// Duration in µs on the time axis, if both times are recorded. Never negative.
    pub us: Option<i64>,
    /// True if the allocation was made before recording, so that the part is longer.
    pub is_lower_bound: bool,
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
