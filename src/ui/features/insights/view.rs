//! Contents of the Insights tab: a report of any topic as summary sentences and tables of text.

use crate::features::insights::cells::{CellView, cell_view, spreadsheet_text};
use crate::features::insights::{InsightsTab, MAX_ROWS, ReportItem};
use crate::plot::comparing;
use crate::state::shared::Shared;
use crate::text::amount::{change, per_mille};
use crate::text::cell_text::total_row;
use crate::text::names::shared_beginnings;
use crate::text::size_text;
use base::units::{Bytes, pluralize};
use protocol::category::category_label;
use protocol::{Cell, Chart, DeltaBox, HeatMap, Report, Sheet, SheetRow, Threshold, Tone, Topic};
use std::rc::Rc;

/// Returns the symbol of a tone, and its text for screen readers. Both are empty for plain facts.
pub fn tone_symbol(tone: Tone) -> [&'static str; 2] {
    match tone {
        Tone::Fact => ["", ""],
        Tone::Good => ["✓", "Good: "],
        Tone::Alarm => ["⚠", "Warning: "],
    }
}

/// State that determines the contents of a report, except for the clicked and the active item. The page rebuilds the
/// report only when this state changes.
#[derive(Clone, Debug)]
pub struct ReportInputs {
    report: Option<Rc<Report>>,
    row_limits: Vec<(String, u64)>,
    unfolded: Vec<(Topic, ReportItem, usize)>,
    folded: Vec<(Topic, String)>,
}

impl PartialEq for ReportInputs {
    fn eq(&self, other: &ReportInputs) -> bool {
        let same = match (&self.report, &other.report) {
            (Some(one), Some(another)) => Rc::ptr_eq(one, another),
            (one, another) => one.is_none() && another.is_none(),
        };
        same && self.row_limits == other.row_limits && self.unfolded == other.unfolded && self.folded == other.folded
    }
}

pub fn report_inputs(tab: &InsightsTab) -> ReportInputs {
    let sheets = tab.report().into_iter().flat_map(|report| &report.sheets);
    let row_limits = sheets.map(|sheet| (sheet.key.clone(), tab.row_limit(&sheet.key))).collect();
    ReportInputs {
        report: tab.report().cloned(),
        row_limits,
        unfolded: tab.open_stacks.clone(),
        folded: tab.collapsed.clone(),
    }
}

/// State of the tab that can change without a new report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TabState {
    pub topic: Topic,
    /// Topics that are available, in display order.
    pub available: Vec<Topic>,
    /// Topics whose loaded reports contain warnings.
    pub alarms: Vec<Topic>,
    /// True while the request for the visible report is pending.
    pub is_busy: bool,
    /// Index of the item that was clicked last, among all items of the report.
    pub clicked: Option<usize>,
    /// Index of the active item, among all items of the report.
    pub active: usize,
    /// Text shown instead of a report.
    pub note: &'static str,
}

/// Returns all topics, in display order: those that are not always available come first.
pub fn all_topics() -> impl Iterator<Item = Topic> {
    let others = Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range());
    [Topic::Ranks, Topic::Comparison, Topic::Range].into_iter().chain(others)
}

/// Returns the topics that are available for the open file, in display order.
pub fn available_topics(shared: &Shared) -> Vec<Topic> {
    let is_available = |topic: &Topic| match topic {
        Topic::Ranks => shared.ranks.is_available(),
        Topic::Comparison => comparing::part::is_compared(shared),
        topic => !topic.depends_on_range() || shared.cursor.range.is_some(),
    };
    all_topics().filter(is_available).collect()
}

/// Returns the topics whose loaded reports contain warnings, without those that repeat the warning of another topic.
pub fn alarms(tab: &InsightsTab) -> Vec<Topic> {
    let is_alarm = |report: &Report| report.statements.iter().any(|statement| statement.tone == Tone::Alarm);
    let warns = |topic: &Topic| tab.reports.iter().any(|(of, report)| of.topic == *topic && is_alarm(report));
    let repeats = |topic: &Topic| Topic::ALL.iter().any(|of| of.repeated_by().contains(topic) && warns(of));
    Topic::ALL.into_iter().filter(|topic| warns(topic) && !repeats(topic)).collect()
}

