//! Something the worker is asked: one question at a time, the last good answer kept until the next one comes, stale ones dropped.

use super::effect::Effect;
use engine::protocol::Question;

/// What the worker is asked about a `Q`, and what it answered last.
#[derive(Clone, Debug)]
pub struct Latest<Q, A> {
    asked: Option<(u32, Q)>,
    known: Option<(Q, A)>,
}

impl<Q, A> Default for Latest<Q, A> {
    fn default() -> Self {
        Latest { asked: None, known: None }
    }
}

impl<Q: PartialEq + Clone, A> Latest<Q, A> {
    /// The last answer, whatever it was about.
    pub fn latest(&self) -> Option<&A> {
        self.known.as_ref().map(|(_, answer)| answer)
    }

    /// What the last answer was about.
    pub fn question(&self) -> Option<&Q> {
        self.known.as_ref().map(|(question, _)| question)
    }

    /// The answer about `of`.
    pub fn about(&self, of: &Q) -> Option<&A> {
        self.known.as_ref().filter(|(known, _)| known == of).map(|(_, answer)| answer)
    }

    /// The question on its way.
    pub(super) fn asked(&self) -> Option<&Q> {
        self.asked.as_ref().map(|(_, question)| question)
    }

    /// Asks about `of` on a device, unless that is known or another question is on its way. `serials` numbers all questions.
    pub(super) fn ask(
        &mut self,
        of: Q,
        device: i64,
        serials: &mut u32,
        effects: &mut Vec<Effect>,
        question: impl FnOnce(Q) -> Question,
    ) -> bool {
        if self.asked.is_some() || self.about(&of).is_some() {
            return false;
        }
        *serials = serials.wrapping_add(1);
        self.asked = Some((*serials, of.clone()));
        effects.push(Effect::ask(*serials, device, question(of)));
        true
    }

    /// The question with this serial, which has its answer now; `None` where it was another's.
    pub(super) fn answered(&mut self, serial: u32) -> Option<Q> {
        self.asked.take_if(|(asked, _)| *asked == serial).map(|(_, of)| of)
    }

    /// Keeps an answer.
    pub(super) fn keep(&mut self, of: Q, answer: A) {
        self.known = Some((of, answer));
    }

    /// Takes the answer to question `serial`: whether it was this one's. One to another question is dropped.
    pub(super) fn take(&mut self, serial: u32, answer: A) -> bool {
        let of = self.answered(serial);
        let is_own = of.is_some();
        self.known = of.map(|of| (of, answer)).or(self.known.take());
        is_own
    }
}
