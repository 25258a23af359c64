//! Combines two engines behind one interface: one for the open file, and one for the second file, with which the open
//! file is compared.
//!
//! Devices of the second file have [separate ordinals](second_file_ordinal), so that all queries about a device also
//! work for the second file. Queries about both files are answered here.

use crate::alignment::{Alignment, peaks_in};
use crate::comparing::{CompareOptions, Comparer};
use crate::delta::Delta;
use crate::report::report;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use engine::{Answer, Ask, Engine, NeededBytes, Question, Reply, Request, Side, Work};
use protocol::{
    Align, CategorySet, FileSummary, PairAnswer, PairMap, PairMoments, PairQuestion, Pairing, PlanGroup, PlanQuestion,
    second_file_ordinal, split_ordinal,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::mem::discriminant;

/// Slot of a file: the open file or the second file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileSlot {
    #[default]
    First,
    Second,
}

/// The engines of two files, and the comparison of these files.
pub struct Pair {
    first: Engine,
    /// Engine of the second file, or `None` if no second file was opened.
    second: Option<Box<Engine>>,
    make_engine: fn() -> Engine,
    /// File that [`Pair::feed`] passes bytes to.
    receiver: FileSlot,
    waiting: VecDeque<Ask>,
    comparison: Option<Box<ActiveComparison>>,
    replies: VecDeque<(FileSlot, Reply)>,
    /// Last category rules that were sent to the engines, for a second file that is opened later.
    categories: Option<Box<CategorySet>>,
    internal: Option<Vec<String>>,
    /// Id of the last [`PairQuestion::PathPrefixes`], with its path prefixes and replacements.
    paths: (u32, Vec<(String, String)>),
}

/// The comparison of two devices, and data derived from it.
struct ActiveComparison {
    a: i64,
    b: i64,
    align: Option<Align>,
    paths: u32,
    comparing: Comparer,
    delta: Delta,
}

impl Pair {
    /// Creates a pair without open files. `make_engine` creates the engine of a file.
    pub fn new(make_engine: fn() -> Engine) -> Pair {
        let (second, receiver, waiting, comparison, replies, categories, internal, paths) = Default::default();
        Pair {
            first: make_engine(),
            second,
            make_engine,
            receiver,
            waiting,
            comparison,
            replies,
            categories,
            internal,
            paths,
        }
    }

