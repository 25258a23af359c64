//! Two engines behind one door: the file that is open, and the one it is compared with.
//!
//! Devices of the second file have [ordinals of their own](in_second_file), so that all that can be asked of a device of the first can be asked
//! of them. Questions about both are answered here.

use crate::alignment::{Alignment, peaks_in};
use crate::comparing::{Comparing, Wanted};
use crate::delta::Delta;
use crate::report::report;
use base::slice::{Slice, Sliced};
use base::units::Moment;
use engine::protocol::{
    Align, CategorySet, FileSummary, PairAnswer, PairAt, PairMap, PairQuestion, Pairing, PlanGroup, PlanQuestion,
    in_second_file, own_ordinal,
};
use engine::{Answer, Ask, Engine, Question, Reply, Request, Side, Want, Work};
use std::collections::VecDeque;
use std::mem::discriminant;

/// Which of the two files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    #[default]
    First,
    Second,
}

/// The two engines.
pub struct Pair {
    first: Engine,
    /// There is one once a second file was begun.
    second: Option<Box<Engine>>,
    make: fn() -> Engine,
    /// Which is fed.
    fed: Which,
    waiting: VecDeque<Ask>,
    kept: Option<Box<Kept>>,
    replies: VecDeque<(Which, Reply)>,
    /// What either was sent last that both have to know.
    categories: Option<Box<CategorySet>>,
    internal: Option<Vec<String>>,
    /// See [`PairQuestion::Paths`].
    paths: (u32, Vec<(String, String)>),
}

/// A comparison of two devices, and what is known of it.
struct Kept {
    a: i64,
    b: i64,
    align: Option<Align>,
    paths: u32,
    comparing: Comparing,
    delta: Delta,
}

impl Pair {
    /// Without any file; `make` makes an engine.
    pub fn new(make: fn() -> Engine) -> Pair {
        let (second, fed, waiting, kept, replies, categories, internal, paths) = Default::default();
        Pair { first: make(), second, make, fed, waiting, kept, replies, categories, internal, paths }
    }

    /// Takes a request. One to open a file is about the first.
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open { .. } => {
                self.end_second();
                self.fed = Which::First;
                self.first.request(request);
            }
            // Both files: a range of one is not compared with all of the other.
            Request::Load(range) => {
                self.second.iter_mut().for_each(|second| second.request(Request::Load(range)));
                self.first.request(Request::Load(range));
            }
            Request::EndOfFile | Request::Cancel => self.fed().request(request),
            Request::Ask(ask) => self.ask(ask),
            // A whole request is not cloned: that would be 9 kB of wasm.
            Request::Categories(set) => {
                // Keys by category are other ones now.
                self.kept = None;
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

    /// Opens the file that the first is compared with, instead of the one before.
    pub fn open_second(&mut self, open: Request) {
        self.end_second();
        let mut second = (self.make)();
        self.categories.iter().for_each(|set| second.request(Request::Categories(set.clone())));
        self.internal.iter().for_each(|rules| second.request(Request::InternalFrames(rules.clone())));
        second.request(open);
        self.second = Some(Box::new(second));
        self.fed = Which::Second;
    }

    /// Closes the second file, and drops what was asked about it.
    pub fn end_second(&mut self) {
        (self.kept, self.second, self.fed) = (None, None, Which::First);
        self.waiting.clear();
    }

    /// The engine of a file.
    pub fn engine(&self, which: Which) -> Option<&Engine> {
        match which {
            Which::First => Some(&self.first),
            Which::Second => self.second.as_deref(),
        }
    }

    /// What has the files open, the first and the second.
    pub fn into_engines(self) -> [Option<Engine>; 2] {
        [Some(self.first), self.second.map(|second| *second)]
    }

    /// What is decoded so far of the first file; see [`Engine::partial`].
    pub fn partial(&mut self) -> Option<Reply> {
        self.first.partial().map(Reply::Partial)
    }

    /// Takes the next bytes of the file that was begun last, which are those it [wants](Pair::wants).
    pub fn feed(&mut self, chunk: Vec<u8>) {
        self.fed().feed(chunk);
    }

    /// Which bytes of it are needed next; see [`Engine::wants`].
    pub fn wants(&self) -> Option<Want> {
        self.engine(self.fed)?.wants()
    }

    /// Works until there is nothing to do or `has_time` says no; see [`Engine::step`].
    pub fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        let mut work = self.first.step(has_time);
        if work == Work::Idle
            && let Some(second) = &mut self.second
        {
            work = second.step(has_time);
        }
        while let Some(reply) = self.first.next_reply() {
            self.replies.push_back((Which::First, reply));
        }
        while let Some(reply) = self.second.as_mut().and_then(|second| second.next_reply()) {
            self.replies.push_back((Which::Second, own(reply)));
        }
        // Of a file that is still read, or prepared, nothing can be compared.
        let is_ready = work == Work::Idle && self.is_open();
        if !is_ready || self.waiting.is_empty() {
            return work;
        }
        let slice = &mut Slice::new(has_time);
        // What is passed on is still to be answered.
        let passes = self.waiting.iter().any(is_measured);
        if self.answer(slice).is_ok() && !passes { Work::Idle } else { Work::More }
    }

