//! What the page, the command line and the tests ask, and what they are told. Plain data.
//!
//! Bytes of the file do not travel in a [`Request`]: the driver feeds them to the engine between `Open` and `EndOfFile`, and
//! asks it before each chunk which ones it [wants](Want).

mod details;
mod find;
mod flame;
mod loading;
mod looks;
mod moments;
mod picture;
mod question;
mod range;
mod report;
mod sources;
mod summary;
mod table;
mod tree;

pub use crate::analysis::Filter;
pub use crate::analysis::category::{self, CategoryRule, CategorySet, SetError, SetProblem};
pub use details::{CategoryDetails, Details, FrameText, HitAllocation, Origin};
pub use find::{Begin, Direction, Match, Query, QueryError, Tally, Wording};
pub use flame::{FlameBox, FlamePage, FlameQuestion, MOST_BOXES};
pub use loading::{Access, Member, Phase, Progress, Want};
pub use looks::{Grouping, Highlight, Looks};
pub use moments::{At, MomentFacts, NamedEvent, Step, Stepped, Stop, Turn};
pub use picture::{ClockSpan, LegendEntry, Marks, OutOfMemoryMark, Overview, Place, RangeMark};
pub use question::{
    Arrangement, DEFAULT_RULES, Internal, InternalRules, Merge, NodeKind, NodeLabel, Root, RuleError, Scope, Span,
    Weight,
};
pub use range::RangeFacts;
pub use report::{
    Cell, Evidence, Report, ReportQuestion, Sheet, SheetColumn, SheetRow, Statement, Threshold, Tone, Topic,
};
pub use sources::{SourceFile, SourceLine, SourcesPage, Standing};
pub use summary::{DeviceSummary, FileSummary, Warning};
pub use table::{
    LIFE_CLASSES, LIFE_TO_END, LIFE_UNKNOWN, MOST_COPIED, SIZE_CLASSES, SortWay, TableColumn, TableFilter, TablePage,
    TableQuestion, TableRow, TableSort, TableText, life_class, size_class,
};
pub use tree::{Fold, FoldState, Reach, Reveal, TreePage, TreeQuestion, TreeRow};

use crate::codec::Coded;
use crate::timeline::{Axis, OutlineRect, Scene, View};

/// What a driver asks of the engine.
#[derive(Clone, Debug, PartialEq, Coded)]
pub enum Request {
    /// A new file begins; it replaces the open one and whatever was loading.
    Open {
        /// Its name, for messages.
        name: String,
        /// Its length in bytes, where known.
        total_bytes: Option<u64>,
        /// How its bytes can be reached.
        access: Access,
        /// Which snapshot of a file that holds several: its place in [`Reply::Members`]; the first when not said.
        member: Option<u32>,
    },
    /// There are no more bytes after those that were fed last.
    EndOfFile,
    /// Give up what is loading.
    Cancel,
    /// Geometry for a window. A newer one of these overtakes an older one that is not finished; for a device that the open file
    /// does not have there is no reply.
    Scene {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal, as in [`DeviceSummary::device`].
        device: i64,
        /// The window, margin included.
        view: View,
        /// Order and colours.
        looks: Looks,
    },
    /// Which allocation is at this byte of the stack at this moment?
    Hit {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Order and colours: those of the scene.
        looks: Looks,
        /// The moment (number of events that have happened).
        moment: u32,
        /// Height in the stack, in requested bytes.
        byte: u64,
    },
    /// What holds at these moments?
    Moments {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The moments.
        at: Vec<At>,
    },
    /// Where does a step from a place in the stack lead?
    Step {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Order and colours: those of the scene.
        looks: Looks,
        /// The moment it starts from.
        moment: u32,
        /// The byte of the stack it starts from.
        byte: u64,
        /// The step.
        step: Step,
    },
    /// What a device has besides its allocations.
    Marks {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
    },
    /// The silhouette of a whole device.
    Overview {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Over what.
        axis: Axis,
        /// In how many columns.
        width_px: u32,
    },
    /// What the colours of a device mean.
    Legend {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// What they tell.
        colouring: Grouping,
        /// The moment beside the peak that totals are wanted for.
        at: Option<u32>,
    },
    /// Where one allocation is in a window, also where the scene does not draw it by itself.
    Outline {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The window.
        view: View,
        /// Order and colours.
        looks: Looks,
        /// Its id.
        allocation: u32,
    },
    /// Everything about one allocation.
    Details {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Its id.
        allocation: u32,
    },
    /// Search all allocations of a device. A newer one of these overtakes an older one that is not finished.
    Find {
        /// Returned in the reply; names the matches from then on.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// What [`Query::parse`] reads.
        query: String,
    },
    /// Go from match to match of a finished search, around the end to the beginning.
    FindNext {
        /// Returned in the reply.
        serial: u32,
        /// The serial of the search.
        find: u32,
        /// From here.
        begin: Begin,
        /// This way.
        direction: Direction,
        /// The order that the stack is seen in.
        looks: Looks,
        /// The moments that are looked at: the first, and the first beyond.
        window: [u32; 2],
        /// Only to those of it.
        scope: Scope,
    },
    /// Count what has the same stack. A newer one of these overtakes an older one that is not finished.
    SameStack {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The stack, by [`Details::stack`].
        stack: u32,
    },
    /// The boxes of a flame graph. A newer one of these overtakes an older one that is not finished.
    Flame {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// What is asked.
        question: FlameQuestion,
    },
    /// What do the files and lines of the user's own code weigh? A newer one of these overtakes an older one that is not finished.
    Sources {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Of these allocations.
        scope: Scope,
    },
    /// What happened in a range of the trace? A newer one of these overtakes an older one that is not finished.
    Range {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The range.
        span: Span,
    },
    /// Part of the tree of the stacks of some allocations. A newer one of these overtakes an older one that is not finished.
    Tree {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The part.
        question: Box<TreeQuestion>,
    },
    /// Which allocation of a scope is the heaviest of those whose stacks are at a node or below it? A newer one of these overtakes an
    /// older one that is not finished.
    Heaviest {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Of these allocations.
        scope: Scope,
        /// The node's.
        arrangement: Arrangement,
        /// The node.
        node: u32,
    },
    /// A report. A newer one of these overtakes an older one that is not finished.
    Report {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// What about.
        question: ReportQuestion,
    },
    /// Part of the table of some allocations, and their histograms. A newer one of these overtakes an older one that is not finished.
    Table {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The part.
        question: Box<TableQuestion>,
    },
    /// Rows of a table as text, the first [`MOST_COPIED`] of those that the question names as chosen.
    TableText {
        /// Returned in the replies.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The table and the rows.
        question: Box<TableQuestion>,
    },
    /// Which frames are internal, from now on: rules that [`InternalRules::parse`] reads, one a line. Nodes of arrangements that hide them are
    /// numbered anew. There is no reply.
    InternalFrames(Vec<String>),
    /// What tells categories, from now on: [`CategorySet::parse`] reads one from a text, [`CategorySet::standard`] is that of an engine that was
    /// told nothing. There is no reply; whatever names categories has to be asked for again.
    Categories(Box<CategorySet>),
}

