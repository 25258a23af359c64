//! Columns and cells of exported tables.

use protocol::ExportTable;

/// Type of a column's values. Any cell may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An unsigned number that may need all 64 bits.
    Unsigned,
    Signed,
    Bool,
    Text,
}

/// A column of an exported table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the column, equal to the key in the JSON of the command line.
    pub name: &'static str,
    pub kind: Kind,
}

/// A cell of an exported table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Empty,
    Unsigned(u64),
    Signed(i64),
    Bool(bool),
    Text(String),
}

impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Unsigned)
    }
}

impl From<Option<u32>> for Cell {
    fn from(value: Option<u32>) -> Cell {
        value.map(u64::from).into()
    }
}

impl From<Option<i64>> for Cell {
    fn from(value: Option<i64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Signed)
    }
}

impl From<Option<String>> for Cell {
    fn from(value: Option<String>) -> Cell {
        value.map_or(Cell::Empty, Cell::Text)
    }
}

macro_rules! columns {
    ($($name:ident: $Kind:ident),* $(,)?) => {
        &[$(Column { name: stringify!($name), kind: Kind::$Kind }),*]
    };
}

/// Returns the columns of a table. Byte counts are requested bytes unless the column name says otherwise. Addresses are
/// text, because some readers would round large numbers. Times are in µs since 1970.
pub fn columns(table: ExportTable) -> &'static [Column] {
    match table {
        ExportTable::Allocations => columns![
            number: Unsigned,
            requested_bytes: Unsigned,
            address: Text,
            stream: Unsigned,
            pool: Text,
            pool_name: Text,
            category: Text,
            allocated_at: Unsigned,
            allocated_at_us: Signed,
            freed_at: Unsigned,
            freed_at_us: Signed,
            stack: Unsigned,
            call_site: Text,
        ],
        ExportTable::Events => columns![
            event: Unsigned,
            action: Text,
            time_us: Signed,
            size_bytes: Unsigned,
            address: Text,
            stream: Unsigned,
            pool: Text,
            allocation: Unsigned,
            live_bytes: Signed,
            awaiting_free_bytes: Signed,
            reserved_bytes: Signed,
            stack: Unsigned,
            call_site: Text,
        ],
        ExportTable::Segments => columns![
            number: Unsigned,
            reserved_bytes: Unsigned,
            address: Text,
            stream: Unsigned,
            pool: Text,
            pool_name: Text,
            small: Bool,
            expandable: Bool,
            allocated_at: Unsigned,
            allocated_at_us: Signed,
            freed_at: Unsigned,
            freed_at_us: Signed,
            stack: Unsigned,
            call_site: Text,
        ],
        ExportTable::Curve => columns![
            event: Signed,
            time_us: Signed,
            live_bytes: Signed,
            awaiting_free_bytes: Signed,
            reserved_bytes: Signed,
        ],
        ExportTable::Stacks => columns![stack: Unsigned, frame: Unsigned, function: Text, file: Text, line: Unsigned],
    }
}
