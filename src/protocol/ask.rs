//! Queries about the open file ([`Question`]) and their results ([`Answer`]). An answer variant has the same name as
//! its query unless documented otherwise.

use super::{
    AddressMap, Curves, Details, Direction, EventsPage, EventsQuestion, FlamePage, FlameQuestion, Grouping,
    HitAllocation, HitMemory, LegendEntry, Marks, Match, MemoryFilter, MomentFacts, MomentSpec, Overview, PairAnswer,
    PairQuestion, Pairing, PlanCurve, PlanPage, PlanQuestion, PlotSettings, RangeFacts, Report, ReportQuestion,
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

/// Query about one or two devices. A query that may take longer than one time slice cancels a pending query of the same
/// variant. [`Question::Legend`] and [`Question::Details`] are never canceled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// Geometry of a plot in a window. Has no answer if the file does not have the device.
    Scene {
        view: View,
        plot_settings: PlotSettings,
    },
    /// Hit test: finds the allocation at a position of the plot. In the reserved plot, finds a mapped range instead:
    /// the returned id is the id of the range, and the returned bytes are reserved bytes.
    Hit {
        /// Display settings of the plot.
        plot_settings: PlotSettings,
        moment: u32,
        /// Height in the stacked plot, in requested bytes. In other plots, the position on their vertical axis.
        byte: u64,
    },
    /// Allocation, segment and free space at an address. The answer is an [`Answer::Hit`].
    MemoryAt {
        moment: u32,
        address: u64,
    },
    /// Address axis of [`Plot::Addresses`](super::Plot::Addresses): all addresses that were ever mapped in a part of
    /// memory.
    Map(MemoryFilter),
    /// Maximum of each memory total per pixel column of a window.
    Curves {
        view: View,
        only: MemoryFilter,
        /// Also requests the stranded bytes, which need a pass over the trace the first time.
        with_stranded: bool,
    },
    State(SegmentsQuestion),
    Events(Box<EventsQuestion>),
    /// Selected rows of the Events list as text, at most [`MAX_COPIED`](super::MAX_COPIED). The answer is an
    /// [`Answer::TableText`].
    EventsText(Box<EventsQuestion>),
    Moments(Vec<MomentSpec>),
    /// Keyboard step from a position in the plot. The answer is the new position.
    Step {
        /// Display settings of the plot.
        plot_settings: PlotSettings,
        /// Moment at the start of the step.
        moment: u32,
        /// Height in the plot at the start of the step, in bytes.
        byte: u64,
        step: Step,
    },
    /// Marks on the time axis of a device: out-of-memory events, snapshots, annotations and the peak.
    Marks,
    /// Same as [`Question::Marks`], with the phases of steps among the ranges, which need a pass over the events. The
    /// answer is an [`Answer::Marks`].
    Phases,
    Overview {
        axis: Axis,
        /// Number of pixel columns.
        width_px: u32,
    },
    /// Legend of the colours in a device's plot.
    Legend {
        colouring: Grouping,
        /// Moment for which totals are returned, in addition to the totals at the peak.
        at: Option<u32>,
    },
    /// Outline of an allocation in a window, even if the plot does not draw the allocation individually.
    Outline {
        view: View,
        plot_settings: PlotSettings,
        allocation: u32,
    },
    /// Details of the allocation with this id.
    Details(u32),
    /// Searches all allocations of a device with a query in the syntax of [`Query::parse`](super::Query::parse). The
    /// serial of this request identifies the matches later.
    Find(String),
    /// Next or previous match of a finished search, with wrap-around. Uses the device of the search and ignores
    /// [`Ask::device`].
    FindNext {
        search_serial: u32,
        begin: SearchStart,
        direction: Direction,
        /// Display settings that determine [`Match::lowest_byte`](super::Match::lowest_byte).
        plot_settings: PlotSettings,
        /// Visible moments: start and end (exclusive).
        window: [u32; 2],
        /// Only matches in this scope are considered.
        scope: Scope,
    },
    /// Number and bytes of the allocations with this stack id. See [`Details::stack`].
    SameStack(u32),
    Flame(FlameQuestion),
    /// Memory by file and line of the user's own code, for the allocations in a scope.
    Sources(Scope),
    /// Memory totals for a range of the trace.
    Range(Span),
    /// Rows of a tree of call stacks.
    Tree(Box<TreeQuestion>),
    /// Same as [`Question::Tree`], for only the allocations that match the search. The answer is an [`Answer::Tree`].
    FoundTree(Box<TreeQuestion>),
    /// The largest allocation of a scope whose stack is at or below a tree node.
    Heaviest {
        scope: Scope,
        arrangement: Arrangement,
        node: u32,
    },
    Report(ReportQuestion),
    /// Peak under a memory plan.
    Plan(Box<PlanQuestion>),
    /// Live bytes over a window under a memory plan.
    PlanCurve(Box<PlanQuestion>, View),
    /// Memory of a simulated run over a window. The answer is an [`Answer::PlanCurve`].
    Course(Box<WhatIfCourse>, View),
    /// Rows of the Allocations table, and its histograms.
    Table(Box<TableQuestion>),
    /// Selected rows of the Allocations table as text, at most [`MAX_COPIED`](super::MAX_COPIED).
    TableText(Box<TableQuestion>),
    /// Query about two devices. It is answered by `compare::Pair`, which has access to both files. The engine does not
    /// answer it.
    Pair(PairQuestion),
    /// Comparison of two devices. The second value is the maximum number of rows per table. It is answered by
    /// `compare::Pair`. The answer is an [`Answer::Report`].
    Comparison(Pairing, u32),
    /// The program's allocator requests on the device, for the worker that answers [`Question::WhatIf`].
    Recording,
    /// Size of each allocation under a memory plan. The worker that answers [`Question::WhatIf`] needs the sizes for
    /// [queries about planned sizes](WhatIfQuestion::is_planned).
    PlannedSizes(Box<PlanQuestion>),
    /// Simulation of the device's program under different allocator settings. It may be answered in several parts. The
    /// page sends it to a separate worker, never to the engine's worker. Serde skips this variant, so it must be the
    /// last one. Otherwise, the indices of later variants would be shifted.
    #[serde(skip)]
    WhatIf(Box<WhatIfQuestion>),
}