impl Request {
    /// Opens a file that is read from its beginning to its end, the first snapshot in it if it holds several.
    pub fn open(name: &str, total_bytes: Option<u64>) -> Request {
        Request::Open { name: name.to_owned(), total_bytes, access: Access::Forward, member: None }
    }
}

/// What the engine tells.
#[derive(Clone, Debug, PartialEq, Coded)]
pub enum Reply {
    /// How far loading is.
    Progress(Progress),
    /// The file holds several snapshots. The one asked for is opened next; the others wait for a [`Request::Open`] of their own.
    Members(Vec<Member>),
    /// The file is open.
    Opened(Box<FileSummary>),
    /// The file can't be opened; the one before it is closed as well.
    Failed {
        /// One sentence with place and cause.
        message: String,
    },
    /// Loading was given up.
    Cancelled,
    /// Geometry.
    Scene {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The geometry.
        scene: Box<Scene>,
    },
    /// What a [`Request::Hit`] found.
    Hit {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The allocation there, if the stack is that high.
        hit: Option<HitAllocation>,
    },
    /// What a [`Request::Moments`] asked for.
    Moments {
        /// The request's.
        serial: u32,
        /// One for each that was asked about, in their order; none for an event that there is not.
        moments: Vec<MomentFacts>,
    },
    /// What a [`Request::Step`] asked for.
    Stepped {
        /// The request's.
        serial: u32,
        /// Where it led.
        to: Stepped,
    },
    /// What a [`Request::Marks`] asked for.
    Marks {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The marks.
        marks: Box<Marks>,
    },
    /// What a [`Request::Overview`] asked for.
    Overview {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The silhouette.
        overview: Box<Overview>,
    },
    /// What a [`Request::Legend`] asked for: the entries by slot.
    Legend {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The entries.
        entries: Vec<LegendEntry>,
    },
    /// What a [`Request::Outline`] asked for, in pixels of the view: from left to right, nothing when it is outside.
    Outline {
        /// The request's.
        serial: u32,
        /// Of this allocation.
        allocation: u32,
        /// For this window.
        view: View,
        /// The rectangles.
        rects: Vec<OutlineRect>,
    },
    /// What a [`Request::Details`] asked for; `None` when there is no such allocation.
    Details {
        /// The request's.
        serial: u32,
        /// The allocation.
        details: Option<Box<Details>>,
    },
    /// What a [`Request::Find`] found; nothing on a device that the file does not have.
    Found {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// How much.
        tally: Tally,
    },
    /// Where a [`Request::FindNext`] leads: `None` when there is no match, or when the search is not the latest finished one.
    FoundNext {
        /// The request's.
        serial: u32,
        /// The match.
        found: Option<Match>,
    },
    /// What a [`Request::SameStack`] counted.
    SameStack {
        /// The request's.
        serial: u32,
        /// How much.
        tally: Tally,
    },
    /// What a [`Request::Flame`] asked for.
    Flame {
        /// The request's.
        serial: u32,
        /// The boxes.
        page: Box<FlamePage>,
    },
    /// What a [`Request::Sources`] asked for.
    Sources {
        /// The request's.
        serial: u32,
        /// Files and lines.
        page: Box<SourcesPage>,
    },
    /// What a [`Request::Range`] asked for.
    Range {
        /// The request's.
        serial: u32,
        /// What happened.
        facts: RangeFacts,
    },
    /// What a [`Request::Tree`] asked for.
    Tree {
        /// The request's.
        serial: u32,
        /// The part of the tree.
        page: Box<TreePage>,
    },
    /// What a [`Request::Table`] asked for; nothing on a device that the file does not have.
    Table {
        /// The request's.
        serial: u32,
        /// The part of the table.
        page: Box<TablePage>,
    },
    /// The next part of what a [`Request::TableText`] asked for.
    TableText {
        /// The request's.
        serial: u32,
        /// The part.
        part: TableText,
    },
    /// What a [`Request::Report`] asked for; without statements and sheets on a device that the file does not have.
    Report {
        /// The request's.
        serial: u32,
        /// The report.
        report: Box<Report>,
    },
    /// What a [`Request::Heaviest`] asked for: of equal ones the one born first; `None` when there is none.
    Heaviest {
        /// The request's.
        serial: u32,
        /// The allocation.
        allocation: Option<u32>,
    },
}
