//! Messages between the engine and its drivers (page, command line, tests). They are plain data.
//!
//! The bytes of a file are not part of a [`Request`]. The driver feeds them to the engine between `Open` and
//! `EndOfFile`. Before each chunk, it asks the engine for the position of the [needed bytes](NeededBytes).

mod allocation_columns;
mod ask;
mod backend;
pub mod column;
mod details;
mod events;
mod export;
mod find;
mod flame;
mod lean;
mod loading;
mod message;
mod moments;
mod overview;
mod pair;
mod partial;
mod plan;
mod plot;
mod plot_settings;
mod pools;
mod private;
mod question;
mod range;
mod reply;
mod report;
mod sources;
pub mod sql;
mod state;
mod step_phase;
mod summary;
mod table;
mod topic;
mod tree;
mod workers;

pub use allocator::Program as WhatIfProgram;
pub use allocator::answer::{
    WhatIf, WhatIfCourse, WhatIfFit, WhatIfGrade, WhatIfLimit, WhatIfLow, WhatIfOrigin, WhatIfProof, WhatIfQuestion,
    WhatIfRun, WhatIfWarning,
};
pub use allocator::conf::{LineError, parse as parse_settings};
pub use analysis::category::{self, CategoryRule, CategorySet, SetError, SetProblem};
pub use analysis::site::{NO_STACK, NO_STACK_BEFORE_RECORDING};
pub use analysis::{EventTermError, EventTerms, Filter};
pub use ask::{Answer, Ask, Question};
pub use backend::Backend;
pub use details::{CategoryDetails, Details, FrameText, HitAllocation, Origin, REASON_RECORDER, TENSOR_SEPARATOR};
pub use events::{EventRow, EventsFilter, EventsPage, EventsQuestion, versioned};
pub use export::{ExportContents, ExportFormat, ExportJob, ExportQuestion, ExportTable};
pub use find::{Direction, FrameMatcher, Match, Query, QueryError, SearchStart, Tally};
pub use flame::{FlameBox, FlamePage, FlameQuestion, MAX_BOXES};
pub use history::snapshot::Action;
pub use loading::{Access, LoadRange, MAX_TABLE_BYTES_32_BIT, Member, NeededBytes, Phase, Progress};
pub use message::{decode, encode};
pub use moments::{MomentFacts, MomentSpec, NamedAction, NamedEvent, Step, StepOutcome, StepResult};
pub use overview::{AxisPoint, ClockSpan, LegendEntry, Marks, OutOfMemoryMark, Overview, RangeMark, RangeSource};
pub use pair::{
    Align, DeltaCurve, MatchKey, PairAnswer, PairMap, PairMoments, PairQuestion, Pairing, second_file_ordinal,
    split_ordinal,
};
pub use partial::{PartialDevice, PartialFile};
pub use plan::{Factor, OomPlan, PlanCurve, PlanGroup, PlanPage, PlanQuestion, PlanRow, Preset, Ratio, read_factor};
pub use plot::{AddressMap, Curves, HitMemory, HitSegment, MappedRange, MemoryFilter, Plot};
pub use plot_settings::{Grouping, Highlight, PlotSettings};
pub use pools::{PoolName, default_pool_name, pool_name};
pub use private::{LEAVE_OUT_NAMES, LeaveOut};
pub use question::{
    Arrangement, DEFAULT_RULES, Ends, Internal, InternalRules, Merge, NodeKind, NodeLabel, Root, RuleError, Scope,
    Span, Weight,
};
pub use range::RangeFacts;
pub use reply::Reply;
pub use report::{
    Cell, Chart, ChartPart, DeltaBox, Evidence, Headline, HeatMap, HeatMapRow, Report, ReportQuestion, Sheet,
    SheetColumn, SheetRow, Simulations, Statement, Threshold, Tone,
};
pub use sources::{LocationWeight, SourceFile, SourceLine, SourcesPage};
pub use state::{
    HeldBySite, PieceKind, SegmentSort, SegmentsBar, SegmentsFit, SegmentsGroup, SegmentsKept, SegmentsPage,
    SegmentsPiece, SegmentsQuestion, SegmentsSums,
};
pub use step_phase::StepPhase;
pub use summary::{
    CAPACITY, COUNTED_PEAK, DEVICE_FREE, DeviceSummary, FileSummary, OTHER_PROCESSES, OUTSIDE_ALLOCATOR,
    OUTSIDE_OR_OTHERS, PAUSED, PEAK_PAUSED, PROCESS, PeakCheck, SAMPLED_PEAKS, SCHEMA, TENSORS, TENSORS_FOUND, Warning,
};
pub use table::{
    ColumnKind, ColumnTexts, EventSpan, LIFETIME_CLASSES, LIFETIME_TO_END, LIFETIME_UNKNOWN, MAX_COPIED, SIZE_CLASSES,
    SortDirection, TableCell, TableColumn, TableFilter, TablePage, TableQuestion, TableRow, TableSort, TableText,
    lifetime_class, size_class,
};
pub use topic::Topic;
pub use tree::{Fold, FoldScope, FoldState, Reveal, TreePage, TreeQuestion, TreeRow};
pub use workers::{FileToRead, SimulatorReply, SimulatorRequest, SurveyorReply, SurveyorRequest};

use serde::{Deserialize, Serialize};

/// Message from a driver to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Opens a new file. Closes the previous file and cancels any load in progress.
    Open {
        name: String,
        total_bytes: Option<u64>,
        access: Access,
        /// Index of the snapshot to open in [`Reply::Members`], if the file has several. `None` opens the first.
        member: Option<u32>,
    },
    /// Sets the range of events that is loaded from files opened later. By default, all events are loaded. Has no
    /// reply.
    Load(LoadRange),
    /// Signals that all bytes of the file have been fed.
    EndOfFile,
    Cancel,
    Ask(Ask),
    /// Sets the rules for internal frames, in the syntax of [`InternalRules::parse`]. Nodes get new ids in trees that
    /// hide internal frames. Has no reply.
    InternalFrames(Vec<String>),
    /// Sets the rules that classify allocations into categories. A new engine uses [`CategorySet::standard`]. Has no
    /// reply. Queries that depend on categories have to be sent again.
    Categories(Box<CategorySet>),
}

impl Request {
    /// Creates a request to open a file that is read sequentially. If the file has several snapshots, the first is
    /// opened.
    pub fn open(name: &str, total_bytes: Option<u64>) -> Request {
        Request::Open { name: name.to_owned(), total_bytes, access: Access::Sequential, member: None }
    }
}
