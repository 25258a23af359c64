//! What the page, the command line and the tests ask, and what they are told. Plain data.
//!
//! Bytes of the file do not travel in a [`Request`]: the driver feeds them to the engine between `Open` and `EndOfFile`, and
//! asks it before each chunk which ones it [wants](Want).

mod details;
mod events;
mod find;
mod flame;
mod loading;
mod looks;
mod moments;
mod overview;
mod plot;
mod question;
mod range;
mod reply;
mod report;
mod sources;
mod state;
mod summary;
mod table;
mod tree;

pub use analysis::category::{self, CategoryRule, CategorySet, SetError, SetProblem};
pub use analysis::{EventTermError, EventTerms, Filter};
pub use details::{CategoryDetails, Details, FrameText, HitAllocation, Origin};
pub use events::{EventRow, EventsFilter, EventsPage, EventsQuestion, versioned};
pub use find::{Begin, Direction, Match, Query, QueryError, Tally, Wording};
pub use flame::{FlameBox, FlamePage, FlameQuestion, MOST_BOXES};
pub use history::snapshot::Action;
pub use loading::{Access, Member, Phase, Progress, Want};
pub use looks::{Grouping, Highlight, Looks};
pub use moments::{At, MomentFacts, NamedEvent, Step, Stepped, Stop, Turn};
pub use overview::{ClockSpan, LegendEntry, Marks, OutOfMemoryMark, Overview, Place, RangeMark};
pub use plot::{AddressMap, Curves, HitMemory, HitSegment, MappedRange, Only, Plot};
pub use question::{
    Arrangement, DEFAULT_RULES, Internal, InternalRules, Merge, NodeKind, NodeLabel, Root, RuleError, Scope, Span,
    Weight,
};
pub use range::RangeFacts;
pub use reply::Reply;
pub use report::{
    Cell, Evidence, Report, ReportQuestion, Sheet, SheetColumn, SheetRow, Statement, Threshold, Tone, Topic,
};
pub use sources::{SourceFile, SourceLine, SourcesPage, Standing};
pub use state::{
    PieceKind, SegmentSort, StateBar, StateFit, StateGroup, StatePage, StatePiece, StateQuestion, StateSums,
};
pub use summary::{DeviceSummary, FileSummary, Warning};
pub use table::{
    LIFE_CLASSES, LIFE_TO_END, LIFE_UNKNOWN, MOST_COPIED, SIZE_CLASSES, SortWay, TableColumn, TableFilter, TablePage,
    TableQuestion, TableRow, TableSort, TableText, life_class, size_class,
};
pub use tree::{Fold, FoldState, Reach, Reveal, TreePage, TreeQuestion, TreeRow};

use base::codec::Coded;
use picture::timeline::{Axis, View};

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
    /// Which allocation is at this byte of the picture at this moment? In one of what was reserved, which range: ids are of those, and bytes
    /// are reserved ones.
    Hit {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Order and colours: those of the scene.
        looks: Looks,
        /// The moment (number of events that have happened).
        moment: u32,
        /// Height in the stack, in requested bytes; else on the picture's own axis ([`AddressMap`], reserved bytes).
        byte: u64,
    },
    /// What is at this address at this moment? The reply is a [`Reply::Hit`].
    MemoryAt {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The moment.
        moment: u32,
        /// The address.
        address: u64,
    },
    /// The addresses that were ever mapped, as the axis of [`Plot::Addresses`] has them. A newer one of these overtakes an older one that
    /// is not finished.
    Map {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Of this part of memory.
        only: Only,
    },
    /// Totals over the columns of a window. A newer one of these overtakes an older one that is not finished.
    Curves {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The window.
        view: View,
        /// Of this part of memory.
        only: Only,
    },
    /// The allocator's state at a moment. A newer one of these overtakes an older one that is not finished.
    State {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// What of it.
        question: StateQuestion,
    },
    /// Part of the list of events. A newer one of these overtakes an older one that is not finished.
    Events {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The part.
        question: Box<EventsQuestion>,
    },
    /// Rows of the list of events as text, the first [`MOST_COPIED`] of those that the question names as chosen. The replies are
    /// [`Reply::TableText`].
    EventsText {
        /// Returned in the replies.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The list and the rows.
        question: Box<EventsQuestion>,
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
