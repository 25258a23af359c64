//! The trait that tables implement, and the types it uses.

use crate::cell::{Cell, Value};

/// Type of a column's cells. Any cell may be empty.
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
    /// True if `SELECT *` omits the column. Arguments of a table function are assigned to its hidden columns, in order.
    pub hidden: bool,
}

/// A column that works like an index: a table can find its values without reading all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekColumn {
    /// Index of the column.
    pub column: usize,
    /// True if the table can also find ranges of values, and not only single ones.
    pub has_bounds: bool,
    /// Average fraction of the rows (0 to 1) that have the same value in this column.
    pub share: f64,
    /// True if the column is an argument of a table function. The rows depend on it, and SQLite cannot check it.
    pub is_argument: bool,
}

/// Kind of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Equal,
    /// This value and above. SQLite excludes the value itself if necessary.
    AtLeast,
    /// This value and below. SQLite excludes the value itself if necessary.
    AtMost,
}

/// A condition on a column in [`Table::seeks`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter<'a> {
    pub column: usize,
    pub bound: Bound,
    pub value: Value<'a>,
}

/// A table that SQLite can query.
pub trait Table {
    /// Returns the columns.
    fn columns(&self) -> Vec<Column>;

    /// Returns the columns that work like an index.
    fn seeks(&self) -> Vec<SeekColumn>;

    /// Returns the columns that define the ascending sort order of the rows, most significant first.
    fn order(&self) -> Vec<usize>;

    /// Returns the approximate number of rows.
    fn row_count(&self) -> u64;

    /// Opens a cursor.
    fn open(&self) -> Box<dyn Cursor>;
}

/// A cursor over the rows of a table.
pub trait Cursor {
    /// Moves to the first row that may pass the filters.
    ///
    /// # Errors
    /// Returns a sentence if an argument is invalid.
    fn rewind(&mut self, filters: &[Filter<'_>]) -> Result<(), String>;

    /// Moves to the next row.
    fn advance(&mut self);

    /// Returns true after the last row.
    fn is_at_end(&self) -> bool;

    /// Returns a cell of the current row.
    fn cell(&self, column: usize) -> Cell<'_>;
}
