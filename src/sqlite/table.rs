//! What a table must say of itself.

use crate::cell::{Cell, Value};

/// What the cells of a column are; any of them may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Text,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// `SELECT *` leaves it out. Values of a table that is called like a function go to its hidden columns, in order.
    pub hidden: bool,
}

/// A column by which a table finds rows without reading all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seek {
    /// Its place.
    pub column: usize,
    /// Whether bounds help as well, and not one value alone.
    pub has_bounds: bool,
    /// Which part of the rows one value leaves.
    pub share: f64,
    /// Whether it is an argument: the rows depend on it, and nobody else can tell which they are.
    pub is_argument: bool,
}

/// Which side of a value is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Equal,
    /// This value and above; the value itself may be unwanted, which SQLite checks.
    From,
    /// This value and below, likewise.
    To,
}

/// A condition on a column that is one of the [`Table::seeks`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter<'a> {
    pub column: usize,
    pub bound: Bound,
    pub value: Value<'a>,
}

/// A table.
pub trait Table {
    /// Its columns.
    fn columns(&self) -> Vec<Column>;

    /// The columns by which it finds rows.
    fn seeks(&self) -> Vec<Seek>;

    /// The columns by which its rows are in ascending order, the most important first.
    fn order(&self) -> Vec<usize>;

    /// About how many rows it has.
    fn row_count(&self) -> u64;

    /// What reads it.
    fn open(&self) -> Box<dyn Cursor>;
}

/// A place in a table.
pub trait Cursor {
    /// Goes to the first row of those that may pass these filters.
    ///
    /// # Errors
    /// An argument is wrong: one sentence.
    fn begin(&mut self, filters: &[Filter<'_>]) -> Result<(), String>;

    /// Goes to the next row.
    fn advance(&mut self);

    /// Whether there are no more rows.
    fn is_over(&self) -> bool;

    /// A cell of the row.
    fn cell(&self, column: usize) -> Cell<'_>;
}
