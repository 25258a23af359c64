//! Writes a report as text, fitted to the width of the terminal.

use super::output::printable;
use super::table::{self, Table};
use protocol::{Cell, Report, Sheet, SheetColumn, Tone};
use ui::text::cell_text::{exact, is_numeric, left_out_text, threshold_text, total_row};

/// Maximum width of a name column in output that is not fitted to a terminal. Longer names overflow.
const MAX_NAME: usize = 60;

/// Formats a report. `of` is the file and device that it describes, which may be empty.
pub(crate) fn as_text(report: &Report, of: &str) -> String {
    let of = if of.is_empty() { String::new() } else { [": ", of].concat() };
    let mut text = printable(&[report.topic.title(), &of].concat()) + "\n";
    for statement in &report.statements {
        let mark = match statement.tone {
            Tone::Fact => "-",
            Tone::Good => "✓",
            Tone::Alarm => "!",
        };
        text.push_str(&format!("  {mark} {}\n", printable(&statement.text)));
        if !statement.fix.is_empty() {
            text.push_str(&format!("    Fix: {}\n", printable(&statement.fix)));
        }
    }
    report.sheets.iter().for_each(|sheet| write_sheet(&mut text, sheet));
    text
}

fn write_sheet(text: &mut String, sheet: &Sheet) {
    let asked = sheet
        .threshold
        .as_ref()
        .map_or_else(String::new, |it| format!(" ({}; --threshold {}=N)", threshold_text(it), it.key));
    text.push_str(&format!("\n{}\n", printable(&format!("{}{asked}", sheet.title))));
    if !sheet.note.is_empty() {
        text.push_str(&format!("  {}\n", printable(&sheet.note)));
    }
    if sheet.rows.is_empty() && sheet.left_out == 0 {
        text.push_str("  none\n");
        return;
    }
    let column = |(at, column): (usize, &SheetColumn)| match is_numeric(sheet, at) {
        true => table::number_column(&column.label, 0),
        false => table::name_column(&column.label).max_width(MAX_NAME),
    };
    let mut table = Table::new(2, sheet.columns.iter().enumerate().map(column).collect::<Vec<_>>());
    for row in sheet.rows.iter().chain(&total_row(sheet)) {
        let mut cells: Vec<String> = row.cells.iter().map(exact).collect();
        if let Some(name) = row.cells.iter().position(|cell| matches!(cell, Cell::Text(_)))
            && let Some(cell) = cells.get_mut(name)
        {
            cell.insert_str(0, &"  ".repeat(row.depth.min(64) as usize));
        }
        table.push(cells);
    }
    text.push_str(&table.text());
    if let Some(words) = left_out_text(sheet) {
        text.push_str(&format!("  {words} (see --top)\n"));
    }
}
