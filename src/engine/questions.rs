//! Queue of pending queries. It passes each [`Question`] variant to the code that answers it.
//!
//! Quick queries are answered immediately. Among the other queries, only the latest one of each variant stays in the
//! queue.

mod answering;

use super::curves::CurveBuilder;
use super::events::EventLists;
use super::find::Search;
use super::flame::FlameGraphs;
use super::heaviest::Heaviest;
use super::open::OpenFile;
use super::phases::PhaseFinder;
use super::plan::{Plan, PlannedSizes};
use super::report::{FinishedReports, Reports};
use super::scenes::SceneBuilder;
use super::sources::Sources;
use super::state::{AddressLookup, SegmentsCache};
use super::table::TableCache;
use super::tree::TreeCache;
use super::what_if::{NewSimulator, RecordingEncoder, Simulator};
use base::heap::HeapBytes;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use protocol::{Ask, Question, Reply};
use std::collections::VecDeque;
use std::mem::discriminant;

/// Pending queries in order of priority, queries in progress, and caches.
#[derive(Default)]
pub(super) struct Questions {
    waiting: VecDeque<Ask>,
    scene: SceneBuilder,
    curves: CurveBuilder,
    search: Option<Box<Search>>,
    count: Option<Box<Search>>,
    flames: FlameGraphs,
    trees: TreeCache,
    heaviest: Heaviest,
    states: SegmentsCache,
    beneath: AddressLookup,
    sources: Sources,
    tables: TableCache,
    events: EventLists,
    pub(super) reports: Reports,
    sending: RecordingEncoder,
    /// Simulator that answers [`Question::WhatIf`]. `None` if this engine does not simulate.
    simulator: Option<Box<dyn Simulator>>,
    plan: Option<Box<Plan>>,
    plan_curve: Option<Box<Plan>>,
    sizes: Option<Box<PlannedSizes>>,
    phases: Option<Box<PhaseFinder>>,
}

/// Priority of queries that are answered immediately. They do not replace each other.
const IMMEDIATE: u8 = 0;

/// Returns the priority of a query. Queries with a lower value are answered first.
fn rank(question: &Question) -> u8 {
    match question {
        Question::Hit { .. } | Question::Moments(_) | Question::Step { .. } | Question::Marks => IMMEDIATE,
        Question::Overview { .. } | Question::Outline { .. } | Question::FindNext { .. } => IMMEDIATE,
        Question::Legend { .. } | Question::Details(_) => IMMEDIATE,
        Question::Scene { .. } => 1,
        Question::Curves { .. } => 2,
        Question::Find(_) | Question::SameStack(_) => 3,
        Question::TableText(_) | Question::EventsText(_) | Question::Phases => 5,
        Question::Table(_) | Question::Events(_) => 6,
        Question::Report(_) => 7,
        Question::WhatIf(_) | Question::Recording | Question::PlannedSizes(_) => 8,
        _ => 4,
    }
}

impl Questions {
    /// Creates an empty queue. Without `new_simulator`, nothing is simulated.
    pub(super) fn new(new_simulator: Option<NewSimulator>) -> Questions {
        let (simulator, reports) = (new_simulator.map(|new| new()), Reports::new(new_simulator));
        Questions { simulator, reports, ..Questions::default() }
    }

    /// Answers a query immediately, or queues it for [`Questions::step`].
    pub(super) fn ask(&mut self, file: &mut OpenFile, ask: Ask, replies: &mut VecDeque<Reply>) {
        let ask_rank = rank(&ask.question);
        if ask_rank == IMMEDIATE {
            if self.answer(file, &ask, replies, &mut TimeSlice::new(&mut || false)).is_ok() {
                return;
            }
        } else {
            self.reset(&ask.question);
            self.waiting.retain(|other| discriminant(&other.question) != discriminant(&ask.question));
        }
        let index = self.waiting.partition_point(|other| rank(&other.question) <= ask_rank);
        self.waiting.insert(index, ask);
    }

    /// Drops the work in progress for a previous query of the same variant.
    fn reset(&mut self, question: &Question) {
        match question {
            Question::Scene { .. } => self.scene = SceneBuilder::default(),
            Question::Curves { .. } => self.curves.reset(),
            Question::Find(_) => self.search = None,
            Question::SameStack(_) => self.count = None,
            Question::Heaviest { .. } => self.heaviest = Heaviest::default(),
            Question::Sources(_) => self.sources = Sources::default(),
            Question::TableText(_) => self.tables.reset_text(),
            Question::EventsText(_) => self.events.start_copying(),
            Question::Report(_) => self.reports.cancel(),
            Question::WhatIf(_) => self.simulator.iter_mut().for_each(|simulator| simulator.reset()),
            Question::Phases => self.phases = None,
            Question::Recording => self.sending = RecordingEncoder::default(),
            Question::Plan(_) => self.plan = None,
            Question::PlanCurve(..) => self.plan_curve = None,
            Question::PlannedSizes(_) => self.sizes = None,
            _ => {}
        }
    }

    /// Drops all data that depends on categories, after the rules have changed.
    pub(super) fn forget_categories(&mut self) {
        self.tables.invalidate();
        self.events.invalidate();
        self.reports.forget_categories();
        (self.plan, self.plan_curve, self.sizes) = Default::default();
        self.scene = SceneBuilder::default();
    }

    /// Drops all data that depends on tree node ids, after the rules for internal frames have changed.
    pub(super) fn forget_nodes(&mut self) {
        (self.trees, self.flames, self.plan, self.plan_curve) = Default::default();
        self.tables.invalidate();
        self.reports.finished = FinishedReports::default();
    }

    /// Continues answering the pending queries until all are answered or the time slice is used up.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(ask) = self.waiting.pop_front() {
            if self.answer(file, &ask, replies, slice).is_err() {
                self.waiting.push_front(ask);
                return Err(OutOfTime);
            }
        }
        Ok(())
    }

    /// Returns the heap usage of work in progress and caches: names of tables and their sizes in bytes.
    pub(super) fn heap_bytes(&self) -> [(&'static str, usize); 6] {
        let views = self.trees.heap_bytes() + self.states.heap_bytes() + self.beneath.heap_bytes();
        [
            ("table", self.tables.heap_bytes()),
            ("curves", self.curves.heap_bytes()),
            ("list of events", self.events.heap_bytes()),
            ("views", views + self.sources.heap_bytes()),
            ("insights", self.reports.heap_bytes()),
            ("simulation", self.simulator.heap_bytes()),
        ]
    }
}
