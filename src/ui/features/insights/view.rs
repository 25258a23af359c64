//! Contents of the Insights tab: a report of any topic as summary sentences and tables of text.

pub use crate::features::insights::chart_view::{BoxView, ChartKind, ChartMark, ChartView};
pub use crate::features::insights::sheet_view::{ColumnKind, SheetRowView, SheetView, StackView, tab_separated};

use crate::features::insights::chart_view::chart;
use crate::features::insights::sheet_view::sheet_view;
use crate::features::insights::{InsightsTab, ReportItem};
use crate::plot::comparing;
use crate::state::shared::Shared;
use protocol::{Report, Sheet, Tone, Topic};
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

/// Returns the alarms and the first sentence of the shown comparison. `None` until it is known.
pub fn comparison_verdict(tab: &InsightsTab, shared: &Shared) -> Option<String> {
    let pairing = comparing::part::insight_pairing(shared)?;
    let (_, report) = tab.reports.iter().find(|(question, _)| question.pairing == Some(pairing))?;
    // An OOM of one side is stated before the verdict.
    let end = report.statements.iter().position(|it| it.tone != Tone::Alarm)?;
    let first: Vec<&str> = report.statements.iter().take(end + 1).map(|it| it.text.as_str()).collect();
    Some(first.join(" "))
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
