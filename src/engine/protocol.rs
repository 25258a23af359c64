//! What the page, the command line and the tests ask, and what they are told. Plain data.
//!
//! Bytes of the file do not travel in a [`Request`]: the driver feeds them to the engine between `Open` and `EndOfFile`, and
//! asks it before each chunk which ones it [wants](Want).

mod ask;
mod details;
mod events;
mod export;
mod find;
mod flame;
mod lean;
mod loading;
mod looks;
mod message;
mod moments;
mod overview;
mod pair;
mod partial;
mod plan;
mod plot;
mod pools;
mod question;
mod range;
mod reply;
mod report;
mod sources;
mod state;
mod summary;
mod table;
mod tree;

pub use allocator::answer::{
    WhatIf, WhatIfCourse, WhatIfFit, WhatIfGrade, WhatIfOrigin, WhatIfProof, WhatIfQuestion, WhatIfRun, WhatIfWarning,
};
pub use allocator::conf::{LineError, parse as parse_settings};
pub use analysis::category::{self, CategoryRule, CategorySet, SetError, SetProblem};
pub use analysis::{EventTermError, EventTerms, Filter};
pub use ask::{Answer, Ask, Question};
pub use details::{BY_RECORDER, CategoryDetails, Details, FrameText, HitAllocation, Origin, SEPARATOR};
pub use events::{EventRow, EventsFilter, EventsPage, EventsQuestion, versioned};
pub use export::{ExportFormat, ExportJob, ExportQuestion, ExportTable};
pub use find::{Begin, Direction, Match, Query, QueryError, Tally, Wording};
pub use flame::{FlameBox, FlamePage, FlameQuestion, MOST_BOXES};
pub use history::snapshot::Action;
pub use loading::{Access, LoadRange, MOST_OF_32_BITS, Member, Phase, Progress, Want};
pub use looks::{Grouping, Highlight, Looks};
pub use message::{decoded, encoded};
pub use moments::{At, MomentFacts, NamedEvent, Step, Stepped, Stop, Turn};
pub use overview::{AxisPoint, ClockSpan, LegendEntry, Marks, OutOfMemoryMark, Overview, RangeMark};
pub use pair::{
    Align, DeltaCurve, MatchKey, PairAnswer, PairAt, PairMap, PairQuestion, Pairing, in_second_file, own_ordinal,
};
pub use partial::{PartialDevice, PartialFile};
pub use plan::{Factor, PlanCurve, PlanGroup, PlanPage, PlanQuestion, PlanRow, Preset, Ratio, read_factor};
pub use plot::{AddressMap, Curves, HitMemory, HitSegment, MappedRange, Only, Plot};
pub use pools::{PoolName, pool_name, pool_of_id};
pub use question::{
    Arrangement, DEFAULT_RULES, Ends, Internal, InternalRules, Merge, NodeKind, NodeLabel, Root, RuleError, Scope,
    Span, Weight,
};
pub use range::RangeFacts;
pub use reply::Reply;
pub use report::{
    Cell, Chart, ChartMap, ChartPart, DeltaBox, Evidence, MapRow, Report, ReportQuestion, Sheet, SheetColumn, SheetRow,
    Statement, Threshold, Tone, Topic,
};
pub use sources::{SourceFile, SourceLine, SourcesPage, Standing};
pub use state::{
    PieceKind, PinnedBy, SegmentSort, StateBar, StateFit, StateGroup, StateKept, StatePage, StatePiece, StateQuestion,
    StateSums,
};
pub use summary::{
    CAPACITY, COUNTED_PEAK, DEVICE_FREE, DeviceSummary, FileSummary, OTHER_PROCESSES, OUTSIDE, PROCESS, PeakCheck,
    SCHEMA, TENSORS, TENSORS_FOUND, Warning,
};
pub use table::{
    LIFE_CLASSES, LIFE_TO_END, LIFE_UNKNOWN, MOST_COPIED, SIZE_CLASSES, SortWay, TableColumn, TableFilter, TablePage,
    TableQuestion, TableRow, TableSort, TableText, life_class, size_class,
};
pub use tree::{Fold, FoldState, Reach, Reveal, TreePage, TreeQuestion, TreeRow};

use serde::{Deserialize, Serialize};

/// What a driver sends to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// A new file begins; it replaces the open one and whatever was loading.
    Open {
        name: String,
        /// Its length in bytes, where known.
        total_bytes: Option<u64>,
        /// How its bytes can be reached.
        access: Access,
        /// Which snapshot of a file that holds several: its place in [`Reply::Members`]; the first when not said.
        member: Option<u32>,
    },
    /// The events that files are opened with from now on; all, before it was sent. There is no reply.
    Load(LoadRange),
    /// There are no more bytes after those that were fed last.
    EndOfFile,
    Cancel,
    Ask(Ask),
    /// Which frames are internal, from now on: rules that [`InternalRules::parse`] reads, one a line. Nodes of arrangements that hide them
    /// get new numbers. There is no reply.
    InternalFrames(Vec<String>),
    /// The categories from now on: [`CategorySet::parse`] reads them from a text, [`CategorySet::standard`] are those of a new engine.
    /// There is no reply; whatever names categories has to be asked for again.
    Categories(Box<CategorySet>),
}

impl Request {
    /// Opens a file that is read from its beginning to its end, the first snapshot in it if it holds several.
    pub fn open(name: &str, total_bytes: Option<u64>) -> Request {
        Request::Open { name: name.to_owned(), total_bytes, access: Access::Forward, member: None }
    }
}
