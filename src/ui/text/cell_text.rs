//! Formats the cells of reports as text, for the page, Markdown and the terminal.

use crate::text::amount::percent;
use base::units::{Bytes, duration_us, group_digits};
use protocol::{Cell, Sheet, SheetRow, Threshold};

/// Formats a cell with exact values: `39,951,360 B`. Returns an empty string for [`Cell::Empty`].
pub fn exact(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Bytes(bytes) => group_digits(*bytes) + " B",
        Cell::Change(bytes) => signed(*bytes, &(group_digits(bytes.unsigned_abs()) + " B")),
        Cell::Count(count) => group_digits(*count),
        Cell::Share { whole: 0, .. } => String::new(),
        Cell::Share { part, whole } => percent(*part, *whole),
        // Scaled to an integer so that `percent` rounds it like other shares.
        Cell::Ratio(ratio) => percent((ratio.clamp(0.0, 1.0) * 1e6) as u64, 1_000_000),
        Cell::Micros(us) => duration_us(i64::try_from(*us).unwrap_or(i64::MAX)),
        Cell::Event(event) if *event < 0 => "before the first".to_owned(),
        Cell::Event(event) => group_digits(event.unsigned_abs()),
    }
}

/// Formats a cell, with bytes in three significant digits: `38.1 MiB`.
pub fn short(cell: &Cell) -> String {
    match cell {
        Cell::Bytes(bytes) => Bytes(*bytes).to_string(),
        Cell::Change(bytes) => signed(*bytes, &Bytes(bytes.unsigned_abs()).to_string()),
        other => exact(other),
    }
}

fn signed(value: i64, text: &str) -> String {
    let sign = match value {
        ..0 => "−",
        0 => "",
        1.. => "+",
    };
    [sign, text].concat()
}

/// Returns whether a column of a table contains no text. Such columns are right-aligned.
pub fn is_numeric(sheet: &Sheet, column: usize) -> bool {
    let mut cells = sheet.rows.iter().filter_map(|row| row.cells.get(column));
    cells.all(|cell| !matches!(cell, Cell::Text(_)))
}

/// Returns the totals of a table as a row labelled "all", or `None` if the table has no totals. The label goes into the
/// first empty cell, preferably of a text column.
pub fn total_row(sheet: &Sheet) -> Option<SheetRow> {
    let mut cells = sheet.total.clone();
    let mut free = (0..cells.len()).filter(|&index| cells.get(index) == Some(&Cell::Empty));
    let name = free.clone().find(|&index| !is_numeric(sheet, index)).or_else(|| free.next());
    if let Some(cell) = name.and_then(|index| cells.get_mut(index)) {
        *cell = Cell::Text("all".to_owned());
    }
    (!cells.is_empty()).then(|| SheetRow { cells, ..SheetRow::default() })
}

/// Formats a threshold: `at least 1,048,576 bytes`.
pub fn threshold_text(threshold: &Threshold) -> String {
    [&threshold.label, " ", &group_digits(threshold.value), " ", &threshold.unit].concat()
}

/// Formats the number of omitted rows: `and 12 more`. `None` if no rows are omitted.
pub fn left_out_text(sheet: &Sheet) -> Option<String> {
    (sheet.left_out > 0).then(|| ["and ", &group_digits(sheet.left_out.into()), " more"].concat())
}

#[cfg(test)]
#[path = "../../../tests/units/ui/cell_text.rs"]
mod tests;
