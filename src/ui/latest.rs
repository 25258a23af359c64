//! Questions to the worker, one at a time: the last answer stays until the next one arrives, and stale answers are
//! dropped.

use super::effect::Effect;
use engine::protocol::Question;

/// A question to the worker about a `Q`, and the latest answer.
#[derive(Clone, Debug)]
pub struct Latest<Q, A> {
    pending: Option<(u32, Q)>,
    answered: Option<(Q, A)>,
}

impl<Q, A> Default for Latest<Q, A> {
    fn default() -> Self {
        Latest { pending: None, answered: None }
    }
}

impl<Q: PartialEq + Clone, A> Latest<Q, A> {
    /// Returns the latest answer, even if it is about another question than the current one.
    pub fn latest(&self) -> Option<&A> {
        self.answered.as_ref().map(|(_, answer)| answer)
    }

    /// Returns the question that the latest answer belongs to.
    pub fn answered_question(&self) -> Option<&Q> {
        self.answered.as_ref().map(|(question, _)| question)
    }

    /// Returns the answer about `of`, if it is the latest one.
    pub fn answer_to(&self, of: &Q) -> Option<&A> {
        self.answered.as_ref().filter(|(known, _)| known == of).map(|(_, answer)| answer)
    }

    /// Returns the question that has not been answered yet.
    pub(super) fn pending(&self) -> Option<&Q> {
        self.pending.as_ref().map(|(_, question)| question)
    }

    /// Asks about `of` on a device, unless the answer is known or another question is unanswered. Returns whether it
    /// asked. `serials` is the counter for all questions.
    pub(super) fn ask(
        &mut self,
        of: Q,
        device: i64,
        serials: &mut u32,
        effects: &mut Vec<Effect>,
        question: impl FnOnce(Q) -> Question,
    ) -> bool {
        if self.pending.is_some() || self.answer_to(&of).is_some() {
            return false;
        }
        *serials = serials.wrapping_add(1);
        self.pending = Some((*serials, of.clone()));
        effects.push(Effect::ask(*serials, device, question(of)));
        true
    }

    /// Marks the question with this serial as answered and returns it. `None` if the serial is another one's.
    pub(super) fn take_pending(&mut self, serial: u32) -> Option<Q> {
        self.pending.take_if(|(asked, _)| *asked == serial).map(|(_, of)| of)
    }

    /// Stores an answer.
    pub(super) fn store(&mut self, of: Q, answer: A) {
        self.answered = Some((of, answer));
    }

    /// Stores the answer to question `serial`, and returns true. An answer to another question is dropped.
    pub(super) fn take(&mut self, serial: u32, answer: A) -> bool {
        let of = self.take_pending(serial);
        let is_own = of.is_some();
        self.answered = of.map(|of| (of, answer)).or(self.answered.take());
        is_own
    }
}
