//! Hooks of a part of the shared state. They resemble those of a feature ([`super::feature`]), without own state or
//! actions.

use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::shared::Shared;
use engine::protocol::Answer;

/// The hooks of one part of [`Shared`].
pub(super) struct Part {
    /// Drops data that the change has invalidated.
    pub(super) reset: fn(&mut Shared, Change),
    /// Functions that send questions about the shown device to the worker, each with the turn that calls it.
    pub(super) asks: &'static [(AskPhase, Ask)],
    /// Handles an answer to one of this part's questions. Returns any other answer unchanged.
    pub(super) take: fn(&mut Shared, serial: u32, Answer, &mut Vec<Effect>) -> Option<Answer>,
}

/// Asks the worker for missing data. The number is the shown device's ordinal.
type Ask = fn(&mut Shared, i64, &mut Vec<Effect>);

/// A `reset` hook for parts that hold no data of a file.
pub(super) fn reset_nothing(_: &mut Shared, _: Change) {}

/// A `take` hook for parts that ask no questions.
pub(super) fn take_nothing(_: &mut Shared, _: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    Some(answer)
}
