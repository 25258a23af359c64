//! Two engines behind one door: the file that is open, and the one it is compared with.
//!
//! Devices of the second file have [ordinals of their own](in_second_file), so that all that can be asked of a device of the first can be asked
//! of them. Questions about both are answered here.

use crate::comparing::{Comparing, Wanted};
use crate::delta::Delta;
use crate::report::report;
use base::slice::{Slice, Sliced};
use base::units::Moment;
use engine::protocol::{
    Align, CategorySet, FileSummary, PairAnswer, PairAt, PairMap, PairQuestion, Pairing, in_second_file, own_ordinal,
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
    /// What either was told last that both have to know.
    categories: Option<Box<CategorySet>>,
    internal: Option<Vec<String>>,
}

/// A comparison of two devices, and what is known of it.
struct Kept {
    a: i64,
    b: i64,
    align: Option<Align>,
    comparing: Comparing,
    delta: Delta,
}

impl Pair {
    /// Without any file; `make` makes an engine.
    pub fn new(make: fn() -> Engine) -> Pair {
        let (second, fed, waiting, kept, replies, categories, internal) = Default::default();
        Pair { first: make(), second, make, fed, waiting, kept, replies, categories, internal }
    }

    /// Takes a request. One to open a file is about the first.
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open { .. } => {
                self.end_second();
                self.fed = Which::First;
                self.first.request(request);
            }
            Request::EndOfFile | Request::Cancel => self.fed().request(request),
            Request::Ask(ask) => self.ask(ask),
            // A whole request is not cloned: that would be 9 kB of wasm.
            Request::Categories(set) => {
                // Keys by category are other ones now.
                self.kept = None;
                let told = || Request::Categories(set.clone());
                self.second.iter_mut().for_each(|second| second.request(told()));
                self.first.request(told());
                self.categories = Some(set);
            }
            Request::InternalFrames(rules) => {
                let told = || Request::InternalFrames(rules.clone());
                self.second.iter_mut().for_each(|second| second.request(told()));
                self.first.request(told());
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
        if self.answer(slice).is_ok() { Work::Idle } else { Work::More }
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
        if matches!(ask.what, Question::Pair(_) | Question::Comparison(..)) {
            // The latest of each kind counts.
            let kind = |ask: &Ask| match &ask.what {
                Question::Pair(question) => Some(discriminant(question)),
                _ => None,
            };
            self.waiting.retain(|other| kind(other) != kind(&ask));
            return self.waiting.push_back(ask);
        }
        let (device, is_second) = own_ordinal(ask.device);
        let engine = match &mut self.second {
            Some(second) if is_second => second,
            _ => &mut self.first,
        };
        engine.request(Request::Ask(Ask { device, ..ask }));
    }

    /// Answers all that waits.
    fn answer(&mut self, slice: &mut Slice) -> Sliced {
        while let Some(ask) = self.waiting.pop_front() {
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
        let same = |kept: &Kept| (kept.a, kept.b, kept.align) == (ask.device, pairing.b, pairing.align);
        let mut kept = kept.filter(|kept| same(kept)).unwrap_or_else(|| {
            let wanted = Wanted { align: pairing.align, key: pairing.key, ..Wanted::default() };
            let (comparing, delta) = (Comparing::new(&a, &b, wanted), Delta::default());
            Box::new(Kept { a: ask.device, b: pairing.b, align: pairing.align, comparing, delta })
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
                self.comparing.want(pairing.key, moments([a, b], pairing.at));
                let comparison = self.comparing.step(a, b, slice)?;
                Some(Answer::Report(Box::new(report(&comparison, *rows as usize))))
            }
            _ => None,
        })
    }
}

/// The moments of A and B that are compared; of one alone, the other is aligned with it, and without any it is the peaks.
fn moments([a, b]: [&Side; 2], at: PairAt) -> (Option<Moment>, Option<Moment>) {
    let end = |side: &Side| Some(Moment(side.history.event_count()));
    match at {
        PairAt::Peaks => (None, None),
        PairAt::PeakOfA => (Some(a.history.most_live().0), None),
        PairAt::PeakOfB => (None, Some(b.history.most_live().0)),
        PairAt::Start => (Some(Moment::START), Some(Moment::START)),
        PairAt::End => (end(a), end(b)),
        PairAt::Moment(moment) => (Some(Moment(moment)), None),
    }
}

/// A reply of the second engine, as it is told: its devices have ordinals of their own.
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
