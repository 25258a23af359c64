//! Callbacks of a part of the shared state. They are like those of a feature ([`super::feature`]), but a part has no
//! state or actions of its own.

use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::shared::Shared;
use engine::protocol::Answer;

/// Callbacks of one part of [`Shared`], such as the cursor or the search.
pub(super) struct Part {
    /// Drops data that the change has invalidated.
    pub(super) reset: fn(&mut Shared, Change),
    /// Functions that send questions about the shown device to the worker, each with the phase that calls it.
    pub(super) asks: &'static [(AskPhase, Ask)],
    /// Handles an answer to one of this part's questions. Returns any other answer unchanged.
    pub(super) take: fn(&mut Shared, serial: u32, Answer, &mut Vec<Effect>) -> Option<Answer>,
}

/// Asks the worker for missing data. The number is the shown device's ordinal.
type Ask = fn(&mut Shared, i64, &mut Vec<Effect>);

/// `reset` of a part that holds no data of a file.
pub(super) fn reset_nothing(_: &mut Shared, _: Change) {}

/// `take` of a part that asks no questions.
pub(super) fn take_nothing(_: &mut Shared, _: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    Some(answer)
}
