//! Queue of pending queries. It passes each [`Question`] variant to the code that answers it.
//!
//! Quick queries are answered immediately. Among the other queries, only the latest one of each variant stays in the
//! queue.

use super::curves::CurveBuilder;
use super::events::EventLists;
use super::find::{Search, SearchTarget, find_match};
use super::flame::FlameGraphs;
use super::heaviest::Heaviest;
use super::open::OpenFile;
use super::phases::PhaseFinder;
use super::plan::{Plan, PlannedSizes, run_curve};
use super::report::Reports;
use super::scenes::SceneBuilder;
use super::sources::Sources;
use super::state::{AddressLookup, SegmentsCache};
use super::table::TableCache;
use super::tree::TreeCache;
use super::what_if::{NewSimulator, RecordingEncoder, Simulator};
use super::{details, legend, marks, moments, range, steps};
use base::heap::HeapBytes;
use base::out_of_line::out_of_line;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use history::snapshot::StackId;
use protocol::{Answer, Ask, Grouping, Plot, PlotSettings, Query, Question, Reply};
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
    reports: Reports,
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

    /// Continues answering one query. Appends the answer to `replies` once complete, if there is one.
    fn answer(
        &mut self,
        file: &mut OpenFile,
        ask: &Ask,
        replies: &mut VecDeque<Reply>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Ask { serial, device, question: ref what } = *ask;
        let mut send = |answer: Answer| replies.push_back(Reply::Answer { serial, answer });
        let answer = match *what {
            Question::Scene { view, plot_settings } => {
                out_of_line(|| self.scene.scene(file, device, view, plot_settings, slice))?
                    .map(|scene| Answer::Scene(Box::new(scene)))
            }
            Question::Hit { plot_settings, moment, byte } if plot_settings.plot == Plot::Stack => {
                Some(Answer::Hit { hit: file.hit(device, plot_settings, moment, byte), memory: None })
            }
            Question::Hit { plot_settings, moment, byte } => {
                let (hit, memory) = file.hit_in_plot(device, plot_settings, moment, byte);
                Some(Answer::Hit { hit, memory: Some(Box::new(memory)) })
            }
            Question::MemoryAt { moment, address } => {
                let (hit, memory) = self.beneath.look_up(file, device, moment, address, slice)?;
                Some(Answer::Hit { hit, memory })
            }
            Question::Map(only) => {
                let plot_settings = PlotSettings { plot: Plot::Addresses(only), ..PlotSettings::default() };
                file.prepare_plot(device, plot_settings, slice)?;
                Some(Answer::Map(Box::new(file.map(device, only))))
            }
            Question::Curves { view, only, with_stranded } => {
                let memory = (only, with_stranded);
                Some(Answer::Curves(self.curves.compute(file, device, view, memory, slice)?))
            }
            Question::State(question) => {
                Some(Answer::State(Box::new(out_of_line(|| self.states.page(file, device, question, slice))?)))
            }
            Question::Events(ref question) => {
                self.events.page(file, device, question, slice)?.map(|page| Answer::Events(Box::new(page)))
            }
            Question::EventsText(ref question) => {
                let send = &mut |part| send(Answer::TableText(part));
                self.events.copy_text(file, device, question, send, slice)?;
                None
            }
            Question::Moments(ref at) => file.history(device).map(|history| {
                Answer::Moments(at.iter().filter_map(|&at| moments::moment_facts(history, at)).collect())
            }),
            Question::Step { plot_settings, moment, byte, step } => {
                steps::step(file, device, plot_settings, (moment, byte), step).map(Answer::Step)
            }
            Question::Marks => marks::marks(file, device, &[]).map(|marks| Answer::Marks(Box::new(marks))),
            Question::Phases => {
                file.find_backward(slice)?;
                let finder = self.phases.get_or_insert_with(|| Box::new(PhaseFinder::new(device)));
                finder.step_in(file, slice)?;
                let marks = marks::marks(file, device, finder.phases());
                self.phases = None;
                marks.map(|marks| Answer::Marks(Box::new(marks)))
            }
            Question::Overview { axis, width_px } => {
                file.overview(device, axis, width_px).map(|overview| Answer::Overview(Box::new(overview)))
            }
            Question::Legend { colouring, at } => {
                if colouring == Grouping::Category {
                    file.categorize(slice)?;
                }
                legend::legend(file, device, colouring, at).map(Answer::Legend)
            }
            Question::Outline { view, plot_settings, allocation } => {
                file.outline(device, plot_settings, &view, allocation).map(Answer::Outline)
            }
            Question::Details(allocation) => {
                file.categorize(slice)?;
                Some(Answer::Details(details::details(file, device, allocation).map(Box::new)))
            }
            Question::Find(ref query) => {
                // The page only sends valid queries. An invalid one finds nothing.
                let target = || Query::parse(query).map_or(SearchTarget::Nothing, SearchTarget::Query);
                let search = self.search.get_or_insert_with(|| Box::new(Search::new(device, target())));
                let tally = search.step(file, slice)?;
                self.search.take().into_iter().for_each(|search| search.store_as(file, serial));
                Some(Answer::Find(tally))
            }
            Question::FindNext { search_serial, begin, direction, plot_settings, window, scope } => Some(
                Answer::FindNext(find_match(file, (search_serial, scope), begin, direction, plot_settings, window)),
            ),
            Question::SameStack(stack) => {
                let new = || Box::new(Search::new(device, SearchTarget::Stack(StackId(stack))));
                let tally = self.count.get_or_insert_with(new).step(file, slice)?;
                self.count = None;
                Some(Answer::SameStack(tally))
            }
            Question::Flame(question) => {
                Some(Answer::Flame(Box::new(self.flames.page(file, device, question, slice)?)))
            }
            Question::Sources(scope) => {
                let page = self.sources.page(file, device, scope, slice)?;
                self.sources = Sources::default();
                Some(Answer::Sources(Box::new(page)))
            }
            Question::Range(span) => Some(Answer::Range(range::range_facts(file, device, span, slice)?)),
            Question::Tree(ref question) => {
                Some(Answer::Tree(Box::new(out_of_line(|| self.trees.page(file, device, (question, false), slice))?)))
            }
            Question::FoundTree(ref question) => {
                Some(Answer::Tree(Box::new(out_of_line(|| self.trees.page(file, device, (question, true), slice))?)))
            }
            Question::Heaviest { scope, arrangement, node } => {
                Some(Answer::Heaviest(self.heaviest.find(file, device, scope, (arrangement, node), slice)?))
            }
            Question::Report(ref question) => {
                Some(Answer::Report(Box::new(out_of_line(|| self.reports.step(file, device, question, slice))?)))
            }
            Question::PlanCurve(ref question, view) => {
                let new = || Box::new(Plan::with_curve(device, question, view));
                let plan = self.plan_curve.get_or_insert_with(new);
                plan.step(file, slice)?;
                let curve = self.plan_curve.take().map(|plan| plan.curve()).unwrap_or_default();
                Some(Answer::PlanCurve(Box::new(curve)))
            }
            Question::Course(ref course, view) => {
                file.history(device).map(|history| Answer::PlanCurve(Box::new(run_curve(history, course, view))))
            }
            Question::Plan(ref question) => {
                let plan = self.plan.get_or_insert_with(|| Box::new(Plan::new(device, question)));
                let page = plan.step(file, slice)?;
                self.plan = None;
                Some(Answer::Plan(Box::new(page)))
            }
            Question::Table(ref question) => {
                Some(Answer::Table(Box::new(out_of_line(|| self.tables.page(file, device, question, slice))?)))
            }
            Question::TableText(ref question) => {
                let send = &mut |part| send(Answer::TableText(part));
                self.tables.text(file, device, question, send, slice)?;
                None
            }
            Question::WhatIf(ref question) => {
                let send = &mut |part| send(Answer::WhatIf(Box::new(part)));
                let Some(simulator) = &mut self.simulator else { return Ok(()) };
                let answer = simulator.answer(file, device, question, send, slice)?;
                answer.map(|answer| Answer::WhatIf(Box::new(answer)))
            }
            // The engine holds one file. Questions about two are answered by `compare::Pair`.
            Question::Pair(_) | Question::Comparison(..) => None,
            Question::Recording => self.sending.step(file, device, slice)?.map(Answer::Recording),
            Question::PlannedSizes(ref question) => {
                let sizes = self.sizes.get_or_insert_with(|| Box::new(PlannedSizes::new(device, question)));
                let sizes = sizes.step(file, slice)?;
                self.sizes = None;
                self.simulator.iter_mut().for_each(|simulator| simulator.set_planned_sizes(device, &sizes));
                Some(Answer::PlannedSizes(sizes))
            }
        };
        answer.into_iter().for_each(send);
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
