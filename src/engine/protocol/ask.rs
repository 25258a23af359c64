//! Questions about the open file and their answers. The answer has the same name as its question, unless the question
//! says otherwise.

use super::{
    AddressMap, Curves, Details, Direction, EventsPage, EventsQuestion, FlamePage, FlameQuestion, Grouping,
    HitAllocation, HitMemory, LegendEntry, Looks, Marks, Match, MemoryFilter, MomentFacts, MomentSpec, Overview,
    PairAnswer, PairQuestion, Pairing, PlanCurve, PlanPage, PlanQuestion, RangeFacts, Report, ReportQuestion,
    SearchStart, SegmentsPage, SegmentsQuestion, SourcesPage, Step, StepResult, TablePage, TableQuestion, TableText,
    Tally, TreePage, TreeQuestion, WhatIf, WhatIfCourse, WhatIfQuestion,
};
use super::{Arrangement, Scope, Span};
use picture::timeline::{Axis, OutlineRect, Scene, View};
use serde::{Deserialize, Serialize};

/// A query about a device of the open file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub serial: u32,
    /// Device ordinal, as in [`DeviceSummary::device`](super::DeviceSummary::device).
    pub device: i64,
    pub question: Question,
}

/// Query about one device, or about two. A query that may take longer than one time slice replaces a pending one of the
/// same variant. [`Question::Legend`] and [`Question::Details`] are never replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// Geometry of a window. No answer if the file does not have the device.
    Scene {
        view: View,
        looks: Looks,
    },
    /// Hit test: the allocation at a byte of the plot. In the reserved plot, the hit is a mapped range: its id is a
    /// range id and its bytes are reserved bytes.
    Hit {
        /// Display settings of the scene that was hit.
        looks: Looks,
        moment: u32,
        /// Height in the stack, in requested bytes. In other plots, the position on the plot's own axis.
        byte: u64,
    },
    /// Allocation, segment and free space at an address. The answer is an [`Answer::Hit`].
    MemoryAt {
        moment: u32,
        address: u64,
    },
    /// All addresses that were ever mapped in a part of memory, arranged as on the axis of
    /// [`Plot::Addresses`](super::Plot::Addresses).
    Map(MemoryFilter),
    /// Totals per pixel column of a window.
    Curves {
        view: View,
        only: MemoryFilter,
    },
    State(SegmentsQuestion),
    Events(Box<EventsQuestion>),
    /// Chosen rows of the Events list as text, at most [`MAX_COPIED`](super::MAX_COPIED). The answer is an
    /// [`Answer::TableText`].
    EventsText(Box<EventsQuestion>),
    Moments(Vec<MomentSpec>),
    /// Destination of a keyboard step from a position in the stack.
    Step {
        /// Display settings of the scene that shows the stack.
        looks: Looks,
        /// Starting moment.
        moment: u32,
        /// Starting byte of the stack.
        byte: u64,
        step: Step,
    },
    /// Out-of-memory events, snapshots, annotations and the peak of a device.
    Marks,
    Overview {
        axis: Axis,
        /// Number of columns.
        width_px: u32,
    },
    /// Legend of the colours of a device.
    Legend {
        colouring: Grouping,
        /// Moment for which to return totals, in addition to the peak.
        at: Option<u32>,
    },
    /// Outline of an allocation in a window, even if the scene does not draw it individually.
    Outline {
        view: View,
        looks: Looks,
        allocation: u32,
    },
    /// Details of the allocation with this id.
    Details(u32),
    /// Search of all allocations of a device with a query as parsed by [`Query::parse`](super::Query::parse). The
    /// serial of the question identifies the matches.
    Find(String),
    /// Next or previous match of a finished search, with wrap-around. The device is that of the search,
    /// [`Ask::device`] is ignored.
    FindNext {
        find: u32,
        begin: SearchStart,
        direction: Direction,
        /// Order of the stack for [`Match::lowest_byte`](super::Match::lowest_byte).
        looks: Looks,
        /// Visible moments: start and end (exclusive).
        window: [u32; 2],
        /// Restricts the matches to this scope.
        scope: Scope,
    },
    /// Number and bytes of the allocations with this stack id, as in [`Details::stack`].
    SameStack(u32),
    Flame(FlameQuestion),
    /// Files and lines of the user's own code, weighted by the allocations of a scope.
    Sources(Scope),
    /// Totals for a range of the trace.
    Range(Span),
    /// Part of a tree of call stacks.
    Tree(Box<TreeQuestion>),
    /// The largest allocation of a scope whose stack is at or below a node.
    Heaviest {
        scope: Scope,
        arrangement: Arrangement,
        node: u32,
    },
    Report(ReportQuestion),
    /// Peak under a memory plan.
    Plan(Box<PlanQuestion>),
    /// Curve of a memory plan over a window.
    PlanCurve(Box<PlanQuestion>, View),
    /// Curve of a simulated run over a window. The answer is an [`Answer::PlanCurve`].
    Course(Box<WhatIfCourse>, View),
    /// Part of the Allocations table, and its histograms.
    Table(Box<TableQuestion>),
    /// Chosen rows of the Allocations table as text, at most [`MAX_COPIED`](super::MAX_COPIED).
    TableText(Box<TableQuestion>),
    /// Question about two devices. It is answered by `compare::Pair`, which holds both files. The engine does not
    /// answer it.
    Pair(PairQuestion),
    /// Comparison of two devices, with a maximum number of rows per sheet. It is answered by `compare::Pair`. The
    /// answer is an [`Answer::Report`].
    Comparison(Pairing, u32),
    /// Recording of the program's allocator requests on the device, for the worker that answers [`Question::WhatIf`].
    Recording,
    /// Size of each allocation under a plan. The worker that answers [`Question::WhatIf`] needs the sizes for
    /// [queries about planned sizes](WhatIfQuestion::is_planned).
    PlannedSizes(Box<PlanQuestion>),
    /// Simulation of the device's program under different allocator settings. May be answered in parts. The page
    /// sends it to a separate worker, never to the engine's. It is skipped by serde, so it must be the last variant:
    /// otherwise it would shift the indices of later variants.
    #[serde(skip)]
    WhatIf(Box<WhatIfQuestion>),
}

