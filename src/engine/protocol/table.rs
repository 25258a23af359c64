//! What the table of allocations and the histograms are asked and tell.

use super::{Arrangement, Scope, Weight};
use serde::{Deserialize, Serialize};

/// What part of the table is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableQuestion {
    pub scope: Scope,
    pub filter: TableFilter,
    /// In this order.
    pub sort: TableSort,
    /// The rows that are wanted: the first, and how many.
    pub rows: [u32; 2],
    /// The row of this allocation is wanted as well.
    pub reveal: Option<u32>,
    /// What these rows weigh together is wanted as well: each from its first to before its second, ascending, none twice.
    pub chosen: Vec<[u32; 2]>,
    /// The search whose matches are marked, by its serial.
    pub find: Option<u32>,
}

/// Which allocations are listed: those of which all of this holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableFilter {
    /// What [`Filter::parse`](super::Filter::parse) reads; what can't be read lists nothing.
    pub text: String,
    /// Their stacks are in or below this node of a tree.
    pub node: Option<(Arrangement, u32)>,
    /// They are of these [classes of sizes](size_class), the first and the last.
    pub sizes: Option<[u8; 2]>,
    /// They are of these [classes of lives](life_class), the first and the last.
    pub lives: Option<[u8; 2]>,
}

/// An order of the table; what is equal in it stands in order of birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSort {
    pub column: TableColumn,
    pub way: SortWay,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableColumn {
    /// The allocation's number: its place in order of birth.
    Number,
    /// Requested bytes.
    Size,
    /// The call site: the first 32 bytes of the file's name, then the line, then the first 16 bytes of the function.
    Site,
    Address,
    /// The stream; those of which it is not known come first.
    Stream,
    /// The pool; those of which it is not known come first.
    Pool,
    /// The event that made it; those allocated before recording come first.
    Born,
    /// How long it has lived; of those allocated before recording as much as is known.
    Age,
    /// The event that ended it; those live at the end come last.
    Freed,
    /// How long it lives in all; of those allocated before recording as much as is known, those live at the end come last.
    Lifetime,
}

impl TableColumn {
    /// All of them, in the order of the page.
    pub const ALL: [TableColumn; 10] = [
        TableColumn::Number,
        TableColumn::Size,
        TableColumn::Site,
        TableColumn::Address,
        TableColumn::Stream,
        TableColumn::Pool,
        TableColumn::Born,
        TableColumn::Age,
        TableColumn::Freed,
        TableColumn::Lifetime,
    ];
}

/// Which way a column is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortWay {
    /// The least first.
    Ascending,
    /// The most first.
    Descending,
}

/// A part of the table, and what its histograms show. All bytes are requested bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablePage {
    pub scope: Weight,
    /// What the filter leaves of it: the rows of the table.
    pub listed: Weight,
    /// Of a change, those of them that the range frees: the others are allocated in it.
    pub gone: Weight,
    pub chosen: Weight,
    /// What the search found of the rows.
    pub found: Weight,
    /// The number of the first of `rows`.
    pub first: u32,
    /// The rows that were asked for, as many as there are.
    pub rows: Vec<TableRow>,
    /// The row of the allocation that was asked for, where it is listed.
    pub revealed: Option<u32>,
    /// By [class of sizes](size_class): what is listed, and what would be without [`TableFilter::sizes`].
    pub sizes: Vec<Weight>,
    /// By [class of lives](life_class): what is listed, and what would be without [`TableFilter::lives`].
    pub lives: Vec<Weight>,
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    pub allocation: u32,
    /// Requested bytes.
    pub requested: u64,
    /// The address; `None` for unexplained bytes.
    pub address: Option<u64>,
    /// The stream, where known.
    pub stream: Option<u64>,
    /// The pool, where known.
    pub pool: Option<(u64, u64)>,
    /// The event that made it; `None`: it was allocated before recording.
    pub born: Option<u32>,
    /// When that was, µs since 1970, where recorded.
    pub born_us: Option<i64>,
    /// The event that ended it; `None`: it is live at the end.
    pub freed: Option<u32>,
    /// When that was, µs since 1970, where recorded.
    pub freed_us: Option<i64>,
    /// Events from its birth (or the begin of the trace) to the moment of the scope or the end of its range, or to its end where
    /// that came before.
    pub age: u32,
    /// The same in µs on the axis of time, where all of it was recorded; not negative.
    pub age_us: Option<i64>,
    /// From its birth to its end in µs on the axis of time, where both were recorded; not negative.
    pub lifetime_us: Option<i64>,
    /// The call site in short, behind the name of its tensor where a recorder names it; empty where there is no stack.
    pub site: String,
    pub matches: bool,
}

/// A part of the table as text: lines of fields with tabs between them, in the order it was asked in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableText {
    /// Whole lines; those of the first part begin with the names of the fields.
    pub text: String,
    /// How many rows this part and those before it have.
    pub rows: u32,
    pub last: bool,
}

/// Rows that are made text at once: more than any spreadsheet shows at ease.
pub const MOST_COPIED: u32 = 200_000;

/// Classes of sizes.
pub const SIZE_CLASSES: usize = 65;

/// The class of a number of bytes: 0 for none, and k for those from 2^(k − 1) to before 2^k.
pub fn size_class(requested: u64) -> u8 {
    (u64::BITS - requested.leading_zeros()) as u8
}

/// Classes of lives.
pub const LIFE_CLASSES: usize = 35;

/// The class of lives of those allocated before recording and freed in the trace: how long they lived is unknown.
pub const LIFE_UNKNOWN: u8 = 33;

/// The class of lives of those live at the end.
pub const LIFE_TO_END: u8 = 34;

/// The class of a life from moment `born` to `died` (`u32::MAX`: live at the end): k for those of 2^(k − 1) to before 2^k events.
pub fn life_class(born: u32, died: u32) -> u8 {
    match (born, died) {
        (_, u32::MAX) => LIFE_TO_END,
        (0, _) => LIFE_UNKNOWN,
        (born, died) => (u32::BITS - died.saturating_sub(born).leading_zeros()) as u8,
    }
}
