//! State and actions of the Insights tab.

use engine::protocol::{Evidence, Pairing, Report, Span, Topic};
use std::rc::Rc;

/// Search text and selected allocation that were set to show evidence. They are cleared when other evidence is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvidenceEffect {
    pub(crate) find: Option<String>,
    pub(crate) allocation: Option<u32>,
}

/// Initial number of visible rows of a sheet.
pub(crate) const INITIAL_ROWS: u64 = 10;

/// Factor of the increase in visible rows when the user asks for more.
pub(crate) const MORE_FACTOR: u64 = 5;

/// Maximum number of visible rows of a sheet.
pub(crate) const MAX_ROWS: u64 = 5000;

/// State of the Insights tab.
#[derive(Clone, Debug, Default)]
pub struct InsightsTab {
    pub topic: Topic,
    /// Serial of the pending question, and the question.
    pub(crate) pending: Option<(u32, TopicQuestion)>,
    /// Latest reports with their questions, at most one per topic.
    pub(crate) reports: Vec<(TopicQuestion, Rc<Report>)>,
    pub(crate) thresholds: Vec<(Topic, String, u64)>,
    /// Numbers of visible rows of sheets, if not [`INITIAL_ROWS`].
    pub(crate) row_limits: Vec<(Topic, String, u64)>,
    pub(crate) open_stacks: Vec<(Topic, ReportItem)>,
    /// Collapsed sheets. Only their title is visible.
    pub(crate) collapsed: Vec<(Topic, String)>,
    /// The item that was clicked last, with its evidence.
    pub(crate) clicked: Option<(Topic, ReportItem, Evidence)>,
    /// Index of the active item among all items of the report.
    pub(crate) active: usize,
    /// Counter that increases when the answers to earlier questions become outdated.
    pub(crate) version: u32,
    /// Search text and selection set by the evidence that was shown last.
    pub(crate) evidence_effect: EvidenceEffect,
    /// Serial of the pending question for positions on the time axis, and the span to zoom to.
    pub(crate) pending_span: Option<(u32, Span)>,
}

impl InsightsTab {
    /// Returns the latest report of the visible topic.
    pub(crate) fn report(&self) -> Option<&Rc<Report>> {
        self.report_of(self.topic)
    }

    pub(crate) fn report_of(&self, topic: Topic) -> Option<&Rc<Report>> {
        self.reports.iter().find(|(question, _)| question.topic == topic).map(|(_, report)| report)
    }

    /// Returns true while the report of the visible topic is requested.
    pub(crate) fn is_loading(&self) -> bool {
        self.pending.is_some_and(|(_, question)| question.topic == self.topic)
    }

    /// Returns the thresholds that the user has set.
    pub(crate) fn thresholds(&self) -> &[(Topic, String, u64)] {
        &self.thresholds
    }

    /// Replaces all thresholds.
    pub(crate) fn set_thresholds(&mut self, all: Vec<(Topic, String, u64)>) {
        if self.thresholds != all {
            self.thresholds = all;
            self.open_stacks.clear();
            self.version = self.version.wrapping_add(1);
        }
    }

    /// Returns the numbers of visible rows that the user has changed.
    pub(crate) fn row_limits(&self) -> &[(Topic, String, u64)] {
        &self.row_limits
    }

    /// Replaces all numbers of visible rows. Values are clamped to [`INITIAL_ROWS`]–[`MAX_ROWS`].
    pub(crate) fn set_row_limits(&mut self, mut all: Vec<(Topic, String, u64)>) {
        all.iter_mut().for_each(|(_, _, rows)| *rows = (*rows).clamp(INITIAL_ROWS, MAX_ROWS));
        self.row_limits = all;
    }

    /// Returns true if a sheet is collapsed.
    pub(crate) fn is_collapsed(&self, key: &str) -> bool {
        self.collapsed.iter().any(|(topic, of)| *topic == self.topic && of == key)
    }

    /// Collapses or expands a sheet.
    pub(crate) fn toggle_collapsed(&mut self, key: String) {
        let sheet = (self.topic, key);
        match self.collapsed.iter().position(|known| *known == sheet) {
            Some(index) => drop(self.collapsed.remove(index)),
            None => self.collapsed.push(sheet),
        }
    }

