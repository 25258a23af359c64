//! Insight reports: statements and sheets, with links to the evidence.
//!
//! All topics share this format. The page, the command line, Markdown and JSON output are independent of the topic.

use super::Span;
use serde::{Deserialize, Serialize};

/// Topic of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Topic {
    /// Two devices of one file or two files.
    Comparison,
    /// Snapshots of all ranks of one program.
    Ranks,
    OutOfMemory,
    /// Changes that lower the peak, and their savings.
    Savings,
    /// Time, size and contents of the maximum of live bytes.
    #[default]
    Peak,
    /// Purpose of allocations, such as parameters, gradients and activations.
    Categories,
    /// Memory that is never freed, growing or idle.
    Leaks,
    /// Reserved memory that is free, and why it can't be used.
    Fragmentation,
    Settings,
    /// Training steps and annotations.
    Steps,
    /// Memory by `nn.Module`.
    Modules,
    Pools,
}

impl Topic {
    /// Topics about a single device, in display order.
    pub const ALL: [Topic; 10] = [
        Topic::OutOfMemory,
        Topic::Savings,
        Topic::Peak,
        Topic::Categories,
        Topic::Leaks,
        Topic::Fragmentation,
        Topic::Settings,
        Topic::Steps,
        Topic::Modules,
        Topic::Pools,
    ];

    /// Returns the name on the command line and in links.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Comparison => "comparison",
            Topic::Ranks => "ranks",
            Topic::Peak => "peak",
            Topic::OutOfMemory => "oom",
            Topic::Savings => "savings",
            Topic::Categories => "categories",
            Topic::Steps => "steps",
            Topic::Modules => "modules",
            Topic::Leaks => "leaks",
            Topic::Fragmentation => "fragmentation",
            Topic::Pools => "pools",
            Topic::Settings => "settings",
        }
    }

    /// Returns the display title.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Comparison => "Comparison",
            Topic::Ranks => "Ranks",
            Topic::Peak => "Peak",
            Topic::OutOfMemory => "Out of memory",
            Topic::Savings => "Savings",
            Topic::Categories => "Categories",
            Topic::Steps => "Steps & annotations",
            Topic::Modules => "Modules",
            Topic::Leaks => "Leaks & waste",
            Topic::Fragmentation => "Fragmentation",
            Topic::Pools => "Pools",
            Topic::Settings => "Allocator settings",
        }
    }

    /// Returns whether the report depends on [`ReportQuestion::at`].
    pub fn depends_on_cursor(self) -> bool {
        match self {
            Topic::Peak | Topic::OutOfMemory | Topic::Categories | Topic::Fragmentation | Topic::Pools => true,
            Topic::Comparison
            | Topic::Ranks
            | Topic::Savings
            | Topic::Steps
            | Topic::Modules
            | Topic::Leaks
            | Topic::Settings => false,
        }
    }

    /// Returns the topic with this name. Accepts old names from earlier links.
    pub fn from_name(name: &str) -> Option<Topic> {
        let name = match name {
            "report" => "peak",
            "stages" => "steps",
            "layers" => "modules",
            "waste" => "leaks",
            name => name,
        };
        Topic::ALL.into_iter().chain([Topic::Comparison, Topic::Ranks]).find(|topic| topic.name() == name)
    }
}

/// Parameters of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportQuestion {
    pub topic: Topic,
    /// Moment for which to return totals in addition to the peak, if the topic supports it.
    pub at: Option<u32>,
    /// Keys and values of thresholds that differ from their defaults ([`Threshold::value`]).
    pub thresholds: Vec<(String, u64)>,
    /// Maximum number of rows per sheet.
    pub rows: u32,
    /// True for only the stranded bytes of [`Topic::Fragmentation`], with a row for each driver request.
    pub only_stranded: bool,
}

/// Report about one topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub topic: Topic,
    /// Findings, the most important first.
    pub statements: Vec<Statement>,
    /// Tables with the numbers.
    pub sheets: Vec<Sheet>,
}

/// A finding and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub tone: Tone,
    /// One sentence. Byte counts are exact.
    pub text: String,
    /// Suggested action. Empty if there is none.
    pub fix: String,
    pub chart: Option<Chart>,
    pub evidence: Option<Evidence>,
}

/// Small chart next to a statement. All values are bytes of the kind that the statement names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Chart {
    /// Live bytes over time, with labels of the first and last value, such as `step 2` and `step 9`.
    Line {
        values: Vec<u64>,
        ends: [String; 2],
    },
    Parts(Vec<ChartPart>),
    HeatMap(HeatMap),
    /// Flame graph of the difference between two devices: description of the nodes, and the boxes.
    Delta(String, Vec<DeltaBox>),
}

