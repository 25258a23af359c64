//! Questions to the worker, with one pending at a time. The last answer is kept until the next one arrives, and
//! outdated answers are dropped.

use super::effect::Effect;
use engine::protocol::Question;

/// The pending question with the inputs `Q`, and the latest answer.
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
    /// Returns the latest answer, even if it belongs to other inputs than the current ones.
    pub fn latest(&self) -> Option<&A> {
        self.answered.as_ref().map(|(_, answer)| answer)
    }

    /// Returns the inputs of the question that the latest answer belongs to.
    pub fn answered_question(&self) -> Option<&Q> {
        self.answered.as_ref().map(|(question, _)| question)
    }

    /// Returns the answer about `inputs`, if it is the latest one.
    pub fn answer_to(&self, inputs: &Q) -> Option<&A> {
        self.answered.as_ref().filter(|(known, _)| known == inputs).map(|(_, answer)| answer)
    }

    /// Returns the inputs of the pending question.
    pub(super) fn pending(&self) -> Option<&Q> {
        self.pending.as_ref().map(|(_, question)| question)
    }

    /// Asks about `inputs` on a device, unless the answer is known or another question is pending. Returns whether the
    /// question was sent. `last_serial` is the counter of all questions.
    pub(super) fn ask(
        &mut self,
        inputs: Q,
        device: i64,
        last_serial: &mut u32,
        effects: &mut Vec<Effect>,
        question: impl FnOnce(Q) -> Question,
    ) -> bool {
        if self.pending.is_some() || self.answer_to(&inputs).is_some() {
            return false;
        }
        *last_serial = last_serial.wrapping_add(1);
        self.pending = Some((*last_serial, inputs.clone()));
        effects.push(Effect::ask(*last_serial, device, question(inputs)));
        true
    }

    /// Marks the pending question as answered and returns its inputs. `None` if it has another serial.
    pub(super) fn take_pending(&mut self, serial: u32) -> Option<Q> {
        self.pending.take_if(|(asked, _)| *asked == serial).map(|(_, inputs)| inputs)
    }

    /// Stores an answer with the inputs of its question.
    pub(super) fn store(&mut self, inputs: Q, answer: A) {
        self.answered = Some((inputs, answer));
    }

    /// Stores the answer if `serial` is that of the pending question. Otherwise drops it and returns false.
    pub(super) fn take(&mut self, serial: u32, answer: A) -> bool {
        let inputs = self.take_pending(serial);
        let is_expected = inputs.is_some();
        self.answered = inputs.map(|inputs| (inputs, answer)).or(self.answered.take());
        is_expected
    }
}
