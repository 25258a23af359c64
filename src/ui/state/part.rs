//! Interface of a part of the shared state. It is like that of a feature ([`crate::features::feature`]), but a part has
//! no state or actions of its own.

use crate::state::change::AskPhase;
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use protocol::Answer;

/// Callbacks of a part of [`Shared`], such as the cursor or the search.
pub(crate) struct Part {
    /// Functions that send requests about the shown device to the worker, each with its phase.
    pub(crate) asks: &'static [(AskPhase, Ask)],
    /// Handles an answer to one of the part's own requests. Returns any other answer unchanged.
    pub(crate) take: fn(&mut Shared, serial: u32, Answer, &mut Outbox) -> Option<Answer>,
}

/// Sends a request to the worker if its data is needed. The `i64` is the ordinal of the shown device.
type Ask = fn(&mut Shared, i64, &mut Outbox);

/// `take` of a part that sends no requests to the worker.
pub(crate) fn take_nothing(_: &mut Shared, _: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    Some(answer)
}
