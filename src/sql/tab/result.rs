//! Result of a query, shown as a sortable table or saved as a file.

use super::command::PageCommand;
use super::node::Node;
use crate::queries::Queries;
use base::units::{Bytes, group_digits, pluralize};
use protocol::second_file_ordinal;
use sqlite::{Cell, Error, Value, save_rows};
use std::cmp::Ordering;

/// Maximum number of rows in a result.
const MAX_ROWS: usize = 10_000;
/// Number of rows that are added to the page at a time.
const PAGE_ROWS: usize = 200;
/// Maximum number of characters of a cell that are shown.
const MAX_CELL_CHARS: usize = 300;

/// Columns and rows of a query result.
#[derive(Default)]
pub(super) struct QueryResult {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<Cell<'static>>>,
    has_more: bool,
    /// Number of rows that are already on the page.
    shown: usize,
    /// Index of the sort column, and whether the order is descending.
    sorted: Option<(usize, bool)>,
}

impl QueryResult {
    /// Runs a query and collects its rows.
    pub(super) fn run(queries: &Queries, text: &str) -> Result<QueryResult, Error> {
        let mut answer = QueryResult::default();
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

    /// Returns the text of the status line after a query that took `seconds`.
    pub(super) fn status(&self, seconds: f64) -> String {
        let rows = match self.has_more {
            true => format!("The first {} rows", group_digits(MAX_ROWS as u64)),
            false => pluralize(self.rows.len() as u64, "row"),
        };
        let ms = seconds * 1e3;
        let time = if ms < 1000.0 { format!("{} ms", ms.ceil()) } else { format!("{seconds:.1} s") };
        format!("{rows} in {time}.")
    }

    /// Returns true if every cell of a column is a number or empty.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        let is_number = |cell: &Cell<'_>| matches!(cell, Cell::Null | Cell::Integer(_) | Cell::Real(_));
        self.rows.iter().filter_map(|row| row.get(column)).all(is_number)
    }

    /// Returns the table with its header and first rows.
    pub(super) fn table(&mut self) -> Vec<Node> {
        self.shown = 0;
        let heads = self.names.iter().enumerate().map(|(index, name)| {
            let direction = match self.sorted {
                Some((column, is_down)) if column == index => Some(is_down),
                _ => None,
            };
            let order = direction.map_or("none", |is_down| if is_down { "descending" } else { "ascending" });
            let button = Node::new("button").attr("type", "button").attr("data-act", format!("sort:{index}"));
            let button = button.attr("title", "Sort").text(name.as_str());
            Node::new("th").attr("scope", "col").attr("aria-sort", order).children([button])
        });
        let head = Node::new("thead").children([Node::new("tr").children(heads)]);
        let rows = self.more();
        vec![head, Node::new("tbody").attr("id", "sql-rows").children(rows)]
    }

    /// Returns the next rows of the table.
    pub(super) fn more(&mut self) -> Vec<Node> {
        let numeric: Vec<bool> = (0..self.names.len()).map(|column| self.is_numeric(column)).collect();
        let is_bytes = |at: usize| self.names.get(at).is_some_and(|name| name.ends_with("bytes"));
        let first = self.shown;
        let rows = self.rows.get(first..).unwrap_or_default().iter().take(PAGE_ROWS);
        let is_place = self.column(&["id", "allocation"]).or(self.column(&["event", "allocated_at"])).is_some();
        let nodes: Vec<Node> = rows
            .enumerate()
            .map(|(at, row)| {
                let cells = row.iter().zip(&numeric).enumerate().map(|(column, (cell, is_number))| {
                    let title = match cell {
                        Cell::Integer(bytes) if is_bytes(column) && *bytes >= 0 => Bytes(*bytes as u64).to_string(),
                        _ => String::new(),
                    };
                    let cell = Node::new("td").attr("class", if *is_number { "number" } else { "" }).text(cut(cell));
                    cell.attr("title", title)
                });
                let row = Node::new("tr").children(cells);
                if is_place { row.attr("data-act", format!("row:{}", first + at)).attr("tabindex", "0") } else { row }
            })
            .collect();
        self.shown += nodes.len();
        nodes
    }

    /// Sorts the rows by a column. If they are sorted by it already, reverses the order.
    pub(super) fn sort(&mut self, column: usize) {
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
    }

    fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.names.iter().position(|known| known == name))
    }

    /// Returns the command that selects the allocation or event of a clicked row. If two files are compared, the row
    /// must contain a side and a device. `second` is the side of the page's second file.
    pub(super) fn target(&self, row: usize, second: Option<&str>) -> Option<PageCommand> {
        let cell = |names: &[&str]| match self.rows.get(row)?.get(self.column(names)?)? {
            Cell::Integer(value) => Some(*value),
            _ => None,
        };
        let number = |names: &[&str]| cell(names).and_then(|value| u32::try_from(value).ok());
        let (allocation, event) = (number(&["id", "allocation"]), number(&["event", "allocated_at"]));
        let mut device = cell(&["device"]);
        if let Some(second) = second {
            let Cell::Text(side) = self.rows.get(row)?.get(self.column(&["side"])?)? else { return None };
            let ordinal = device?;
            device = Some(if side == second { second_file_ordinal(ordinal) } else { ordinal });
        }
        (allocation.is_some() || event.is_some()).then_some(PageCommand::Go { device, allocation, event })
    }

    /// Returns all rows as text, with `between` as the separator of cells.
    pub(super) fn text(&self, between: char) -> String {
        let safe = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        let line = |cells: Vec<String>| cells.join(&between.to_string()) + "\n";
        let head = line(self.names.iter().map(|name| safe(name)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(|cell| safe(&plain(cell))).collect()));
        head + &rows.collect::<String>()
    }

    /// Returns all rows as CSV (RFC 4180).
    pub(super) fn csv(&self) -> String {
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
    pub(super) fn sqlite(&self) -> Result<Vec<u8>, Error> {
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
pub(super) fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Integer(value) => Some(*value as f64),
        Cell::Real(value) => Some(*value),
        _ => None,
    }
}
