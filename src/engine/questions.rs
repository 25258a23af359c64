//! Queue of pending questions, and the dispatch to the code that answers each kind.
//!
//! Quick questions are answered at once. Of the other kinds, only the latest question of each kind is kept.

use super::curves::CurvesInWork;
use super::events::Events;
use super::find::{Search, Sought, step_to};
use super::flame::Flames;
use super::heaviest::Heaviest;
use super::open::OpenFile;
use super::plan::{Plan, Sizes, course_curve};
use super::protocol::{Answer, Ask, Grouping, Looks, Plot, Query, Question, Reply};
use super::report::Reports;
use super::scenes::SceneInWork;
use super::sources::Sources;
use super::state::{Beneath, States};
use super::table::Tables;
use super::tree::Trees;
use super::what_if::{Sending, Simulate};
use super::{details, legend, marks, places, range, steps};
use base::apart::apart;
use base::slice::{Slice, Sliced, Spent};
use history::snapshot::StackId;
use std::collections::VecDeque;
use std::mem::discriminant;

/// Pending questions in the order of priority, with work in progress and caches.
#[derive(Default)]
pub(super) struct Questions {
    waiting: VecDeque<Ask>,
    scene: SceneInWork,
    curves: CurvesInWork,
    search: Option<Box<Search>>,
    count: Option<Box<Search>>,
    flames: Flames,
    trees: Trees,
    heaviest: Heaviest,
    states: States,
    beneath: Beneath,
    sources: Sources,
    tables: Tables,
    events: Events,
    reports: Reports,
    sending: Sending,
    /// Answers [`Question::WhatIf`], if this engine simulates.
    simulator: Option<Box<dyn Simulate>>,
    plan: Option<Box<Plan>>,
    plan_curve: Option<Box<Plan>>,
    sizes: Option<Box<Sizes>>,
}

/// Rank of questions that are answered immediately. They do not replace each other.
const AT_ONCE: u8 = 0;

/// Returns the priority of a question. Lower ranks are answered first.
fn rank(what: &Question) -> u8 {
    match what {
        Question::Hit { .. } | Question::Moments(_) | Question::Step { .. } | Question::Marks => AT_ONCE,
        Question::Overview { .. } | Question::Outline { .. } | Question::FindNext { .. } => AT_ONCE,
        Question::Legend { .. } | Question::Details(_) => AT_ONCE,
        Question::Scene { .. } => 1,
        Question::Curves { .. } => 2,
        Question::Find(_) | Question::SameStack(_) => 3,
        Question::TableText(_) | Question::EventsText(_) => 5,
        Question::Table(_) | Question::Events(_) => 6,
        Question::Report(_) => 7,
        Question::WhatIf(_) | Question::Recording | Question::PlannedSizes(_) => 8,
        _ => 4,
    }
}

impl Questions {
    pub(super) fn new(simulator: Option<Box<dyn Simulate>>) -> Questions {
        Questions { simulator, ..Questions::default() }
    }

    /// Answers a question at once, or queues it for [`Questions::step`].
    pub(super) fn ask(&mut self, file: &mut OpenFile, ask: Ask, replies: &mut VecDeque<Reply>) {
        let rank_of = rank(&ask.what);
        if rank_of == AT_ONCE {
            if self.answer(file, &ask, replies, &mut Slice::new(&mut || false)).is_ok() {
                return;
            }
        } else {
            self.begin(&ask.what);
            self.waiting.retain(|other| discriminant(&other.what) != discriminant(&ask.what));
        }
        let place = self.waiting.partition_point(|other| rank(&other.what) <= rank_of);
        self.waiting.insert(place, ask);
    }

    /// Drops the work in progress for an earlier question of this kind.
    fn begin(&mut self, what: &Question) {
        match what {
            Question::Scene { .. } => self.scene = SceneInWork::default(),
            Question::Curves { .. } => self.curves.begin(),
            Question::Find(_) => self.search = None,
            Question::SameStack(_) => self.count = None,
            Question::Heaviest { .. } => self.heaviest = Heaviest::default(),
            Question::Sources(_) => self.sources = Sources::default(),
            Question::TableText(_) => self.tables.begin_text(),
            Question::EventsText(_) => self.events.begin_text(),
            Question::Report(_) => self.reports.begin(),
            Question::WhatIf(_) => self.simulator.iter_mut().for_each(|simulator| simulator.begin()),
            Question::Recording => self.sending = Sending::default(),
            Question::Plan(_) => self.plan = None,
            Question::PlanCurve(..) => self.plan_curve = None,
            Question::PlannedSizes(_) => self.sizes = None,
            _ => {}
        }
    }