/// Returns the first sentence of the comparison that is shown. `None` until it is known.
pub fn comparison_verdict(tab: &InsightsTab, shared: &Shared) -> Option<String> {
    let pairing = comparing::part::insight_pairing(shared)?;
    let (_, report) = tab.reports.iter().find(|(question, _)| question.pairing == Some(pairing))?;
    report.statements.first().map(|first| first.text.clone())
}

/// Returns the parts of the tab that can change without a new report.
pub fn tab_state(tab: &InsightsTab, shared: &Shared) -> TabState {
    let items = tab.items();
    let note = match tab.report() {
        None if tab.is_loading() => "Computing…",
        None if tab.topic == Topic::Comparison => "Loading…",
        None if tab.topic == Topic::Ranks && shared.ranks.is_started() => "Surveying…",
        Some(report) if report.statements.is_empty() && report.sheets.is_empty() => {
            "Nothing to report for this device."
        }
        _ => "",
    };
    TabState {
        topic: tab.topic,
        available: available_topics(shared),
        alarms: alarms(tab),
        is_busy: tab.is_loading(),
        clicked: items.iter().position(|item| tab.is_clicked(item)),
        active: tab.active.min(items.len().saturating_sub(1)),
        note,
    }
}

/// The contents of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportView {
    pub statements: Vec<StatementView>,
    pub sheets: Vec<SheetView>,
}

/// A summary sentence of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementView {
    pub tone: Tone,
    pub text: String,
    /// Recommended change. Empty if there is none.
    pub fix: String,
    pub chart: Option<ChartView>,
    /// True if a click shows evidence.
    pub has_evidence: bool,
}

/// A chart below a summary sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartView {
    pub kind: ChartKind,
    /// Bars of a curve, or sections of a stacked bar.
    pub marks: Vec<ChartMark>,
    /// Description for screen readers, such as the start and end values of a curve. Empty for a stacked bar.
    pub text: String,
    pub map: Option<HeatMap>,
    /// Boxes of a differential flame graph.
    pub boxes: Vec<BoxView>,
}

/// A box of a differential flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxView {
    pub depth: u32,
    /// Left edge of the box, from 0 to [`DeltaBox::FULL_WIDTH`], the full width.
    pub left: u32,
    pub width: u32,
    /// Difference and name, such as `▲ +1.20 GiB model.py:12 forward`.
    pub label: String,
    pub title: String,
    /// CSS class: `more`, `less` or `same`.
    pub direction: &'static str,
}

/// Type of a chart: bars, a stacked bar, a heat map or a differential flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Bars from left to right, one per value.
    Curve,
    /// Sections of a stacked bar.
    Parts,
    Map,
    /// A differential flame graph.
    Delta,
}

/// A bar of a curve, or a section of a stacked bar.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartMark {
    /// Height relative to the highest bar, or share of the stacked bar, in thousandths.
    pub per_mille: u32,
    /// Name and bytes, such as `Live 3.20 GiB`.
    pub label: String,
    /// Palette slot. See [`protocol::ChartPart::slot`].
    pub slot: Option<u32>,
}