    /// Handles a request. A request to open a file applies to the first file.
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open { .. } => {
                self.close_second();
                self.receiver = FileSlot::First;
                self.first.request(request);
            }
            // Applies to both files, so that equal ranges are compared.
            Request::Load(range) => {
                self.second.iter_mut().for_each(|second| second.request(Request::Load(range)));
                self.first.request(Request::Load(range));
            }
            Request::EndOfFile | Request::Cancel => self.receiver().request(request),
            Request::Ask(ask) => self.ask(ask),
            // Requests are built twice instead of cloned, which saves 9 kB of WebAssembly.
            Request::Categories(set) => {
                // Keys by category have changed.
                self.comparison = None;
                let request = || Request::Categories(set.clone());
                self.second.iter_mut().for_each(|second| second.request(request()));
                self.first.request(request());
                self.categories = Some(set);
            }
            Request::InternalFrames(rules) => {
                let request = || Request::InternalFrames(rules.clone());
                self.second.iter_mut().for_each(|second| second.request(request()));
                self.first.request(request());
                self.internal = Some(rules);
            }
        }
    }

    /// Opens the second file and closes the previous one.
    pub fn open_second(&mut self, open: Request) {
        self.close_second();
        let mut second = (self.make_engine)();
        self.categories.iter().for_each(|set| second.request(Request::Categories(set.clone())));
        self.internal.iter().for_each(|rules| second.request(Request::InternalFrames(rules.clone())));
        second.request(open);
        self.second = Some(Box::new(second));
        self.receiver = FileSlot::Second;
    }

    /// Closes the second file and discards pending queries about it.
    pub fn close_second(&mut self) {
        (self.comparison, self.second, self.receiver) = (None, None, FileSlot::First);
        self.waiting.clear();
    }

    /// Returns the engine of a file, or `None` if there is no second file.
    pub fn engine(&self, which: FileSlot) -> Option<&Engine> {
        match which {
            FileSlot::First => Some(&self.first),
            FileSlot::Second => self.second.as_deref(),
        }
    }

    /// Returns both engines. The second one is `None` if there is no second file.
    pub fn into_engines(self) -> [Option<Engine>; 2] {
        [Some(self.first), self.second.map(|second| *second)]
    }

    /// Returns the data of the first file that has been decoded so far, see [`Engine::partial`].
    pub fn partial(&mut self) -> Option<Reply> {
        self.first.partial().map(Reply::Partial)
    }

    /// Passes bytes to the file that was opened last. They must be the bytes that [`Pair::wants`] requested.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        self.receiver().feed(chunk);
    }

    /// Returns which bytes the file that was opened last needs next, see [`Engine::wants`].
    pub fn wants(&self) -> Option<NeededBytes> {
        self.engine(self.receiver)?.wants()
    }

    /// Continues pending work until there is none or `has_time` returns false, see [`Engine::step`].
    pub fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        let mut work = self.first.step(has_time);
        if work == Work::Idle
            && let Some(second) = &mut self.second
        {
            work = second.step(has_time);
        }
        while let Some(reply) = self.first.next_reply() {
            self.replies.push_back((FileSlot::First, reply));
        }
        while let Some(reply) = self.second.as_mut().and_then(|second| second.next_reply()) {
            self.replies.push_back((FileSlot::Second, with_second_ordinals(reply)));
        }
        // Nothing can be compared while a file is being read or prepared.
        let is_ready = work == Work::Idle && self.is_open();
        if !is_ready || self.waiting.is_empty() {
            return work;
        }
        let slice = &mut TimeSlice::new(has_time);
        // Forwarded queries still have to be answered.
        let passes = self.waiting.iter().any(is_measured);
        if self.answer(slice).is_ok() && !passes { Work::Idle } else { Work::More }
    }

    /// Returns the oldest pending reply, and the file that it is about.
    pub fn next_reply(&mut self) -> Option<(FileSlot, Reply)> {
        self.replies.pop_front()
    }

    fn receiver(&mut self) -> &mut Engine {
        match (self.receiver, &mut self.second) {
            (FileSlot::Second, Some(second)) => second,
            _ => &mut self.first,
        }
    }

    /// Returns the device with an ordinal of this pair, see [`second_file_ordinal`].
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        let (device, is_second) = split_ordinal(device);
        self.engine(if is_second { FileSlot::Second } else { FileSlot::First })?.side(device)
    }

    fn is_open(&self) -> bool {
        let is_loading = |engine: &Engine| engine.is_loading();
        !is_loading(&self.first) && self.second.as_deref().is_none_or(|second| !is_loading(second))
    }

    fn ask(&mut self, ask: Ask) {
        if let Question::Pair(PairQuestion::PathPrefixes(number, text)) = &ask.question {
            self.paths = (*number, prefixes(text));
            return;
        }
        if matches!(ask.question, Question::Pair(_) | Question::Comparison(..)) {
            // Only the latest query of each kind is kept.
            let kind = |ask: &Ask| match &ask.question {
                Question::Pair(question) => Some(discriminant(question)),
                _ => None,
            };
            self.waiting.retain(|other| kind(other) != kind(&ask) || is_measured(other));
            return self.waiting.push_back(ask);
        }
        if is_measured(&ask) {
            return self.waiting.push_back(ask);
        }
        self.pass_on(ask);
    }

    /// Forwards a query to the engine that has the device.
    fn pass_on(&mut self, ask: Ask) {
        let (device, is_second) = split_ordinal(ask.device);
        let engine = match &mut self.second {
            Some(second) if is_second => second,
            _ => &mut self.first,
        };
        engine.request(Request::Ask(Ask { device, ..ask }));
    }

    /// Answers pending queries until there are none or the time slice is used up.
    fn answer(&mut self, slice: &mut TimeSlice) -> SliceResult {
        while let Some(mut ask) = self.waiting.pop_front() {
            if let Some(plan) = plan_of(&mut ask.question).filter(|plan| has_measured(plan)) {
                match self.measure(ask.device, plan, slice) {
                    Ok(()) => self.pass_on(ask),
                    Err(spent) => {
                        self.waiting.push_front(ask);
                        return Err(spent);
                    }
                }
                continue;
            }
            match self.answer_one(&ask, slice) {
                Ok(Some(answer)) => {
                    self.replies.push_back((FileSlot::First, Reply::Answer { serial: ask.serial, answer }));
                }
                // The device does not exist.
                Ok(None) => {}
                Err(spent) => {
                    self.waiting.push_front(ask);
                    return Err(spent);
                }
            }
        }
        Ok(())
    }

    /// Replaces the group "measured" in a plan by the growth of call sites in the current comparison. Without a
    /// comparison, the group remains, and the engine reports an error.
    fn measure(&mut self, device: i64, plan: &mut PlanQuestion, slice: &mut TimeSlice) -> SliceResult {
        let Some(mut comparison) = self.comparison.take() else { return Ok(()) };
        let measured = match (self.side(device).filter(|_| comparison.a == device), self.side(comparison.b)) {
            (Some(a), Some(b)) => {
                comparison.comparing.step(&a, &b, slice).map(|_| comparison.comparing.measure_scaling([&a, &b], None))
            }
            _ => Ok(None),
        };
        self.comparison = Some(comparison);
        let Some(measured) = measured? else { return Ok(()) };
        let wanted = plan.groups.iter().position(|(group, _)| matches!(group, PlanGroup::Measured(_)));
        if let Some((_, by)) = wanted.map(|index| plan.groups.swap_remove(index)) {
            match measured.groups(by) {
                Some(groups) => plan.groups.extend(groups),
                None => plan.groups.push((PlanGroup::Measured(0), by)),
            }
        }
        Ok(())
    }

    fn answer_one(&mut self, ask: &Ask, slice: &mut TimeSlice) -> SliceResult<Option<Answer>> {
        let pairing = match &ask.question {
            Question::Comparison(pairing, _) => *pairing,
            Question::Pair(
                PairQuestion::Map(pairing, _) | PairQuestion::Aligned(pairing, ..) | PairQuestion::Curve(pairing, _),
            ) => *pairing,
            _ => return Ok(None),
        };
        let kept = self.comparison.take();
        let (Some(a), Some(b)) = (self.side(ask.device), self.side(pairing.b)) else { return Ok(None) };
        let Pairing { align, paths, .. } = pairing;
        let same =
            |kept: &ActiveComparison| (kept.a, kept.b, kept.align, kept.paths) == (ask.device, pairing.b, align, paths);
        let mut kept = kept.filter(|kept| same(kept)).unwrap_or_else(|| {
            let wanted = CompareOptions { align, key: pairing.key, ..CompareOptions::default() };
            let prefixes = if paths == self.paths.0 { self.paths.1.clone() } else { Vec::new() };
            let comparer = Comparer::new(&a, &b, wanted).with_prefixes(prefixes);
            Box::new(ActiveComparison {
                a: ask.device,
                b: pairing.b,
                align,
                paths,
                comparing: comparer,
                delta: Delta::default(),
            })
        });
        let answer = kept.answer([&a, &b], pairing, &ask.question, slice);
        self.comparison = Some(kept);
        answer
    }
}

