//! Result of a query, which can be sorted, read in parts and saved as a file.

use crate::queries::Queries;
use protocol::second_file_ordinal;
use protocol::sql::{Row, RowTarget};
use sqlite::{Cell, Error, Value, save_rows};
use std::cmp::Ordering;

/// Maximum number of rows in a result.
const MAX_ROWS: usize = 10_000;
/// Number of rows that are sent to the page at a time.
const PAGE_ROWS: usize = 200;
/// Maximum number of characters of a cell that are shown.
const MAX_CELL_CHARS: usize = 300;

/// Columns and rows of a query result.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell<'static>>>,
    /// True if the query has more rows.
    pub(crate) has_more: bool,
    /// Number of rows that the page has.
    sent: usize,
    /// Index of the sort column, and whether the order is descending.
    sorted: Option<(usize, bool)>,
}

impl Rows {
    /// Runs a query and collects its rows.
    pub(crate) fn run(queries: &Queries, text: &str) -> Result<Rows, Error> {
        let mut answer = Rows::default();
        let (names, rows, has_more) = (&mut answer.names, &mut answer.rows, &mut answer.has_more);
        queries.run(
            text,
            &mut |columns| *names = columns.iter().map(|&name| name.to_owned()).collect(),
            &mut |values| {
                *has_more = rows.len() == MAX_ROWS;
                if !*has_more {
                    rows.push(values.iter().map(|value| owned(*value)).collect());
                }
                !*has_more
            },
        )?;
        Ok(answer)
    }

    /// Returns true if every cell of a column is a number or empty.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let is_number = |cell: &Cell<'_>| matches!(cell, Cell::Null | Cell::Integer(_) | Cell::Real(_));
        self.rows.iter().filter_map(|row| row.get(column)).all(is_number)
    }

    /// Returns the next rows. If two files are compared, `second` is the side of the page's second file.
    pub(crate) fn more(&mut self, second: Option<&str>) -> Vec<Row> {
        let rows = self.rows.get(self.sent..).unwrap_or_default().iter().take(PAGE_ROWS);
        let rows: Vec<Row> =
            rows.map(|row| Row { cells: row.iter().map(cut).collect(), target: self.target(row, second) }).collect();
        self.sent += rows.len();
        rows
    }

    /// Sorts the rows by a column. If they are sorted by it already, reverses the order. Returns whether it is
    /// descending.
    pub(crate) fn sort(&mut self, column: usize) -> bool {
        let is_down = match self.sorted {
            Some((known, is_down)) if known == column => !is_down,
            // Numbers start in descending order.
            _ => self.is_numeric(column),
        };
        self.sorted = Some((column, is_down));
        self.rows.sort_by(|one, other| {
            let order = compare(one.get(column), other.get(column));
            if is_down { order.reverse() } else { order }
        });
        self.sent = 0;
        is_down
    }

    fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.names.iter().position(|known| known == name))
    }

    /// Returns the allocation or event that a row is about. If two files are compared, the row must contain a side and
    /// a device.
    fn target(&self, row: &[Cell<'_>], second: Option<&str>) -> Option<RowTarget> {
        let cell = |names: &[&str]| match row.get(self.column(names)?)? {
            Cell::Integer(value) => Some(*value),
            _ => None,
        };
        let number = |names: &[&str]| cell(names).and_then(|value| u32::try_from(value).ok());
        let (allocation, event) = (number(&["id", "allocation"]), number(&["event", "allocated_at"]));
        let mut device = cell(&["device"]);
        if let Some(second) = second {
            let Cell::Text(side) = row.get(self.column(&["side"])?)? else { return None };
            let ordinal = device?;
            device = Some(if side == second { second_file_ordinal(ordinal) } else { ordinal });
        }
        (allocation.is_some() || event.is_some()).then_some(RowTarget { device, allocation, event })
    }

    /// Returns all rows as text, with `between` as the separator of cells.
    pub(crate) fn text(&self, between: char) -> String {
        let safe = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        let line = |cells: Vec<String>| cells.join(&between.to_string()) + "\n";
        let head = line(self.names.iter().map(|name| safe(name)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(|cell| safe(&plain(cell))).collect()));
        head + &rows.collect::<String>()
    }

    /// Returns all rows as CSV (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let field = |text: &str, is_text: bool| {
            // A spreadsheet would run it as a formula.
            let is_formula = is_text && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
            match is_formula || text.contains([',', '"', '\r', '\n']) {
                true => format!("\"{}{}\"", if is_formula { "'" } else { "" }, text.replace('"', "\"\"")),
                false => text.to_owned(),
            }
        };
        let line = |cells: Vec<String>| cells.join(",") + "\r\n";
        let head = line(self.names.iter().map(|name| field(name, true)).collect());
        let row = |row: &Vec<Cell<'static>>| {
            line(row.iter().map(|cell| field(&plain(cell), matches!(cell, Cell::Text(_)))).collect())
        };
        head + &self.rows.iter().map(row).collect::<String>()
    }

    /// Returns all rows as an SQLite file.
    pub(crate) fn sqlite(&self) -> Result<Vec<u8>, Error> {
        save_rows(&self.names, &self.rows)
    }
}

fn owned(value: Value<'_>) -> Cell<'static> {
    match value {
        Value::Null => Cell::Null,
        Value::Integer(value) => Cell::Integer(value),
        Value::Real(value) => Cell::Real(value),
        Value::Text(text) => text.to_owned().into(),
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

fn plain(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        Cell::Text(text) => text.to_string(),
    }
}

fn cut(cell: &Cell<'_>) -> String {
    let text = plain(cell);
    match text.char_indices().nth(MAX_CELL_CHARS) {
        Some((at, _)) => [text.get(..at).unwrap_or_default(), "…"].concat(),
        None => text,
    }
}

/// Compares cells in the order of SQLite: null, then numbers, then text.
fn compare(one: Option<&Cell<'_>>, other: Option<&Cell<'_>>) -> Ordering {
    let rank = |cell: Option<&Cell<'_>>| match cell {
        None | Some(Cell::Null) => 0,
        Some(Cell::Integer(_) | Cell::Real(_)) => 1,
        Some(Cell::Text(_)) => 2,
    };
    match (one, other) {
        (Some(Cell::Integer(one)), Some(Cell::Integer(other))) => one.cmp(other),
        (Some(Cell::Text(one)), Some(Cell::Text(other))) => one.cmp(other),
        (Some(one), Some(other)) => match (number(one), number(other)) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            _ => rank(Some(one)).cmp(&rank(Some(other))),
        },
        _ => rank(one).cmp(&rank(other)),
    }
}

/// Returns the value of a numeric cell. `None` for text, blobs and NULL.
pub(crate) fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Integer(value) => Some(*value as f64),
        Cell::Real(value) => Some(*value),
        _ => None,
    }
}
