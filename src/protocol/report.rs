//! Insight reports: findings ([`Statement`]) and tables ([`Sheet`]), with links to the evidence.
//!
//! All topics share this format, so the code for the page, the command line, Markdown and JSON does not depend on the
//! topic.

use super::{Span, Topic, WhatIf, WhatIfRun};
use serde::{Deserialize, Serialize};

/// Query for a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportQuestion {
    pub topic: Topic,
    /// Moment for which totals are returned in addition to the peak, if the topic supports this.
    pub at: Option<u32>,
    /// Thresholds that differ from their defaults, as pairs of key and value. See [`Threshold`].
    pub thresholds: Vec<(String, u64)>,
    /// Range of events for [`Topic::Range`]. `None` for the whole trace.
    pub range: Option<Span>,
    /// Maximum number of rows per table.
    pub rows: u32,
    /// True for only the stranded bytes of [`Topic::Fragmentation`], with a row for each driver request.
    pub only_stranded: bool,
    /// Simulations that the report quotes. `None` if the engine simulates itself, or if they are not available yet.
    pub simulations: Option<Box<Simulations>>,
}

/// Simulations of a device that reports quote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulations {
    /// Common allocator settings, see [`WhatIfQuestion::common_settings`](super::WhatIfQuestion::common_settings).
    pub settings: WhatIf,
    /// Recorded settings with the sizes of each plan of [`OomPlan::ALL`](crate::OomPlan::ALL), in the same order. Empty
    /// without an OOM. A run is `None` if the plan does not apply or cannot be simulated.
    pub plans: Vec<Option<WhatIfRun>>,
}

impl Simulations {
    /// Returns whether nothing was simulated, nor refused. Reports then quote no plans either.
    pub fn is_empty(&self) -> bool {
        self.settings.runs.is_empty() && self.settings.proof.refused.is_none()
    }
}

/// A report about one topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub topic: Topic,
    /// Summary sentences that state the findings, the most important first.
    pub statements: Vec<Statement>,
    /// Tables with the detailed figures behind the statements.
    pub sheets: Vec<Sheet>,
    /// The finding that needs attention first. `None` if there is none.
    pub headline: Option<Headline>,
}

/// The most important finding of a report, in one short sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    pub text: String,
    /// Index of the statement that has the evidence.
    pub statement: u32,
}

/// A finding of a report, with a chart and links to its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub tone: Tone,
    /// The finding as one sentence with exact byte counts.
    pub text: String,
    /// Suggested action. Empty if there is none.
    pub fix: String,
    pub chart: Option<Chart>,
    pub evidence: Option<Evidence>,
}

/// Small chart next to a statement. All values are in bytes, of the kind that the statement names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Chart {
    /// Live bytes over time, with labels for the first and the last value, such as `step 2` and `step 9`.
    Line {
        values: Vec<u64>,
        ends: [String; 2],
    },
    Parts(Vec<ChartPart>),
    HeatMap(HeatMap),
    /// Flame graph of the differences between two devices. The string describes the nodes.
    Delta(String, Vec<DeltaBox>),
}

/// Box of a difference flame graph, which represents a frame and its callees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeltaBox {
    /// Depth in the call tree. 0 for the outermost frames.
    pub depth: u32,
    /// Left edge, as a multiple of 1/[`DeltaBox::FULL_WIDTH`] of the graph's width. `width` has the same unit.
    pub left: u32,
    pub width: u32,
    pub name: String,
    /// Live bytes in device A. `b` has the live bytes in device B.
    pub a: u64,
    pub b: u64,
}

impl DeltaBox {
    /// Width of the whole graph, in the units of [`DeltaBox::left`].
    pub const FULL_WIDTH: u32 = 100_000;
}

