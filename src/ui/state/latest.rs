//! Requests to the worker, with at most one pending at a time. The latest response is kept until the next one arrives,
//! and outdated responses are dropped.

use crate::state::outbox::Outbox;
use protocol::Question;

/// The pending request with inputs `Q`, and the latest response `A` with its inputs.
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
    /// Returns the latest response, even if it was computed from outdated inputs.
    pub fn latest(&self) -> Option<&A> {
        self.answered.as_ref().map(|(_, answer)| answer)
    }

    /// Returns the inputs that the latest response was computed from.
    pub fn answered_question(&self) -> Option<&Q> {
        self.answered.as_ref().map(|(question, _)| question)
    }

    /// Returns the latest response if it was computed from `inputs`.
    pub fn answer_to(&self, inputs: &Q) -> Option<&A> {
        self.answered.as_ref().filter(|(known, _)| known == inputs).map(|(_, answer)| answer)
    }

    /// Returns the inputs of the pending request.
    pub(crate) fn pending(&self) -> Option<&Q> {
        self.pending.as_ref().map(|(_, question)| question)
    }

    /// Sends a request with `inputs` about a device, unless its response is known or another request is pending.
    /// Returns whether the request was sent.
    pub(crate) fn ask(
        &mut self,
        inputs: Q,
        device: i64,
        out: &mut Outbox,
        question: impl FnOnce(Q) -> Question,
    ) -> bool {
        if self.pending.is_some() || self.answer_to(&inputs).is_some() {
            return false;
        }
        self.pending = Some((out.ask(device, question(inputs.clone())), inputs));
        true
    }

    /// Ends the pending request and returns its inputs. `None` if its serial is not `serial`.
    pub(crate) fn take_pending(&mut self, serial: u32) -> Option<Q> {
        self.pending.take_if(|(asked, _)| *asked == serial).map(|(_, inputs)| inputs)
    }

    /// Stores a response and the inputs that it was computed from.
    pub(crate) fn store(&mut self, inputs: Q, answer: A) {
        self.answered = Some((inputs, answer));
    }

    /// Stores a response to the pending request. If `serial` belongs to another request, drops the response and returns
    /// false.
    pub(crate) fn take(&mut self, serial: u32, answer: A) -> bool {
        let inputs = self.take_pending(serial);
        let is_expected = inputs.is_some();
        self.answered = inputs.map(|inputs| (inputs, answer)).or(self.answered.take());
        is_expected
    }
}
