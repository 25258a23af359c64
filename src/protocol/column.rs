//! Columns of report tables. A column's heading, cells and total are declared together.

use crate::{Cell, Sheet, SheetColumn, SheetRow};
use base::units::Moment;

/// A column of a table. Each row of the table shows one value of type `R`.
pub struct Column<'a, R> {
    key: &'static str,
    label: &'static str,
    cell: Box<dyn CellFn<R> + 'a>,
    total: Option<Cell>,
}

/// Function that returns the cell of a row.
///
/// A trait is used instead of `dyn Fn`, which would generate two more functions per column (14 kB of wasm).
trait CellFn<R> {
    fn cell(&self, row: R) -> Cell;
}

impl<R, F: Fn(R) -> Cell> CellFn<R> for F {
    fn cell(&self, row: R) -> Cell {
        self(row)
    }
}

impl<R> Column<'_, R> {
    /// Sets the column's cell in the total row.
    pub fn total(self, cell: Cell) -> Self {
        Column { total: Some(cell), ..self }
    }
}

/// Creates a column from its key, its heading, and the function that returns the cell of a row.
pub fn cell<'a, R>(key: &'static str, label: &'static str, cell: impl Fn(R) -> Cell + 'a) -> Column<'a, R> {
    Column { key, label, cell: Box::new(cell), total: None }
}

/// Creates a column of text.
pub fn text<'a, R>(key: &'static str, label: &'static str, text: impl Fn(R) -> String + 'a) -> Column<'a, R> {
    cell(key, label, move |row| Cell::Text(text(row)))
}

/// Creates a column of byte counts.
pub fn bytes<'a, R>(key: &'static str, label: &'static str, bytes: impl Fn(R) -> u64 + 'a) -> Column<'a, R> {
    cell(key, label, move |row| Cell::Bytes(bytes(row)))
}

/// Creates a column of counts.
pub fn count<'a, R>(key: &'static str, label: &'static str, count: impl Fn(R) -> u64 + 'a) -> Column<'a, R> {
    cell(key, label, move |row| Cell::Count(count(row)))
}

/// Creates a column of shares. `share` returns a part and the total.
pub fn share<'a, R>(key: &'static str, label: &'static str, share: impl Fn(R) -> (u64, u64) + 'a) -> Column<'a, R> {
    cell(key, label, move |row| {
        let (part, whole) = share(row);
        Cell::Share { part, whole }
    })
}

/// Creates a column of moments. Each moment is shown as the index of the event before it.
pub fn event<'a, R>(key: &'static str, label: &'static str, moment: impl Fn(R) -> u32 + 'a) -> Column<'a, R> {
    cell(key, label, move |row| moment_cell(moment(row)))
}

/// Returns the cell for a moment, which shows the index of the event before the moment.
pub fn moment_cell(moment: u32) -> Cell {
    Cell::Event(Moment(moment).event_or_minus_one())
}

/// Returns the cells of a row.
pub fn cells<R: Copy>(columns: &[Column<'_, R>], row: R) -> Vec<Cell> {
    columns.iter().map(|column| column.cell.cell(row)).collect()
}

/// Creates a table without rows from its columns. `words` contains the key, title and note of the table.
pub fn sheet<R>(words: [&str; 3], columns: &[Column<'_, R>]) -> Sheet {
    sheet_from_headings(words, &mut columns.iter().map(|column| (column.key, column.label, &column.total)))
}

/// Adds rows to a table, one for each item of `ranked` up to `max_rows`. `row` creates the row of an item, without
/// cells.
pub fn add_rows<R: Copy>(
    mut sheet: Sheet,
    columns: &[Column<'_, R>],
    ranked: &[R],
    max_rows: usize,
    mut row: impl FnMut(R) -> SheetRow,
) -> Sheet {
    let listed = ranked.get(..max_rows).unwrap_or(ranked);
    sheet.left_out = sheet.left_out.max(ranked.len() as u32).saturating_sub(listed.len() as u32);
    sheet.rows = listed.iter().map(|&item| SheetRow { cells: cells(columns, item), ..row(item) }).collect();
    sheet
}

/// Creates a table without rows from the headings and totals of its columns. It is not generic, so all row types share
/// its code.
fn sheet_from_headings(
    [key, title, note]: [&str; 3],
    columns: &mut dyn Iterator<Item = (&'static str, &'static str, &Option<Cell>)>,
) -> Sheet {
    let (mut headings, mut totals, mut has_total) = (Vec::new(), Vec::new(), false);
    for (key, label, total) in columns {
        headings.push(SheetColumn { key: key.to_owned(), label: label.to_owned() });
        has_total |= total.is_some();
        totals.push(total.clone().unwrap_or_default());
    }
    if !has_total {
        totals.clear();
    }
    Sheet {
        key: key.to_owned(),
        title: title.to_owned(),
        note: note.to_owned(),
        columns: headings,
        total: totals,
        ..Sheet::default()
    }
}
