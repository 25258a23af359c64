//! State and actions of the Insights tab.

use crate::state::compared_at::ComparedAt;
use protocol::{Cell, Evidence, Pairing, Report, Simulations, Span, Topic, WhatIf, WhatIfRun};
use std::rc::Rc;

/// Search text and selected allocation that were set to show evidence. They are cleared when other evidence is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvidenceEffect {
    pub(crate) find: Option<String>,
    pub(crate) allocation: Option<u32>,
}

/// Number of rows that a table of a report shows initially.
pub(crate) const INITIAL_ROWS: u64 = 10;

/// Growth factor of the number of visible rows each time the user requests more.
pub(crate) const MORE_FACTOR: u64 = 5;

/// Maximum number of visible rows of a table.
pub(crate) const MAX_ROWS: u64 = 5000;

/// The alarm of the shown device: the finding that needs attention first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Alarm {
    /// A report that may raise it is not known yet.
    #[default]
    Unknown,
    None,
    Raised {
        topic: Topic,
        text: String,
    },
}

/// State of the Insights tab.
#[derive(Clone, Debug, Default)]
pub struct InsightsTab {
    pub topic: Topic,
    /// Topic that was visible when a range was selected and [`Topic::Range`] opened. It returns when the range ends.
    pub(crate) topic_before_range: Option<Topic>,
    /// True if a range was selected at the last update.
    pub(crate) had_range: bool,
    /// Insight to show once a device is shown.
    pub(crate) requested_topic: Option<Topic>,
    /// Serial number and contents of the pending request.
    pub(crate) pending: Option<(u32, TopicQuestion)>,
    /// Latest reports with the requests that they answer, at most one per topic.
    pub(crate) reports: Vec<(TopicQuestion, Rc<Report>)>,
    pub(crate) thresholds: Vec<(Topic, String, u64)>,
    /// Numbers of visible rows that differ from [`INITIAL_ROWS`]: topic, key of the table, and number.
    pub(crate) row_limits: Vec<(Topic, String, u64)>,
    /// Rows whose stack is visible, and the index of that stack among those of the row.
    pub(crate) open_stacks: Vec<(Topic, ReportItem, usize)>,
    /// Topics and keys of the collapsed tables. Only their titles are visible.
    pub(crate) collapsed: Vec<(Topic, String)>,
    /// Topic, item and evidence of the last click.
    pub(crate) clicked: Option<(Topic, ReportItem, Evidence)>,
    /// Index of the active item. The items of a report are its summary sentences and table rows.
    pub(crate) active: usize,
    /// Counter that increases when reports for earlier requests become outdated.
    pub(crate) version: u32,
    /// Search text and selection that were set to show the latest evidence.
    pub(crate) evidence_effect: EvidenceEffect,
    /// Serial number of the pending request for positions on the time axis, and the span of events to zoom to.
    pub(crate) pending_span: Option<(u32, Span)>,
    pub(crate) background: BackgroundSimulation,
    pub alarm: Alarm,
}

impl InsightsTab {
    /// Returns the latest report of the visible topic.
    pub(crate) fn report(&self) -> Option<&Rc<Report>> {
        self.report_of(self.topic)
    }

    pub(crate) fn report_of(&self, topic: Topic) -> Option<&Rc<Report>> {
        self.reports.iter().find(|(question, _)| question.topic == topic).map(|(_, report)| report)
    }

    /// Returns true while common settings are simulated in the background.
    pub fn is_simulating(&self) -> bool {
        self.background.pending.is_some()
    }

    /// Forgets the pending request of the background simulation, because the simulator has another one now. The
    /// background simulation starts again after it.
    pub(crate) fn interrupt_background_simulation(&mut self) {
        self.background.pending = None;
    }

    /// Ends the simulation in the background, which is not started again for this device.
    pub(crate) fn end_background_simulation(&mut self) {
        (self.background.pending, self.background.has_failed) = (None, true);
    }

    /// Returns true while the request for the visible topic is pending.
    pub(crate) fn is_loading(&self) -> bool {
        self.pending.is_some_and(|(_, question)| question.topic == self.topic)
    }

    /// Returns the thresholds that the user has set: topic, key and value.
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

    /// Returns the numbers of visible rows that the user has changed: topic, key of the table, and number.
    pub(crate) fn row_limits(&self) -> &[(Topic, String, u64)] {
        &self.row_limits
    }

    /// Replaces all numbers of visible rows. Values are clamped to [`INITIAL_ROWS`]–[`MAX_ROWS`].
    pub(crate) fn set_row_limits(&mut self, mut all: Vec<(Topic, String, u64)>) {
        all.iter_mut().for_each(|(_, _, rows)| *rows = (*rows).clamp(INITIAL_ROWS, MAX_ROWS));
        self.row_limits = all;
    }

    /// Returns true if the table with this key is collapsed in the visible topic.
    pub(crate) fn is_collapsed(&self, key: &str) -> bool {
        self.collapsed.iter().any(|(topic, of)| *topic == self.topic && of == key)
    }

    /// Collapses or expands the table with this key in the visible topic.
    pub(crate) fn toggle_collapsed(&mut self, key: String) {
        let sheet = (self.topic, key);
        match self.collapsed.iter().position(|known| *known == sheet) {
            Some(index) => drop(self.collapsed.remove(index)),
            None => self.collapsed.push(sheet),
        }
    }

