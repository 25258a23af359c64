//! The trait that tables implement, and its types.

use crate::cell::{Cell, Value};

/// Type of the cells in a column. Any cell may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Text,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// True if `SELECT *` omits the column. SQLite assigns the arguments of a table function to its hidden columns, in
    /// order.
    pub hidden: bool,
}

/// Column that works like an index: the table can find rows by its value without reading all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekColumn {
    /// Index of the column.
    pub column: usize,
    /// True if the table can find rows by a range of values, and not only by a single value.
    pub has_bounds: bool,
    /// Average fraction (0 to 1) of the rows that have the same value in this column.
    pub share: f64,
    /// True if the column is an argument of a table function. The argument determines the rows, so SQLite cannot check
    /// the condition itself.
    pub is_argument: bool,
}

/// Comparison of a column with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Equal,
    /// At least this value. If the value itself must be excluded, SQLite does that.
    AtLeast,
    /// At most this value. If the value itself must be excluded, SQLite does that.
    AtMost,
}

/// Condition on one of the columns in [`Table::seeks`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter<'a> {
    pub column: usize,
    pub bound: Bound,
    pub value: Value<'a>,
}

/// A table that SQLite can query.
pub trait Table {
    fn columns(&self) -> Vec<Column>;

    /// Returns the columns that work like an index.
    fn seeks(&self) -> Vec<SeekColumn>;

    /// Returns the sort columns of the rows, most significant first. Rows are sorted in ascending order.
    fn order(&self) -> Vec<usize>;

    /// Returns the approximate number of rows.
    fn row_count(&self) -> u64;

    /// Opens a cursor, which must be positioned by [`Cursor::rewind`].
    fn open(&self) -> Box<dyn Cursor>;
}

/// Cursor over the rows of a table.
pub trait Cursor {
    /// Moves to the first row that may satisfy the filters.
    ///
    /// # Errors
    /// Returns an error message if an argument is invalid.
    fn rewind(&mut self, filters: &[Filter<'_>]) -> Result<(), String>;

    /// Moves to the next row.
    fn advance(&mut self);

    /// Returns true if the cursor is behind the last row.
    fn is_at_end(&self) -> bool;

    /// Returns a cell of the current row.
    fn cell(&self, column: usize) -> Cell<'_>;
}