/// Result of a [`Question`]. If the file does not have the device, there is no answer or an empty one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Scene(Box<Scene>),
    Hit {
        hit: Option<HitAllocation>,
        /// Segment and free space at the position. `None` in the stacked plot of allocations.
        memory: Option<Box<HitMemory>>,
    },
    Map(Box<AddressMap>),
    Curves(Box<Curves>),
    State(Box<SegmentsPage>),
    Events(Box<EventsPage>),
    /// Facts for each requested moment, in the same order. Unknown events are left out.
    Moments(Vec<MomentFacts>),
    Step(StepResult),
    Marks(Box<Marks>),
    Overview(Box<Overview>),
    Legend(Vec<LegendEntry>),
    /// Rectangles in pixels of the view, from left to right. Empty if the allocation is outside the view.
    Outline(Vec<OutlineRect>),
    /// Details of the allocation. `None` if there is no allocation with the requested id.
    Details(Option<Box<Details>>),
    Find(Tally),
    /// The match. `None` if there is none, or if the search is not the latest finished one.
    FindNext(Option<Match>),
    SameStack(Tally),
    Flame(Box<FlamePage>),
    Sources(Box<SourcesPage>),
    Range(RangeFacts),
    Tree(Box<TreePage>),
    /// Id of the largest allocation. If several are equally large, the first one. `None` if the node has no allocations
    /// in the scope.
    Heaviest(Option<u32>),
    /// Findings and tables. Both are empty if the file does not have the device.
    Report(Box<Report>),
    Plan(Box<PlanPage>),
    PlanCurve(Box<PlanCurve>),
    Table(Box<TablePage>),
    TableText(TableText),
    Pair(Box<PairAnswer>),
    /// Columns of an [`allocator::Recording`] in the format of [`allocator::transfer`], followed by the
    /// [encoded](super::encode) remaining fields.
    Recording(Vec<u8>),
    /// Planned sizes, as input for [`Simulation::plan`](allocator::simulation::Simulation::plan). Empty if the plan is
    /// invalid.
    PlannedSizes(Vec<u8>),
    /// Result of a simulation. It is never sent between workers. Like [`Question::WhatIf`], it must be the last
    /// variant.
    #[serde(skip)]
    WhatIf(Box<WhatIf>),
}
