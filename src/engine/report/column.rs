//! Columns of sheets: each is declared once, with its heading, its cell and what stands below all rows.

use crate::protocol::{Cell, Sheet, SheetColumn};
use base::units::Moment;

/// A column of a sheet with a row for each of some `R`s.
pub(super) struct Column<'a, R> {
    key: &'static str,
    label: &'static str,
    cell: Box<dyn Write<R> + 'a>,
    total: Option<Cell>,
}

/// What writes the cell of a row. Not `dyn Fn`, which would bring two more functions along for each column: 14 kB of wasm.
trait Write<R> {
    fn cell(&self, of: R) -> Cell;
}

impl<R, F: Fn(R) -> Cell> Write<R> for F {
    fn cell(&self, of: R) -> Cell {
        self(of)
    }
}

impl<R> Column<'_, R> {
    /// The same, with this cell for all rows together.
    #[inline(never)]
    pub(super) fn total(self, cell: Cell) -> Self {
        Column { total: Some(cell), ..self }
    }
}

/// A column by key, heading and cell.
pub(super) fn cell<'a, R>(key: &'static str, label: &'static str, cell: impl Fn(R) -> Cell + 'a) -> Column<'a, R> {
    column(key, label, Box::new(cell))
}

/// The same, not written out where it is used, as nothing else here that a hundred columns share.
#[inline(never)]
fn column<'a, R>(key: &'static str, label: &'static str, cell: Box<dyn Write<R> + 'a>) -> Column<'a, R> {
    Column { key, label, cell, total: None }
}

/// A column of names or words.
pub(super) fn text<'a, R>(key: &'static str, label: &'static str, text: impl Fn(R) -> String + 'a) -> Column<'a, R> {
    cell(key, label, move |of| Cell::Text(text(of)))
}

/// A column of bytes.
pub(super) fn bytes<'a, R>(key: &'static str, label: &'static str, bytes: impl Fn(R) -> u64 + 'a) -> Column<'a, R> {
    cell(key, label, move |of| Cell::Bytes(bytes(of)))
}

/// A column of numbers.
pub(super) fn count<'a, R>(key: &'static str, label: &'static str, count: impl Fn(R) -> u64 + 'a) -> Column<'a, R> {
    cell(key, label, move |of| Cell::Count(count(of)))
}

/// A column of parts of a whole.
pub(super) fn share<'a, R>(
    key: &'static str,
    label: &'static str,
    share: impl Fn(R) -> (u64, u64) + 'a,
) -> Column<'a, R> {
    cell(key, label, move |of| {
        let (part, whole) = share(of);
        Cell::Share { part, whole }
    })
}

/// A column of moments, named by the event before each.
pub(super) fn event<'a, R>(key: &'static str, label: &'static str, moment: impl Fn(R) -> u32 + 'a) -> Column<'a, R> {
    cell(key, label, move |of| after(moment(of)))
}

/// A moment, by the event before it.
pub(super) fn after(moment: u32) -> Cell {
    Cell::Event(Moment(moment).event_or_minus_one())
}

/// The cells of a row.
#[inline(never)]
pub(super) fn cells<R: Copy>(columns: &[Column<'_, R>], of: R) -> Vec<Cell> {
    columns.iter().map(|column| column.cell.cell(of)).collect()
}

/// A sheet without rows: key, title and note, and its columns.
pub(super) fn sheet<R>(words: [&str; 3], columns: &[Column<'_, R>]) -> Sheet {
    headed(words, &mut columns.iter().map(|column| (column.key, column.label, &column.total)))
}

/// The same for rows of any type.
#[inline(never)]
fn headed(
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