fn chart(chart: &Chart) -> ChartView {
    let mark = |whole: u64, bytes: u64, name: &str, slot| ChartMark {
        slot,
        per_mille: per_mille(bytes, whole),
        label: [name, " ", &Bytes(bytes).to_string()].concat().trim().to_owned(),
    };
    match chart {
        Chart::Parts(parts) => {
            let whole = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
            let marks = parts.iter().map(|part| mark(whole, part.bytes, &part.name, part.slot)).collect();
            ChartView { kind: ChartKind::Parts, marks, text: String::new(), map: None, boxes: Vec::new() }
        }
        Chart::Line { values, ends } => {
            let highest = values.iter().copied().max().unwrap_or(0);
            let text = |bytes: Option<&u64>, end: &str| {
                [&Bytes(bytes.copied().unwrap_or(0)).to_string(), " after ", end].concat()
            };
            let text = [text(values.first(), &ends[0]), text(values.last(), &ends[1])].join(" → ");
            let marks = values.iter().map(|&bytes| mark(highest, bytes, "", None)).collect();
            ChartView { kind: ChartKind::Curve, marks, text, map: None, boxes: Vec::new() }
        }
        Chart::HeatMap(map) => ChartView {
            kind: ChartKind::Map,
            marks: Vec::new(),
            text: map_text(map),
            map: Some(map.clone()),
            boxes: Vec::new(),
        },
        Chart::Delta(by, boxes) => ChartView {
            kind: ChartKind::Delta,
            marks: Vec::new(),
            text: ["Live bytes (requested) by ", by, ". Width: the larger of A and B. ▲ more in B, ▼ less."].concat(),
            map: None,
            boxes: boxes.iter().map(box_view).collect(),
        },
    }
}

/// Formats a box of a differential flame graph. A symbol shows the direction of the change in addition to the colour,
/// and the tooltip has both sizes.
fn box_view(delta_box: &DeltaBox) -> BoxView {
    let (direction, glyph) = match delta_box.b.cmp(&delta_box.a) {
        std::cmp::Ordering::Greater => ("more", "▲ "),
        std::cmp::Ordering::Less => ("less", "▼ "),
        std::cmp::Ordering::Equal => ("same", ""),
    };
    let delta = if delta_box.a == delta_box.b { String::new() } else { change(delta_box.a, delta_box.b) + " " };
    let label = [glyph, &delta, &delta_box.name].concat();
    let title = [&label, "\nA ", &Bytes(delta_box.a).to_string(), " · B ", &Bytes(delta_box.b).to_string()].concat();
    BoxView { depth: delta_box.depth, left: delta_box.left, width: delta_box.width, label, title, direction }
}

/// Describes a heat map of ranks for screen readers.
fn map_text(map: &HeatMap) -> String {
    let whole = if map.is_capacity { "the device's capacity" } else { "the highest peak" };
    let aligned = match map.steps {
        0 => "from the first event to the last".to_owned(),
        steps => format!("aligned by {}", pluralize(steps.into(), "step")),
    };
    format!("Live bytes (requested) of each rank, {aligned}. Scale: 0 to {}, {whole}.", Bytes(map.max))
}

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

pub fn view(tab: &InsightsTab) -> ReportView {
    let Some(report) = tab.report() else { return ReportView::default() };
    let statements_seen = report.statements.iter().map(|statement| StatementView {
        tone: statement.tone,
        text: statement.text.clone(),
        fix: statement.fix.clone(),
        chart: statement.chart.as_ref().map(chart),
        has_evidence: statement.evidence.is_some(),
    });
    let statements: Vec<StatementView> = statements_seen.collect();
    let mut item_index = statements.len();
    let sheet_view = |sheet: &Sheet| {
        let seen = tab.visible_rows(&sheet.key, sheet.rows.len());
        sheet_view(tab, sheet, &mut item_index, seen)
    };
    let sheets = report.sheets.iter().map(sheet_view).collect();
    ReportView { statements, sheets }
}

/// Returns the first table of the Categories report with all rows, for the dialog that edits category rules.
pub fn categories(tab: &InsightsTab) -> Option<SheetView> {
    let sheet = tab.report_of(Topic::Categories)?.sheets.first()?;
    let mut view = sheet_view(tab, sheet, &mut 0, sheet.rows.len());
    // Rows are not clickable in the dialog.
    for row in &mut view.rows {
        (row.has_evidence, row.stack) = (false, StackView::None);
    }
    Some(view)
}

fn sheet_view(tab: &InsightsTab, sheet: &Sheet, item_index: &mut usize, seen: usize) -> SheetView {
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
