//! Combines two engines behind one interface: one for the open file, and one for the second file, with which the open
//! file is compared.
//!
//! Devices of the second file have [separate ordinals](second_file_ordinal), so that all queries about a device also
//! work for the second file. Queries about both files are answered here.

mod active;
mod queries;

use crate::comparing::{CompareOptions, Comparer};
use active::ActiveComparison;
use base::later::gate;
use base::slice::{SliceResult, TimeSlice};
use engine::{Answer, Ask, Engine, NeededBytes, Question, Reply, Request, Side, Work};
use protocol::{CategorySet, PairQuestion, Pairing, PlanGroup, PlanQuestion, split_ordinal};
pub use queries::is_gated;
use queries::{has_measured, is_measured, plan_of, prefixes, with_second_ordinals};
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
        if gate(|| self.answer(slice)).is_ok() && !passes { Work::Idle } else { Work::More }
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

    /// Returns the device with an ordinal of this pair, see `protocol::second_file_ordinal`.
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
            Box::new(ActiveComparison::new(ask.device, pairing, comparer))
        });
        let answer = kept.answer([&a, &b], pairing, &ask.question, slice);
        self.comparison = Some(kept);
        answer
    }
}
