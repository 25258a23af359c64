//! Questions about the open file and their answers: each question has one kind of answer, of its own name where none is said.

use super::{
    AddressMap, At, Begin, Curves, Details, Direction, EventsPage, EventsQuestion, FlamePage, FlameQuestion, Grouping,
    HitAllocation, HitMemory, LegendEntry, Looks, Marks, Match, MomentFacts, Only, Overview, PairAnswer, PairQuestion,
    Pairing, PlanCurve, PlanPage, PlanQuestion, RangeFacts, Report, ReportQuestion, SourcesPage, StatePage,
    StateQuestion, Step, Stepped, TablePage, TableQuestion, TableText, Tally, TreePage, TreeQuestion, WhatIf,
    WhatIfCourse, WhatIfQuestion,
};
use super::{Arrangement, Scope, Span};
use picture::timeline::{Axis, OutlineRect, Scene, View};
use serde::{Deserialize, Serialize};

/// A question about a device of the open file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub serial: u32,
    /// The device's ordinal, as in [`DeviceSummary::device`](super::DeviceSummary::device).
    pub device: i64,
    pub what: Question,
}

/// What can be asked. A question that takes longer than a slice replaces an older one of its kind that is not answered yet, but for
/// [`Question::Legend`] and [`Question::Details`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// Geometry for a window; no answer on a device that the file does not have.
    Scene {
        view: View,
        /// Order and colours.
        looks: Looks,
    },
    /// Which allocation is at this byte of the picture at this moment? In a plot of reserved memory, which range: ids are those of the
    /// plot, and bytes are reserved ones.
    Hit {
        /// Order and colours: those of the scene.
        looks: Looks,
        /// The moment (number of events that have happened).
        moment: u32,
        /// Height in the stack, in requested bytes; else on the picture's own axis ([`AddressMap`], reserved bytes).
        byte: u64,
    },
    /// What is at this address at this moment? The answer is an [`Answer::Hit`].
    MemoryAt {
        moment: u32,
        address: u64,
    },
    /// The addresses that were ever mapped in this part of memory, as the axis of [`Plot::Addresses`](super::Plot::Addresses) has them.
    Map(Only),
    /// Totals over the columns of a window.
    Curves {
        view: View,
        only: Only,
    },
    State(StateQuestion),
    Events(Box<EventsQuestion>),
    /// Rows of the list of events as text, the first [`MOST_COPIED`](super::MOST_COPIED) of those that the question names as chosen. The
    /// answer is an [`Answer::TableText`].
    EventsText(Box<EventsQuestion>),
    Moments(Vec<At>),
    /// Where does a step from a place in the stack lead?
    Step {
        /// Order and colours: those of the scene.
        looks: Looks,
        /// The moment it starts from.
        moment: u32,
        /// The byte of the stack it starts from.
        byte: u64,
        step: Step,
    },
    /// What a device has besides its allocations.
    Marks,
    Overview {
        axis: Axis,
        /// In how many columns.
        width_px: u32,
    },
    /// What the colours of a device mean.
    Legend {
        colouring: Grouping,
        /// The moment beside the peak that totals are wanted for.
        at: Option<u32>,
    },
    /// Where one allocation is in a window, also where the scene does not draw it by itself.
    Outline {
        view: View,
        /// Order and colours.
        looks: Looks,
        allocation: u32,
    },
    /// Everything about the allocation with this id.
    Details(u32),
    /// Search all allocations of a device for what [`Query::parse`](super::Query::parse) reads. The serial names the matches from then on.
    Find(String),
    /// Go from match to match of a finished search, around the end to the beginning. The device is that of the search.
    FindNext {
        find: u32,
        /// From here.
        begin: Begin,
        direction: Direction,
        /// The order that the stack is seen in.
        looks: Looks,
        /// The moments that are looked at: the first, and the first beyond.
        window: [u32; 2],
        /// Only to those of it.
        scope: Scope,
    },
    /// Count what has this stack, which [`Details::stack`] names.
    SameStack(u32),
    Flame(FlameQuestion),
    /// What do the files and lines of the user's own code weigh, over these allocations?
    Sources(Scope),
    /// What happened in a range of the trace?
    Range(Span),
    /// Part of the tree of the stacks of some allocations.
    Tree(Box<TreeQuestion>),
    /// Which allocation of a scope is the heaviest of those whose stacks are at a node or below it?
    Heaviest {
        scope: Scope,
        arrangement: Arrangement,
        node: u32,
    },
    Report(ReportQuestion),
    /// What is the peak with these factors on groups of allocations?
    Plan(Box<PlanQuestion>),
    /// The same, with the curve over a window.
    PlanCurve(Box<PlanQuestion>, View),
    /// How does a simulated run look over a window? The answer is an [`Answer::PlanCurve`].
    Course(Box<WhatIfCourse>, View),
    /// Part of the table of some allocations, and their histograms.
    Table(Box<TableQuestion>),
    /// Rows of a table as text, the first [`MOST_COPIED`](super::MOST_COPIED) of those that the question names as chosen.
    TableText(Box<TableQuestion>),
    /// About two devices. Who holds both files answers; the engine alone does not.
    Pair(PairQuestion),
    /// Two devices against each other, with so many rows of each sheet at most; likewise. The answer is an [`Answer::Report`].
    Comparison(Pairing, u32),
    /// What did the device's program ask its allocator for? For who answers [`Question::WhatIf`] elsewhere.
    Recording,
    /// How large is each allocation under this plan? Whoever answers [`Question::WhatIf`] needs it before
    /// [questions about planned sizes](WhatIfQuestion::is_planned).
    PlannedSizes(Box<PlanQuestion>),
    /// What would the device's program have reserved under other settings? Where it says so, parts of the answer come before the whole. It is
    /// never sent to the engine's worker: another simulates. It is the last, since a
    /// variant that is left out shifts the numbers of those behind it.
    #[serde(skip)]
    WhatIf(Box<WhatIfQuestion>),
}