    /// Returns the number of visible rows of a sheet with `rows` rows.
    pub(crate) fn visible_rows(&self, key: &str, rows: usize) -> usize {
        if self.is_collapsed(key) { 0 } else { rows.min(self.row_limit(key) as usize) }
    }

    /// Returns the maximum number of visible rows of an expanded sheet.
    pub(crate) fn row_limit(&self, key: &str) -> u64 {
        let limit = self.row_limits.iter().find(|(topic, of, _)| *topic == self.topic && of == key);
        limit.map_or(INITIAL_ROWS, |(_, _, rows)| *rows)
    }

    /// Returns the number of rows to request per sheet: the largest row limit of the topic's sheets.
    pub(crate) fn rows_to_request(&self) -> u32 {
        let limits = self.row_limits.iter().filter(|(topic, ..)| *topic == self.topic);
        limits.map(|(_, _, rows)| *rows).max().unwrap_or(INITIAL_ROWS) as u32
    }

    /// Returns all visible statements and rows, from top to bottom.
    pub(crate) fn items(&self) -> Vec<ReportItem> {
        let Some(report) = self.report() else { return Vec::new() };
        let mut items: Vec<ReportItem> =
            (0..report.statements.len()).map(|row| ReportItem { sheet: None, row }).collect();
        for sheet in &report.sheets {
            let seen = self.visible_rows(&sheet.key, sheet.rows.len());
            items.extend((0..seen).map(|row| ReportItem { sheet: Some(sheet.key.clone()), row }));
        }
        items
    }

    pub(crate) fn evidence(&self, item: &ReportItem) -> Option<&Evidence> {
        let report = self.report()?;
        match &item.sheet {
            None => report.statements.get(item.row)?.evidence.as_ref(),
            Some(key) => report.sheets.iter().find(|sheet| sheet.key == *key)?.rows.get(item.row)?.evidence.as_ref(),
        }
    }

    /// Returns true if the item was clicked last and still has the same evidence.
    pub(crate) fn is_clicked(&self, item: &ReportItem) -> bool {
        let same = |(topic, marked, evidence): &(Topic, ReportItem, Evidence)| {
            *topic == self.topic && marked == item && self.evidence(item) == Some(evidence)
        };
        self.clicked.as_ref().is_some_and(same)
    }

    pub(crate) fn is_stack_open(&self, item: &ReportItem) -> bool {
        self.open_stacks.iter().any(|(topic, of)| *topic == self.topic && of == item)
    }
}

/// A request for a report, with all inputs that its contents depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopicQuestion {
    pub(crate) topic: Topic,
    pub(crate) at: Option<u32>,
    pub(crate) rows: u32,
    pub(crate) version: u32,
    /// Ordinal of A, and its pairing with B. Only for comparisons.
    pub(crate) pairing: Option<(i64, Pairing)>,
}

/// A statement, or a row of the sheet with the key `sheet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportItem {
    pub(crate) sheet: Option<String>,
    pub(crate) row: usize,
}

/// Commands of the Insights tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsightsStep {
    /// Goes to the statement or row above.
    Up,
    Down,
    First,
    Last,
    ShowEvidence,
    /// Shows or hides the stack.
    ToggleStack,
    Copy,
}

/// User input in the Insights tab.
#[derive(Clone, Debug, PartialEq)]
pub enum InsightsAction {
    TopicChosen(Topic),
    /// A statement or row was clicked. Holds its index among all items of the report.
    ItemClicked(usize),
    /// A statement or row was clicked with Shift. The snapshot that it opens is compared with the open one.
    ItemShiftClicked(usize),
    /// A row of the map of ranks was clicked. The flag is set with Shift, which compares the rank's snapshot with the
    /// open one.
    RankClicked(usize, bool),
    /// Shows or hides the stack of an item.
    StackToggled(usize),
    /// Text was typed into the threshold field of the sheet at this index.
    ThresholdSet(usize, String),
    MoreClicked(usize),
    /// The title of the sheet at this index was clicked.
    SheetToggled(usize),
    Copied(usize),
}