/// Heat map of live bytes. Each row shows one rank or several neighbouring ranks. The columns cover the trace from the
/// first event to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatMap {
    pub columns: u32,
    pub rows: Vec<HeatMapRow>,
    /// Maximum live bytes in each cell, row by row. The value 255 represents [`HeatMap::max`].
    pub values: Vec<u8>,
    /// Highest peak of reserved bytes over all ranks. If it is unknown, of live bytes.
    pub max: u64,
    pub is_reserved: bool,
    /// Number of training steps that were aligned. 0 if the traces were aligned as a whole.
    pub steps: u32,
    /// Indices of the columns that contain the start of a step.
    pub step_columns: Vec<u32>,
    /// Distribution over all ranks in each column, on the scale of `values`: minimum, 5th percentile, median, 95th
    /// percentile and maximum.
    pub ribbon: Vec<[u8; 5]>,
}

/// A row of a heat map, with one or several ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatMapRow {
    pub name: String,
    /// Highest peak among the ranks of the row, in requested bytes.
    pub peak: u64,
    pub is_oom: bool,
    /// File index of the rank with the highest peak.
    pub file_index: Option<u32>,
}

/// A named part of the total shown by [`Chart::Parts`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPart {
    pub name: String,
    pub bytes: u64,
    /// Palette slot of the part's colour in the timeline. `None` if the timeline has no colour for the part.
    pub slot: Option<u32>,
}

base::listed! {
    /// Severity of a statement or table row.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Tone {
        /// A neutral fact.
        #[default]
        Fact = "fact",
        /// A problem was looked for but not found.
        Good = "good",
        Alarm = "alarm",
    }
}

/// Actions that are performed when a statement or table row is clicked. All fields that are set apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Range of the timeline to show.
    pub span: Option<Span>,
    pub moment: Option<u32>,
    pub allocation: Option<u32>,
    /// Text that is entered into the search field.
    pub find: Option<String>,
    /// Index of the snapshot to open in the list of snapshots, and of a snapshot to compare it with.
    pub open: Option<(u32, Option<u32>)>,
}

/// A table of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Name of the table in JSON, in lower case with underscores. Unique within a report.
    pub key: String,
    pub title: String,
    /// One or two sentences that explain the numbers. Empty if the headings are sufficient.
    pub note: String,
    /// Minimum value that rows must have to be included.
    pub threshold: Option<Threshold>,
    pub columns: Vec<SheetColumn>,
    /// Rows. The most important ones come first unless `note` says otherwise.
    pub rows: Vec<SheetRow>,
    /// Number of rows that were left out because of the requested maximum.
    pub left_out: u32,
    /// Totals over all rows, including those left out, with one cell per column. Empty if totals are meaningless.
    pub total: Vec<Cell>,
}

/// A threshold that the user can change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Name of the threshold in [`ReportQuestion::thresholds`] and on the command line.
    pub key: String,
    /// Label in front of the value, such as `at least` or `longer than`.
    pub label: String,
    /// Unit of the value, such as `bytes`, `events`, `µs` or `steps`.
    pub unit: String,
    pub value: u64,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetColumn {
    /// Name of the column in JSON, in lower case with underscores. The names `depth`, `tone`, `stack`, `stack_count`
    /// and `evidence` are reserved for fields of the row.
    pub key: String,
    /// Heading. It names the kind of bytes (requested, rounded, reserved), and contains “≥” or “≤” for bounds.
    pub label: String,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SheetRow {
    /// Indentation level. A row with a higher level belongs to the nearest row above it with a lower level.
    pub depth: u32,
    pub tone: Tone,
    pub cells: Vec<Cell>,
    /// Lines of the stack without internal frames, innermost first. Empty unless the row is about stacks or a call
    /// site.
    pub stack: Vec<String>,
    /// Further stacks of the row's allocations. Empty unless the row is about a call site.
    pub other_stacks: Vec<Vec<String>>,
    pub evidence: Option<Evidence>,
}

/// Value of a table cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// The value is unknown or not applicable.
    #[default]
    Empty,
    Text(String),
    /// Number of bytes, of the kind that the column heading names.
    Bytes(u64),
    /// Difference in bytes.
    Change(i64),
    Count(u64),
    /// Share of a total. Both numbers have the same unit.
    Share {
        part: u64,
        /// Total. If it is 0, the share is undefined.
        whole: u64,
    },
    /// Ratio from 0 to 1.
    Ratio(f64),
    /// Duration in µs.
    Micros(u64),
    /// Event index. −1 represents the start of the trace, before the first event.
    Event(i64),
}