    /// The next reply, oldest first, and of which file it is.
    pub fn next_reply(&mut self) -> Option<(Which, Reply)> {
        self.replies.pop_front()
    }

    /// Bytes on the heap of what only comparing needs.
    pub fn heap_bytes(&self) -> usize {
        self.kept.as_ref().map_or(0, |kept| kept.comparing.heap_bytes() + kept.delta.heap_bytes())
    }

    fn fed(&mut self) -> &mut Engine {
        match (self.fed, &mut self.second) {
            (Which::Second, Some(second)) => second,
            _ => &mut self.first,
        }
    }

    /// A device, by the ordinal that it has here.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        let (device, is_second) = own_ordinal(device);
        self.engine(if is_second { Which::Second } else { Which::First })?.side(device)
    }

    fn is_open(&self) -> bool {
        let is_loading = |engine: &Engine| engine.is_loading();
        !is_loading(&self.first) && self.second.as_deref().is_none_or(|second| !is_loading(second))
    }

    fn ask(&mut self, ask: Ask) {
        if let Question::Pair(PairQuestion::Paths(number, text)) = &ask.what {
            self.paths = (*number, prefixes(text));
            return;
        }
        if matches!(ask.what, Question::Pair(_) | Question::Comparison(..)) {
            // The latest of each kind counts.
            let kind = |ask: &Ask| match &ask.what {
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

    /// Asks the engine of the device.
    fn pass_on(&mut self, ask: Ask) {
        let (device, is_second) = own_ordinal(ask.device);
        let engine = match &mut self.second {
            Some(second) if is_second => second,
            _ => &mut self.first,
        };
        engine.request(Request::Ask(Ask { device, ..ask }));
    }

    /// Answers all that waits.
    fn answer(&mut self, slice: &mut Slice) -> Sliced {
        while let Some(mut ask) = self.waiting.pop_front() {
            if let Some(plan) = plan_of(&mut ask.what).filter(|plan| has_measured(plan)) {
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
                    self.replies.push_back((Which::First, Reply::Answer { serial: ask.serial, answer }));
                }
                // A device that is not there.
                Ok(None) => {}
                Err(spent) => {
                    self.waiting.push_front(ask);
                    return Err(spent);
                }
            }
        }
        Ok(())
    }

    /// Puts what the comparison of a device measured into the place of what a plan asks for. Without one the engine says that.
    fn measure(&mut self, device: i64, plan: &mut PlanQuestion, slice: &mut Slice) -> Sliced {
        let Some(mut kept) = self.kept.take() else { return Ok(()) };
        let measured = match (self.side(device).filter(|_| kept.a == device), self.side(kept.b)) {
            (Some(a), Some(b)) => kept.comparing.step(&a, &b, slice).map(|_| kept.comparing.measured(&a, None)),
            _ => Ok(None),
        };
        self.kept = Some(kept);
        let Some(measured) = measured? else { return Ok(()) };
        let wanted = plan.groups.iter().position(|(group, _)| matches!(group, PlanGroup::Measured(_)));
        if let Some((_, by)) = wanted.map(|at| plan.groups.swap_remove(at)) {
            match measured.groups(by) {
                Some(groups) => plan.groups.extend(groups),
                None => plan.groups.push((PlanGroup::Measured(0), by)),
            }
        }
        Ok(())
    }

    fn answer_one(&mut self, ask: &Ask, slice: &mut Slice) -> Sliced<Option<Answer>> {
        let pairing = match &ask.what {
            Question::Comparison(pairing, _) => *pairing,
            Question::Pair(
                PairQuestion::Map(pairing, _) | PairQuestion::Aligned(pairing, ..) | PairQuestion::Curve(pairing, _),
            ) => *pairing,
            _ => return Ok(None),
        };
        let kept = self.kept.take();
        let (Some(a), Some(b)) = (self.side(ask.device), self.side(pairing.b)) else { return Ok(None) };
        let Pairing { align, paths, .. } = pairing;
        let same = |kept: &Kept| (kept.a, kept.b, kept.align, kept.paths) == (ask.device, pairing.b, align, paths);
        let mut kept = kept.filter(|kept| same(kept)).unwrap_or_else(|| {
            let wanted = Wanted { align, key: pairing.key, ..Wanted::default() };
            let prefixes = if paths == self.paths.0 { self.paths.1.clone() } else { Vec::new() };
            let comparing = Comparing::new(&a, &b, wanted).with_prefixes(prefixes);
            Box::new(Kept { a: ask.device, b: pairing.b, align, paths, comparing, delta: Delta::default() })
        });
        let answer = kept.answer([&a, &b], pairing, &ask.what, slice);
        self.kept = Some(kept);
        answer
    }
}

impl Kept {
    fn answer(
        &mut self,
        [a, b]: [&Side; 2],
        pairing: Pairing,
        what: &Question,
        slice: &mut Slice,
    ) -> Sliced<Option<Answer>> {
        self.comparing.align(a, b, slice)?;
        let pair = |answer| Some(Answer::Pair(Box::new(answer)));
        let alignment = self.comparing.alignment();
        Ok(match what {
            Question::Pair(PairQuestion::Map(_, places)) => {
                let places = alignment.places(*places as usize);
                pair(PairAnswer::Map(PairMap { align: self.comparing.method(), places }))
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
                self.comparing.want(pairing.key, moments);
                let comparison = self.comparing.step(a, b, slice)?;
                Some(Answer::Report(Box::new(report(&comparison, *rows as usize))))
            }
            _ => None,
        })
    }
}

/// The plan that a question is about.
fn plan_of(what: &mut Question) -> Option<&mut PlanQuestion> {
    match what {
        Question::Plan(plan) | Question::PlanCurve(plan, _) | Question::PlannedSizes(plan) => Some(plan),
        _ => None,
    }
}

fn has_measured(plan: &PlanQuestion) -> bool {
    plan.groups.iter().any(|(group, _)| matches!(group, PlanGroup::Measured(_)))
}

/// Whether a question is about a plan with factors that a comparison measures.
fn is_measured(ask: &Ask) -> bool {
    matches!(&ask.what, Question::Plan(plan) | Question::PlanCurve(plan, _) | Question::PlannedSizes(plan) if has_measured(plan))
}

/// `OLD=NEW` of each part; what has no `=` is none.
fn prefixes(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| part.trim().split_once('=').map(|(old, new)| (old.to_owned(), new.to_owned()));
    text.split(';').filter_map(pair).filter(|(old, _)| !old.is_empty()).collect()
}

/// The moments of A and B that are compared; of one alone, the other is aligned with it, and without any it is the peaks.
fn moments([a, b]: [&Side; 2], at: PairAt, alignment: &Alignment) -> (Option<Moment>, Option<Moment>) {
    let end = |side: &Side| Some(Moment(side.history.event_count()));
    match at {
        PairAt::Peaks => (None, None),
        PairAt::PeakOfA => (Some(a.history.most_live().0), None),
        PairAt::PeakOfB => (None, Some(b.history.most_live().0)),
        PairAt::Start => (Some(Moment::START), Some(Moment::START)),
        PairAt::End => (end(a), end(b)),
        PairAt::Moment(moment) => (Some(Moment(moment)), None),
        PairAt::Both(one, other) => (Some(Moment(one)), Some(Moment(other))),
        PairAt::Range(from, to) => peaks_in([a, b], alignment, [from, to].map(Moment)),
    }
}

/// A reply of the second engine, as it is passed on: its devices have ordinals of their own.
fn own(reply: Reply) -> Reply {
    match reply {
        Reply::Opened(mut file) => {
            let FileSummary { devices, .. } = &mut *file;
            devices.iter_mut().for_each(|device| device.device = in_second_file(device.device));
            Reply::Opened(file)
        }
        reply => reply,
    }
}