impl ActiveComparison {
    fn answer(
        &mut self,
        [a, b]: [&Side; 2],
        pairing: Pairing,
        what: &Question,
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<Answer>> {
        self.comparing.align(a, b, slice)?;
        let pair = |answer| Some(Answer::Pair(Box::new(answer)));
        let alignment = self.comparing.alignment();
        Ok(match what {
            Question::Pair(PairQuestion::Map(_, places)) => {
                let places = alignment.sampled_anchors(*places as usize);
                pair(PairAnswer::Map(PairMap { align: self.comparing.method(), moments: places }))
            }
            Question::Pair(PairQuestion::Aligned(_, is_of_b, moment)) => {
                let moment = Moment(*moment);
                let (one, other) = match is_of_b {
                    false => (moment, alignment.to_b(moment)),
                    true => (alignment.to_a(moment), moment),
                };
                let live = |side: &Side, moment| u64::try_from(side.history.drawn_at(moment)).unwrap_or(0);
                pair(PairAnswer::Aligned(one.0, other.0, live(a, one), live(b, other)))
            }
            Question::Pair(PairQuestion::Curve(_, view)) => {
                let curve = self.delta.curve([a, b], alignment, *view, slice)?;
                pair(PairAnswer::Curve(Box::new(curve)))
            }
            Question::Comparison(_, rows) => {
                let moments = moments([a, b], pairing.at, alignment);
                self.comparing.set_options(pairing.key, moments);
                let comparison = self.comparing.step(a, b, slice)?;
                Some(Answer::Report(Box::new(report(&comparison, *rows as usize))))
            }
            _ => None,
        })
    }
}

/// Returns the plan that a query contains, or `None`.
fn plan_of(what: &mut Question) -> Option<&mut PlanQuestion> {
    match what {
        Question::Plan(plan) | Question::PlanCurve(plan, _) | Question::PlannedSizes(plan) => Some(plan),
        _ => None,
    }
}

fn has_measured(plan: &PlanQuestion) -> bool {
    plan.groups.iter().any(|(group, _)| matches!(group, PlanGroup::Measured(_)))
}

/// Returns true if a query contains a plan with the group "measured".
fn is_measured(ask: &Ask) -> bool {
    matches!(&ask.question, Question::Plan(plan) | Question::PlanCurve(plan, _) | Question::PlannedSizes(plan) if has_measured(plan))
}

/// Parses path prefixes and replacements, `OLD=NEW;OLD=NEW`. Skips entries without `=`.
fn prefixes(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| part.trim().split_once('=').map(|(old, new)| (old.to_owned(), new.to_owned()));
    text.split(';').filter_map(pair).filter(|(old, _)| !old.is_empty()).collect()
}

/// Returns the moments to compare. A moment that is `None` is aligned with the other one. If both are `None`, the peaks
/// are compared.
fn moments([a, b]: [&Side; 2], at: PairMoments, alignment: &Alignment) -> (Option<Moment>, Option<Moment>) {
    let end = |side: &Side| Some(Moment(side.history.event_count()));
    match at {
        PairMoments::Peaks => (None, None),
        PairMoments::PeakOfA => (Some(a.history.live_peak().0), None),
        PairMoments::PeakOfB => (None, Some(b.history.live_peak().0)),
        PairMoments::Start => (Some(Moment::START), Some(Moment::START)),
        PairMoments::End => (end(a), end(b)),
        PairMoments::Moment(moment) => (Some(Moment(moment)), None),
        PairMoments::Both(one, other) => (Some(Moment(one)), Some(Moment(other))),
        PairMoments::Range(from, to) => peaks_in([a, b], alignment, [from, to].map(Moment)),
    }
}

/// Replaces the device ordinals in a reply from the second file's engine by the ordinals of this pair.
fn with_second_ordinals(reply: Reply) -> Reply {
    match reply {
        Reply::Opened(mut file) => {
            let FileSummary { devices, .. } = &mut *file;
            devices.iter_mut().for_each(|device| device.device = second_file_ordinal(device.device));
            Reply::Opened(file)
        }
        reply => reply,
    }
}
