//! Tables of a report.

use crate::features::insights::cells::{CellView, cell_view, spreadsheet_text};
use crate::features::insights::{InsightsTab, MAX_ROWS, ReportItem};
use crate::text::cell_text::total_row;
use crate::text::names::shared_beginnings;
use crate::text::size_text;
use base::units::pluralize;
use protocol::category::category_label;
use protocol::{Cell, Sheet, SheetRow, Threshold, Tone};

/// A table of a report, with a title and a note.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetView {
    /// Key that is unique within the report.
    pub key: String,
    pub title: String,
    /// True if only the title is visible.
    pub is_collapsed: bool,
    /// Explanation of the numbers in the table.
    pub note: String,
    /// The threshold, and its value as it can be typed if it is in bytes: `300 MiB`.
    pub threshold: Option<(Threshold, String)>,
    /// Heading and kind of each column.
    pub columns: Vec<(String, ColumnKind)>,
    pub rows: Vec<SheetRowView>,
    /// Cells of the total row. Empty if the table has no totals.
    pub total: Vec<CellView>,
    /// Label of the button that shows more rows. Empty if all rows are visible or the maximum is reached.
    pub more: String,
    /// Number of rows beyond the maximum, as text. Empty if all rows can be shown.
    pub not_shown: String,
}

/// Content of a table column. Determines the style of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Names of the rows. This column takes the remaining width.
    Name,
    Text,
    Number,
    /// Shares, drawn as bars.
    Share,
}

impl ColumnKind {
    /// Returns the CSS class of the cells in this column.
    pub fn css_class(self) -> &'static str {
        match self {
            ColumnKind::Name => "name",
            ColumnKind::Text => "text",
            ColumnKind::Number => "number",
            ColumnKind::Share => "share",
        }
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetRowView {
    /// Index among all visible summary sentences and table rows of the report.
    pub index: usize,
    pub depth: u32,
    pub tone: Tone,
    /// Each cell as shown, and as plain text for a spreadsheet.
    pub cells: Vec<(CellView, String)>,
    /// True if a click shows evidence.
    pub has_evidence: bool,
    /// Call stack of the row: missing, hidden or visible.
    pub stack: StackView,
}

/// State of a row's call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackView {
    /// The row has no call stack.
    None,
    /// The call stack is hidden.
    Hidden,
    /// Lines of the visible stack, and its place among the stacks of the row: `1 of 12 stacks`. The place is empty if
    /// the row has one stack.
    Visible(Vec<String>, String),
}

/// Formats a table, with its first `seen` rows. `item_index` is the index of the next item of the report.
pub(super) fn sheet_view(tab: &InsightsTab, sheet: &Sheet, item_index: &mut usize, seen: usize) -> SheetView {
    let mut rows = Vec::with_capacity(seen);
    for (row, line) in sheet.rows.iter().take(seen).enumerate() {
        let item = ReportItem { sheet: Some(sheet.key.clone()), row };
        rows.push(SheetRowView {
            index: *item_index,
            depth: line.depth,
            tone: line.tone,
            cells: line.cells.iter().map(|cell| (cell_view(cell), spreadsheet_text(cell))).collect(),
            has_evidence: line.evidence.is_some(),
            stack: match tab.open_stack(&item) {
                _ if line.stack.is_empty() => StackView::None,
                None => StackView::Hidden,
                Some(index) => {
                    let shown = index.checked_sub(1).and_then(|other| line.other_stacks.get(other));
                    let place = match line.other_stacks.len() as u64 {
                        0 => String::new(),
                        others => format!("{} of {}", 1 + index, pluralize(1 + others, "stack")),
                    };
                    StackView::Visible(shown.unwrap_or(&line.stack).clone(), place)
                }
            },
        });
        *item_index += 1;
    }
    for (column, head) in sheet.columns.iter().enumerate() {
        let name = |row: &SheetRow| match row.cells.get(column) {
            Some(Cell::Text(name)) if head.key == "category" => category_label(name).to_owned(),
            Some(Cell::Text(name)) => name.clone(),
            _ => String::new(),
        };
        let names: Vec<String> = sheet.rows.iter().take(seen).map(name).collect();
        let shared = shared_beginnings(&names.iter().map(String::as_str).collect::<Vec<&str>>());
        for (row, (name, shared)) in rows.iter_mut().zip(names.into_iter().zip(shared)) {
            if let Some((cell, _)) = row.cells.get_mut(column).filter(|_| !name.is_empty()) {
                (cell.text, cell.shared) = (name, shared);
            }
        }
    }
    let hidden = u64::from(sheet.left_out).saturating_add((sheet.rows.len() - seen) as u64);
    let threshold = sheet.threshold.clone().map(|threshold| {
        let short = if threshold.unit == "bytes" { size_text::typed(threshold.value) } else { String::new() };
        (threshold, short)
    });
    let hidden = if hidden == 0 { String::new() } else { pluralize(hidden, "row") + " more" };
    let (more, not_shown) =
        if tab.row_limit(&sheet.key) < MAX_ROWS { (hidden, String::new()) } else { (String::new(), hidden) };
    SheetView {
        key: sheet.key.clone(),
        title: sheet.title.clone(),
        is_collapsed: tab.is_collapsed(&sheet.key) && seen == 0,
        note: sheet.note.clone(),
        threshold,
        columns: columns(sheet),
        rows,
        total: total_row(sheet).iter().flat_map(|row| &row.cells).map(cell_view).collect(),
        more,
        not_shown,
    }
}

/// Returns the heading and kind of each column. The kind is derived from the cells. The first text column has the row
/// names.
fn columns(sheet: &Sheet) -> Vec<(String, ColumnKind)> {
    let mut has_name = false;
    let mut columns = Vec::with_capacity(sheet.columns.len());
    for (index, column) in sheet.columns.iter().enumerate() {
        let cells = sheet.rows.iter().map(|row| &row.cells).chain([&sheet.total]);
        let kind = cells.filter_map(|cells| cells.get(index)).find_map(|cell| match cell {
            Cell::Empty => None,
            Cell::Text(_) => Some(ColumnKind::Text),
            Cell::Share { .. } => Some(ColumnKind::Share),
            _ => Some(ColumnKind::Number),
        });
        let kind = match kind {
            Some(ColumnKind::Text) | None if !has_name => {
                has_name = true;
                ColumnKind::Name
            }
            kind => kind.unwrap_or(ColumnKind::Number),
        };
        columns.push((column.label.clone(), kind));
    }
    columns
}

/// Formats a table as tab-separated lines: headings, rows and total, with plain numbers.
pub fn tab_separated(sheet: &Sheet) -> String {
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                text.push('\t');
            }
            text.push_str(&cell);
        }
        text.push('\n');
    };
    line(&mut sheet.columns.iter().map(|column| column.label.clone()));
    for row in &sheet.rows {
        line(&mut row.cells.iter().map(spreadsheet_text));
    }
    if !sheet.total.is_empty() {
        line(&mut sheet.total.iter().map(spreadsheet_text));
    }
    text
}