/// Answer to a [`Question`]. If the file does not have the device, there is no answer or an empty one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Scene(Box<Scene>),
    Hit {
        hit: Option<HitAllocation>,
        /// Segment and free space. `None` in the allocation stack.
        memory: Option<Box<HitMemory>>,
    },
    Map(Box<AddressMap>),
    Curves(Box<Curves>),
    State(Box<SegmentsPage>),
    Events(Box<EventsPage>),
    /// Facts for each moment of the question, in the same order. Unknown events are left out.
    Moments(Vec<MomentFacts>),
    Step(StepResult),
    Marks(Box<Marks>),
    Overview(Box<Overview>),
    Legend(Vec<LegendEntry>),
    /// Rectangles in pixels of the view, from left to right. Empty if the allocation is outside the view.
    Outline(Vec<OutlineRect>),
    /// `None` if there is no allocation with this id.
    Details(Option<Box<Details>>),
    Find(Tally),
    /// `None` if there is no match, or if the search is not the latest finished one.
    FindNext(Option<Match>),
    SameStack(Tally),
    Flame(Box<FlamePage>),
    Sources(Box<SourcesPage>),
    Range(RangeFacts),
    Tree(Box<TreePage>),
    /// Id of the allocation. Of several largest ones, the first. `None` if the node has no allocations in the scope.
    Heaviest(Option<u32>),
    /// Without statements and sheets if the file does not have the device.
    Report(Box<Report>),
    Plan(Box<PlanPage>),
    PlanCurve(Box<PlanCurve>),
    Table(Box<TablePage>),
    TableText(TableText),
    Pair(Box<PairAnswer>),
    /// Columns of an [`allocator::Recording`] in the format of [`allocator::transfer`], followed by its
    /// other fields, [encoded](super::encode).
    Recording(Vec<u8>),
    /// Input for [`Simulation::plan`](allocator::simulation::Simulation::plan). Empty if the plan is invalid.
    PlannedSizes(Vec<u8>),
    /// Never sent between workers. It must be the last variant, like [`Question::WhatIf`].
    #[serde(skip)]
    WhatIf(Box<WhatIf>),
}
