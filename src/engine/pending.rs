//! Questions that are not answered yet: one of each kind, the latest, and what was laid out for those before.

use super::details;
use super::flame::Flames;
use super::heaviest::Heaviest;
use super::legend;
use super::open::OpenFile;
use super::protocol::{Answer, Ask, Grouping, Looks, Plot, Question, Reply};
use super::range;
use super::sources::Sources;
use super::state::{Beneath, States};
use super::tree::Trees;
use base::slice::Spent;
use std::collections::VecDeque;

/// The questions, and what was laid out for those before.
#[derive(Default)]
pub(super) struct Pending {
    /// In the order they are answered in.
    questions: VecDeque<Ask>,
    flames: Flames,
    trees: Trees,
    heaviest: Heaviest,
    states: States,
    beneath: Beneath,
    sources: Sources,
}

/// Which questions are answered first. Of one kind the latest counts, but for those of [`QUICK`], which are all answered.
fn rank(what: &Question) -> u8 {
    match what {
        Question::Legend { .. } | Question::Details(_) => QUICK,
        Question::Map(_) => 1,
        Question::MemoryAt { .. } => 2,
        Question::State(_) => 3,
        Question::Flame(_) => 4,
        Question::Range(_) => 5,
        Question::Tree(_) => 6,
        Question::Heaviest { .. } => 7,
        _ => 8,
    }
}

/// What takes no time once categories are known.
const QUICK: u8 = 0;

impl Pending {
    /// A question; it overtakes one of its kind.
    pub(super) fn ask(&mut self, ask: Ask) {
        let rank_of = rank(&ask.what);
        match ask.what {
            Question::Heaviest { .. } => self.heaviest = Heaviest::default(),
            Question::Sources(_) => self.sources = Sources::default(),
            _ => {}
        }
        self.questions.retain(|other| rank_of == QUICK || rank(&other.what) != rank_of);
        let place = self.questions.partition_point(|other| rank(&other.what) <= rank_of);
        self.questions.insert(place, ask);
    }

    /// Answers what waits for categories alone, ahead of whatever runs.
    pub(super) fn answer_quick(&mut self, file: Option<&mut OpenFile>, replies: &mut VecDeque<Reply>) {
        match file {
            Some(file) => _ = self.answer(file, replies, QUICK, &mut || false),
            None => {
                let quick = self.questions.partition_point(|ask| rank(&ask.what) == QUICK);
                let details = self.questions.drain(..quick).filter(|ask| matches!(ask.what, Question::Details(_)));
                replies.extend(details.map(|ask| Reply::Answer { serial: ask.serial, answer: Answer::Details(None) }));
            }
        }
    }

    /// Nodes get other numbers.
    pub(super) fn forget_trees(&mut self) {
        (self.trees, self.flames) = Default::default();
    }

    /// Bytes on the heap of what is kept.
    pub(super) fn heap_bytes(&self) -> usize {
        self.trees.heap_bytes() + self.states.heap_bytes() + self.beneath.heap_bytes() + self.sources.heap_bytes()
    }

    /// Works while there is time: `true` when nothing is left to do.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        self.answer(file, replies, u8::MAX, has_time).is_ok()
    }

    fn answer(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        most: u8,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Result<(), Spent> {
        while self.questions.front().is_some_and(|ask| rank(&ask.what) <= most)
            && let Some(ask) = self.questions.pop_front()
        {
            let Ask { serial, device, .. } = ask;
            match self.answer_to(file, device, &ask.what, has_time) {
                Some(answer) => replies.extend(answer.map(|answer| Reply::Answer { serial, answer })),
                None => {
                    self.questions.push_front(ask);
                    return Err(Spent);
                }
            }
        }
        Ok(())
    }

    /// The answer, where there is one; `None` while there is no time for it.
    fn answer_to(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        what: &Question,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<Option<Answer>> {
        Some(Some(match *what {
            Question::Legend { colouring, at } => {
                if colouring == Grouping::Category && !file.categorize(has_time) {
                    return None;
                }
                return Some(legend::legend(file, device, colouring, at).map(Answer::Legend));
            }
            Question::Details(allocation) => {
                if !file.categorize(has_time) {
                    return None;
                }
                Answer::Details(details::details(file, device, allocation).map(Box::new))
            }
            Question::Map(only) => {
                let looks = Looks { plot: Plot::Addresses(only), ..Looks::default() };
                if !file.prepare_plot(device, looks, has_time) {
                    return None;
                }
                Answer::Map(Box::new(file.map(device, only)))
            }
            Question::MemoryAt { moment, address } => {
                let (hit, memory) = self.beneath.at(file, device, moment, address, has_time)?;
                Answer::Hit { hit, memory }
            }
            Question::State(question) => Answer::State(Box::new(self.states.page(file, device, question, has_time)?)),
            Question::Flame(question) => Answer::Flame(Box::new(self.flames.page(file, device, question, has_time)?)),
            Question::Range(span) => Answer::Range(range::facts(file, device, span, has_time)?),
            Question::Tree(ref question) => Answer::Tree(Box::new(self.trees.page(file, device, question, has_time)?)),
            Question::Heaviest { scope, arrangement, node } => {
                Answer::Heaviest(self.heaviest.find(file, device, scope, (arrangement, node), has_time)?)
            }
            Question::Sources(scope) => {
                let page = self.sources.page(file, device, scope, has_time)?;
                self.sources = Sources::default();
                Answer::Sources(Box::new(page))
            }
            _ => return Some(None),
        }))
    }
}
