//! What a report is asked and tells: statements and sheets, each row with the evidence it rests on.
//!
//! One form for every topic: the page shows it, the command line prints it, Markdown and JSON are written from it, and none of
//! them knows what it is about.

use super::Span;
use serde::{Deserialize, Serialize};

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Topic {
    /// Two devices against each other, of two files or of one.
    Comparison,
    /// Many snapshots of one program, one for each rank.
    Ranks,
    OutOfMemory,
    /// What lowers the peak, and by how much.
    Savings,
    /// When the most was live, how much, and what made it.
    #[default]
    Peak,
    /// What allocations are for: parameters, gradients, activations…
    Categories,
    /// What is never freed, what grows, what is idle.
    Leaks,
    /// What is reserved and free, and why it can't be used.
    Fragmentation,
    Settings,
    /// Training steps and annotated ranges.
    Steps,
    /// What happened in which `nn.Module`.
    Modules,
    Pools,
}

impl Topic {
    /// Those about one device, in their order.
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

    /// Its name: the command of the command line, and the value in the page.
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

    /// Its title, for people.
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

    /// Whether what it tells depends on [`ReportQuestion::at`].
    pub fn has_moment(self) -> bool {
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

    /// The topic of that name, or of the name it had in earlier links.
    pub fn named(name: &str) -> Option<Topic> {
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

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportQuestion {
    pub topic: Topic,
    /// The moment beside the peak that totals are wanted for, where the topic has such.
    pub at: Option<u32>,
    /// Thresholds that differ from [`Threshold::value`] as the engine sets it: key and value.
    pub thresholds: Vec<(String, u64)>,
    /// The most rows of each sheet.
    pub rows: u32,
}

/// An insight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub topic: Topic,
    /// What an expert would say first, the weightiest first.
    pub statements: Vec<Statement>,
    /// The numbers.
    pub sheets: Vec<Sheet>,
}

/// A sentence and what it rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub tone: Tone,
    /// One sentence with exact bytes where it names bytes.
    pub text: String,
    /// What to change; empty where nothing is to be.
    pub fix: String,
    pub chart: Option<Chart>,
    pub evidence: Option<Evidence>,
}

/// A small chart beside a statement. All of it is bytes of one kind, which the statement names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Chart {
    /// Live bytes, one value after another, with the names of the first and the last: `step 2`, `step 9`.
    Course {
        values: Vec<u64>,
        ends: [String; 2],
    },
    Parts(Vec<ChartPart>),
    Map(ChartMap),
    /// The flame graph of two devices, and what its nodes are.
    Delta(String, Vec<DeltaBox>),
}

/// A node of a flame graph of two devices, with all that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeltaBox {
    /// 0: called by nothing.
    pub depth: u32,
    /// Its left edge and its width, of [`DeltaBox::WHOLE`].
    pub left: u32,
    pub width: u32,
    pub name: String,
    /// Live bytes in A and in B.
    pub a: u64,
    pub b: u64,
}

impl DeltaBox {
    /// The width of the graph.
    pub const WHOLE: u32 = 100_000;
}

/// Live bytes of many ranks: a row a rank, or a row for several neighbours, from the first event to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartMap {
    pub columns: u32,
    pub rows: Vec<MapRow>,
    /// Row by row, the most live bytes in each column: 255 is [`ChartMap::most`].
    pub values: Vec<u8>,
    /// Bytes of the device where they are known, else the highest peak.
    pub most: u64,
    pub is_capacity: bool,
    /// Steps that stand below each other; 0: the traces do.
    pub steps: u32,
    /// The columns that steps begin in.
    pub step_columns: Vec<u32>,
    /// The spread over all ranks in each column, on the scale of the values: least, 5 %, median, 95 %, most.
    pub ribbon: Vec<[u8; 5]>,
}

/// A row of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapRow {
    pub name: String,
    /// The highest peak of its ranks, in requested bytes.
    pub peak: u64,
    pub is_oom: bool,
    /// The place of that rank's file.
    pub place: Option<u32>,
}

/// A part of a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPart {
    pub name: String,
    pub bytes: u64,
    /// The slot of the palette that it has in the timeline, coloured by what the parts are; `None` for what has no colour there.
    pub slot: Option<u32>,
}

/// How a sentence or a row is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tone {
    /// It says what is.
    #[default]
    Fact,
    /// Something was looked for and is not there.
    Good,
    Alarm,
}

/// What a click on a statement or row does, all of it: so that the reader sees for themself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Shows the timeline from here to there.
    pub span: Option<Span>,
    pub moment: Option<u32>,
    pub allocation: Option<u32>,
    /// Looks for this, as typed in the search field.
    pub find: Option<String>,
    /// Opens the snapshot of this place in the list, and compares it with another one.
    pub open: Option<(u32, Option<u32>)>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Its name in JSON, lower case with underscores; of one report no two are equal.
    pub key: String,
    pub title: String,
    /// What its numbers mean, where the heading doesn't say; one or two sentences.
    pub note: String,
    /// The threshold of its rows.
    pub threshold: Option<Threshold>,
    pub columns: Vec<SheetColumn>,
    /// Its rows, the weightiest first unless the note says otherwise.
    pub rows: Vec<SheetRow>,
    /// Rows beyond those that were asked for.
    pub left_out: u32,
    /// What all rows are together, those left out included: a cell a column; empty where that means nothing.
    pub total: Vec<Cell>,
}

/// A number that a person may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Its name in [`ReportQuestion::thresholds`] and on the command line.
    pub key: String,
    /// What it is called: `at least`, `longer than`.
    pub label: String,
    /// What it counts: `bytes`, `events`, `µs`, `steps`.
    pub unit: String,
    pub value: u64,
}

/// A column of a sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetColumn {
    /// Its name in JSON, lower case with underscores; not `depth`, `tone`, `stack` or `evidence`, which are a row's own.
    pub key: String,
    /// Its heading: bytes with their kind (requested, rounded, reserved), “≥” and “≤” where they are derived.
    pub label: String,
}

/// A row of a sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SheetRow {
    /// How far it is indented under the rows before it.
    pub depth: u32,
    pub tone: Tone,
    pub cells: Vec<Cell>,
    /// Lines of the stack that made it, innermost first, where it is about one stack or call site.
    pub stack: Vec<String>,
    pub evidence: Option<Evidence>,
}

/// What stands in a row and column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// Nothing is known, or nothing makes sense.
    #[default]
    Nothing,
    /// A name or words.
    Text(String),
    /// Bytes of the kind that the column names.
    Bytes(u64),
    /// By how many bytes something grew.
    Change(i64),
    /// How many.
    Count(u64),
    /// A part of a whole, both of the same kind.
    Share {
        part: u64,
        /// The whole; where it is 0 there is no share.
        whole: u64,
    },
    /// A quotient, 0 to 1.
    Ratio(f64),
    /// How long, in µs.
    Micros(u64),
    /// The number of an event; −1 is before the first.
    Event(i64),
}