/// Box of a difference flame graph: a frame with its callees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeltaBox {
    /// Depth in the call tree. 0 for the outermost frames.
    pub depth: u32,
    /// Left edge, in units of 1/[`DeltaBox::FULL_WIDTH`] of the graph's width. `width` has the same unit.
    pub left: u32,
    pub width: u32,
    pub name: String,
    /// Live bytes in A. `b` has the live bytes in B.
    pub a: u64,
    pub b: u64,
}

impl DeltaBox {
    /// Width of the whole graph, in the units of [`DeltaBox::left`].
    pub const FULL_WIDTH: u32 = 100_000;
}

/// Heat map of live bytes. Each row is a rank, or several neighbouring ranks. Columns go from the first event to the
/// last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatMap {
    pub columns: u32,
    pub rows: Vec<HeatMapRow>,
    /// Maximum live bytes per cell, row by row. 255 stands for [`HeatMap::max`].
    pub values: Vec<u8>,
    /// Device memory in bytes, or the highest peak if unknown.
    pub max: u64,
    pub is_capacity: bool,
    /// Number of aligned training steps. 0 if whole traces are aligned.
    pub steps: u32,
    /// Columns with the start of a step.
    pub step_columns: Vec<u32>,
    /// Distribution over all ranks per column: minimum, 5 %, median, 95 % and maximum, on the scale of `values`.
    pub ribbon: Vec<[u8; 5]>,
}

/// Row of a heat map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatMapRow {
    pub name: String,
    /// Highest peak of its ranks, in requested bytes.
    pub peak: u64,
    pub is_oom: bool,
    /// Index of the file of the rank with the highest peak.
    pub file_index: Option<u32>,
}

/// Named part of a [`Chart::Parts`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPart {
    pub name: String,
    pub bytes: u64,
    /// Palette slot of the part in the timeline, with the matching colouring. `None` if it has no colour there.
    pub slot: Option<u32>,
}

/// Kind of statement or row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tone {
    /// Neutral fact.
    #[default]
    Fact,
    /// A problem was checked for and not found.
    Good,
    Alarm,
}

/// Action of a click on a statement or row. All fields apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Range of the timeline to show.
    pub span: Option<Span>,
    pub moment: Option<u32>,
    pub allocation: Option<u32>,
    /// Query for the search field.
    pub find: Option<String>,
    /// Index in the list of the snapshot to open, and of another one to compare it with.
    pub open: Option<(u32, Option<u32>)>,
}

/// Table of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Name in JSON, in lower case with underscores. Unique within a report.
    pub key: String,
    pub title: String,
    /// One or two sentences that explain the numbers, if the headings are not enough.
    pub note: String,
    /// Threshold for rows to be included.
    pub threshold: Option<Threshold>,
    pub columns: Vec<SheetColumn>,
    /// Rows, the most important first unless `note` says otherwise.
    pub rows: Vec<SheetRow>,
    /// Number of rows beyond the requested maximum.
    pub left_out: u32,
    /// Totals of all rows, including those left out, one cell per column. Empty if totals are meaningless.
    pub total: Vec<Cell>,
}

/// A threshold that the user can change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Name in [`ReportQuestion::thresholds`] and on the command line.
    pub key: String,
    /// Label, such as `at least` or `longer than`.
    pub label: String,
    /// Unit, such as `bytes`, `events`, `µs` or `steps`.
    pub unit: String,
    pub value: u64,
}

/// Column of a sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetColumn {
    /// Name in JSON, in lower case with underscores. Not `depth`, `tone`, `stack` or `evidence`, which are fields of
    /// the row.
    pub key: String,
    /// Heading. Names the kind of bytes (requested, rounded, reserved), with “≥” or “≤” for bounds.
    pub label: String,
}

/// Row of a sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SheetRow {
    /// Indentation level below the preceding rows.
    pub depth: u32,
    pub tone: Tone,
    pub cells: Vec<Cell>,
    /// Lines of the stack, innermost first, if the row is about a single stack or call site.
    pub stack: Vec<String>,
    pub evidence: Option<Evidence>,
}

/// Value of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// Unknown or not applicable.
    #[default]
    Empty,
    Text(String),
    /// Bytes of the kind that the column names.
    Bytes(u64),
    /// Change in bytes.
    Change(i64),
    Count(u64),
    /// Fraction of a total. Both numbers have the same unit.
    Share {
        part: u64,
        /// Total. If it is 0, there is no fraction.
        whole: u64,
    },
    /// Ratio from 0 to 1.
    Ratio(f64),
    /// Duration in µs.
    Micros(u64),
    /// Event index. −1 means before the first event.
    Event(i64),
}