    /// Drops everything that depends on the categories, because they have changed.
    pub(super) fn forget_categories(&mut self) {
        self.tables.forget();
        self.events.forget();
        self.reports.begin();
        (self.plan, self.plan_curve, self.sizes) = Default::default();
        self.scene = SceneInWork::default();
    }

    /// Drops everything that depends on node numbers, because they have changed.
    pub(super) fn forget_nodes(&mut self) {
        (self.trees, self.flames, self.plan, self.plan_curve) = Default::default();
        self.tables.forget();
    }

    /// Answers all pending questions.
    pub(super) fn step(&mut self, file: &mut OpenFile, replies: &mut VecDeque<Reply>, slice: &mut Slice) -> Sliced {
        while let Some(ask) = self.waiting.pop_front() {
            if self.answer(file, &ask, replies, slice).is_err() {
                self.waiting.push_front(ask);
                return Err(Spent);
            }
        }
        Ok(())
    }

    /// Answers one question and queues the reply, if it has one.
    fn answer(&mut self, file: &mut OpenFile, ask: &Ask, replies: &mut VecDeque<Reply>, slice: &mut Slice) -> Sliced {
        let Ask { serial, device, ref what } = *ask;
        let mut send = |answer: Answer| replies.push_back(Reply::Answer { serial, answer });
        let answer = match *what {
            Question::Scene { view, looks } => apart(|| self.scene.scene(file, device, view, looks, slice))?
                .map(|scene| Answer::Scene(Box::new(scene))),
            Question::Hit { looks, moment, byte } if looks.plot == Plot::Stack => {
                Some(Answer::Hit { hit: apart(|| file.hit(device, looks, moment, byte)), memory: None })
            }
            Question::Hit { looks, moment, byte } => {
                let (hit, memory) = apart(|| file.hit_in_plot(device, looks, moment, byte));
                Some(Answer::Hit { hit, memory: Some(Box::new(memory)) })
            }
            Question::MemoryAt { moment, address } => {
                let (hit, memory) = apart(|| self.beneath.at(file, device, moment, address, slice))?;
                Some(Answer::Hit { hit, memory })
            }
            Question::Map(only) => {
                let looks = Looks { plot: Plot::Addresses(only), ..Looks::default() };
                apart(|| file.prepare_plot(device, looks, slice))?;
                Some(Answer::Map(Box::new(apart(|| file.map(device, only)))))
            }
            Question::Curves { view, only } => {
                Some(Answer::Curves(apart(|| self.curves.curves(file, device, view, only, slice))?))
            }
            Question::State(question) => {
                Some(Answer::State(Box::new(apart(|| self.states.page(file, device, question, slice))?)))
            }
            Question::Events(ref question) => {
                apart(|| self.events.page(file, device, question, slice))?.map(|page| Answer::Events(Box::new(page)))
            }
            Question::EventsText(ref question) => {
                let send = &mut |part| send(Answer::TableText(part));
                apart(|| self.events.text(file, device, question, send, slice))?;
                None
            }
            Question::Moments(ref at) => file
                .history(device)
                .map(|history| Answer::Moments(at.iter().filter_map(|&at| places::facts(history, at)).collect())),
            Question::Step { looks, moment, byte, step } => {
                apart(|| steps::step(file, device, looks, (moment, byte), step)).map(Answer::Step)
            }
            Question::Marks => apart(|| marks::marks(file, device)).map(|marks| Answer::Marks(Box::new(marks))),
            Question::Overview { axis, width_px } => {
                apart(|| file.overview(device, axis, width_px)).map(|overview| Answer::Overview(Box::new(overview)))
            }
            Question::Legend { colouring, at } => {
                if colouring == Grouping::Category {
                    apart(|| file.categorize(slice))?;
                }
                apart(|| legend::legend(file, device, colouring, at)).map(Answer::Legend)
            }
            Question::Outline { view, looks, allocation } => {
                apart(|| file.outline(device, looks, &view, allocation)).map(Answer::Outline)
            }
            Question::Details(allocation) => {
                apart(|| file.categorize(slice))?;
                Some(Answer::Details(apart(|| details::details(file, device, allocation)).map(Box::new)))
            }
            Question::Find(ref query) => {
                // The page only sends valid queries. An invalid one finds nothing.
                let sought = || Query::parse(query).map_or(Sought::Nothing, Sought::Query);
                let search = self.search.get_or_insert_with(|| Box::new(Search::new(device, sought())));
                let tally = apart(|| search.step(file, slice))?;
                self.search.take().into_iter().for_each(|search| search.keep(file, serial));
                Some(Answer::Find(tally))
            }
            Question::FindNext { find, begin, direction, looks, window, scope } => {
                Some(Answer::FindNext(apart(|| step_to(file, (find, scope), begin, direction, looks, window))))
            }
            Question::SameStack(stack) => {
                let new = || Box::new(Search::new(device, Sought::Stack(StackId(stack))));
                let tally = self.count.get_or_insert_with(new).step(file, slice)?;
                self.count = None;
                Some(Answer::SameStack(tally))
            }
            Question::Flame(question) => {
                Some(Answer::Flame(Box::new(apart(|| self.flames.page(file, device, question, slice))?)))
            }
            Question::Sources(scope) => {
                let page = apart(|| self.sources.page(file, device, scope, slice))?;
                self.sources = Sources::default();
                Some(Answer::Sources(Box::new(page)))
            }
            Question::Range(span) => Some(Answer::Range(apart(|| range::facts(file, device, span, slice))?)),
            Question::Tree(ref question) => {
                Some(Answer::Tree(Box::new(apart(|| self.trees.page(file, device, question, slice))?)))
            }
            Question::Heaviest { scope, arrangement, node } => {
                Some(Answer::Heaviest(apart(|| self.heaviest.find(file, device, scope, (arrangement, node), slice))?))
            }
            Question::Report(ref question) => {
                Some(Answer::Report(Box::new(apart(|| self.reports.step(file, device, question, slice))?)))
            }
            Question::PlanCurve(ref question, view) => {
                let new = || Box::new(Plan::over(device, question, view));
                let plan = self.plan_curve.get_or_insert_with(new);
                apart(|| plan.step(file, slice))?;
                let curve = self.plan_curve.take().map(|plan| plan.curve()).unwrap_or_default();
                Some(Answer::PlanCurve(Box::new(curve)))
            }
            Question::Course(ref course, view) => file
                .history(device)
                .map(|history| Answer::PlanCurve(Box::new(apart(|| course_curve(history, course, view))))),
            Question::Plan(ref question) => {
                let plan = self.plan.get_or_insert_with(|| Box::new(Plan::new(device, question)));
                let page = apart(|| plan.step(file, slice))?;
                self.plan = None;
                Some(Answer::Plan(Box::new(page)))
            }
            Question::Table(ref question) => {
                Some(Answer::Table(Box::new(apart(|| self.tables.page(file, device, question, slice))?)))
            }
            Question::TableText(ref question) => {
                let send = &mut |part| send(Answer::TableText(part));
                apart(|| self.tables.text(file, device, question, send, slice))?;
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
            Question::Recording => apart(|| self.sending.step(file, device, slice))?.map(Answer::Recording),
            Question::PlannedSizes(ref question) => {
                let sizes = self.sizes.get_or_insert_with(|| Box::new(Sizes::new(device, question)));
                let sizes = apart(|| sizes.step(file, slice))?;
                self.sizes = None;
                self.simulator.iter_mut().for_each(|simulator| simulator.plan(device, &sizes));
                Some(Answer::PlannedSizes(sizes))
            }
        };
        answer.into_iter().for_each(send);
        Ok(())
    }

    /// Returns the heap memory of work in progress and caches, in bytes, by kind of table.
    pub(super) fn heap_bytes(&self) -> [(&'static str, usize); 6] {
        let views = self.trees.heap_bytes() + self.states.heap_bytes() + self.beneath.heap_bytes();
        [
            ("table", self.tables.heap_bytes()),
            ("curves", self.curves.heap_bytes()),
            ("list of events", self.events.heap_bytes()),
            ("views", views + self.sources.heap_bytes()),
            ("insights", self.reports.heap_bytes()),
            ("simulation", self.simulator.as_ref().map_or(0, |simulator| simulator.heap_bytes())),
        ]
    }
}