/// What is answered. On a device that the file does not have there is no answer, or an empty one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Scene(Box<Scene>),
    Hit {
        /// The allocation, if there is one.
        hit: Option<HitAllocation>,
        /// The segment and what is free; not in a picture of the stack.
        memory: Option<Box<HitMemory>>,
    },
    Map(Box<AddressMap>),
    Curves(Box<Curves>),
    State(Box<StatePage>),
    Events(Box<EventsPage>),
    /// The facts of each moment of the question, in its order; unknown events are left out.
    Moments(Vec<MomentFacts>),
    /// Where the step led.
    Step(Stepped),
    Marks(Box<Marks>),
    Overview(Box<Overview>),
    Legend(Vec<LegendEntry>),
    /// Rectangles in pixels of the view, from left to right; none when the allocation is outside.
    Outline(Vec<OutlineRect>),
    /// The allocation; `None` when there is none with this id.
    Details(Option<Box<Details>>),
    Find(Tally),
    /// The match: `None` when there is none, or when the search is not the latest finished one.
    FindNext(Option<Match>),
    SameStack(Tally),
    Flame(Box<FlamePage>),
    Sources(Box<SourcesPage>),
    Range(RangeFacts),
    Tree(Box<TreePage>),
    /// Of equal allocations the one allocated first; `None` when there is none.
    Heaviest(Option<u32>),
    /// The report; without statements and sheets on a device that the file does not have.
    Report(Box<Report>),
    Plan(Box<PlanPage>),
    PlanCurve(Box<PlanCurve>),
    Table(Box<TablePage>),
    TableText(TableText),
    Pair(Box<PairAnswer>),
    /// The columns of an [`allocator::Recording`] as [`allocator::transfer`] has them, and the rest of it [encoded](super::encoded).
    Recording(Vec<u8>),
    /// As [`Simulation::plan`](allocator::simulation::Simulation::plan) takes them; empty where the plan cannot be carried out.
    PlannedSizes(Vec<u8>),
    /// Never sent: another worker than the engine's simulates. It is the last, as [`Question::WhatIf`].
    #[serde(skip)]
    WhatIf(Box<WhatIf>),
}
