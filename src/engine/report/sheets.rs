//! Sheets, columns and evidence, made in one word each.

use crate::engine::protocol::{Cell, Evidence, Sheet, SheetColumn, SheetRow, Span, Statement, Tone};

/// A sheet without rows: key, title, note and the columns' keys and labels.
pub(super) fn sheet([key, title, note]: [&str; 3], columns: &[(&str, &str)]) -> Sheet {
    let column = |&(key, label): &(&str, &str)| SheetColumn { key: key.to_owned(), label: label.to_owned() };
    let [key, title, note] = [key, title, note].map(str::to_owned);
    Sheet { key, title, note, columns: columns.iter().map(column).collect(), ..Sheet::default() }
}

/// A row of cells with its evidence.
pub(super) fn row(cells: Vec<Cell>, evidence: Evidence) -> SheetRow {
    SheetRow { cells, evidence: Some(evidence), ..SheetRow::default() }
}

/// A range of the trace and a moment in it.
pub(super) fn shown(span: Span, moment: u32) -> Evidence {
    Evidence { span: Some(span), moment: Some(moment), ..Evidence::default() }
}

/// A sentence.
pub(super) fn says(tone: Tone, text: String, evidence: Option<Evidence>) -> Statement {
    Statement { tone, text, evidence }
}