    /// Returns the number of visible rows of a table that has `rows` rows. 0 if the table is collapsed.
    pub(crate) fn visible_rows(&self, key: &str, rows: usize) -> usize {
        if self.is_collapsed(key) { 0 } else { rows.min(self.row_limit(key) as usize) }
    }

    /// Returns the maximum number of visible rows of a table while it is expanded.
    pub(crate) fn row_limit(&self, key: &str) -> u64 {
        let limit = self.row_limits.iter().find(|(topic, of, _)| *topic == self.topic && of == key);
        limit.map_or(INITIAL_ROWS, |(_, _, rows)| *rows)
    }

    /// Returns the number of rows to request per table: the largest limit of all tables of the topic.
    pub(crate) fn rows_to_request(&self) -> u32 {
        let limits = self.row_limits.iter().filter(|(topic, ..)| *topic == self.topic);
        limits.map(|(_, _, rows)| *rows).max().unwrap_or(INITIAL_ROWS) as u32
    }

    /// Returns all visible summary sentences and table rows, from top to bottom.
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

    /// Returns the moments that a row about two snapshots refers to: the ends of ranks that stand out at their end,
    /// otherwise the peaks. `None` for rows that compare no snapshots.
    pub(crate) fn compared_at(&self, item: &ReportItem) -> Option<ComparedAt> {
        let Some((_, Some(_))) = self.evidence(item)?.open else { return None };
        let sheet = self.report()?.sheets.iter().find(|sheet| Some(&sheet.key) == item.sheet.as_ref())?;
        let column = sheet.columns.iter().position(|column| column.key == "measure");
        let measure = column.and_then(|column| sheet.rows.get(item.row)?.cells.get(column));
        let named =
            measure.and_then(|cell| if let Cell::Text(name) = cell { ComparedAt::from_name(name) } else { None });
        Some(named.unwrap_or_default())
    }

    /// Returns true if the item was clicked last and still has the same evidence.
    pub(crate) fn is_clicked(&self, item: &ReportItem) -> bool {
        let same = |(topic, marked, evidence): &(Topic, ReportItem, Evidence)| {
            *topic == self.topic && marked == item && self.evidence(item) == Some(evidence)
        };
        self.clicked.as_ref().is_some_and(same)
    }

    /// Returns the index of the visible stack of a row. `None` while the stacks of the row are hidden.
    pub(crate) fn open_stack(&self, item: &ReportItem) -> Option<usize> {
        let is_row = |(topic, of, _): &&(Topic, ReportItem, usize)| *topic == self.topic && of == item;
        self.open_stacks.iter().find(is_row).map(|(.., index)| *index)
    }
}

/// Simulation of common allocator settings for the shown device, in the background.
#[derive(Clone, Debug, Default)]
pub(crate) struct BackgroundSimulation {
    /// Serial number of the pending request.
    pub(crate) pending: Option<u32>,
    /// Results that are known before all are. See [`Simulations`].
    pub(crate) settings: Option<WhatIf>,
    pub(crate) plans: Vec<Option<WhatIfRun>>,
    /// All results.
    pub(crate) known: Option<Rc<Simulations>>,
    /// True if the simulator has failed. It is not started again then.
    pub(crate) has_failed: bool,
}

/// A request for a report, with all inputs that determine its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopicQuestion {
    pub(crate) topic: Topic,
    /// Moment of the cursor, or version of the ranks for [`Topic::Ranks`]. `None` if the report depends on neither.
    pub(crate) cursor_or_version: Option<u32>,
    pub(crate) rows: u32,
    pub(crate) version: u32,
    /// Selected range of events. `None` for reports other than [`Topic::Range`].
    pub(crate) range: Option<Span>,
    /// True if the report quotes the simulations of [`BackgroundSimulation`].
    pub(crate) is_simulated: bool,
    /// Ordinal of device A, and its pairing with device B. `None` for reports other than comparisons.
    pub(crate) pairing: Option<(i64, Pairing)>,
}

/// A summary sentence (`sheet` is `None`), or a row of the table with the key `sheet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportItem {
    pub(crate) sheet: Option<String>,
    pub(crate) row: usize,
}

/// User input in the Insights tab.
#[derive(Clone, Debug, PartialEq)]
pub enum InsightsAction {
    /// The button of the alarm was clicked.
    AlarmClicked,
    TopicChosen(Topic),
    /// A summary sentence or table row was clicked. Holds its index among all items of the report.
    ItemClicked(usize),
    /// A summary sentence or table row that refers to a snapshot was clicked with Shift. Compares that snapshot with
    /// the open one. Holds the index of the item.
    ItemShiftClicked(usize),
    /// A row of the heat map of ranks was clicked: its index, and true if Shift was pressed. With Shift, the rank's
    /// snapshot is compared with the open one.
    RankClicked(usize, bool),
    /// Shows or hides the call stack of the item at this index.
    StackToggled(usize),
    /// Shows the next (+1) or the previous (−1) stack of the item at this index.
    StackStepped(usize, isize),
    /// Text was typed into the threshold field of the table at this index.
    ThresholdSet(usize, String),
    MoreClicked(usize),
    /// The title of the table at this index was clicked.
    SheetToggled(usize),
    Copied(usize),
}
