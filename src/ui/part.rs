//! What a part of the shared state declares: as a feature does ([`super::feature`]), without a state or actions of its own.

use super::change::{Change, Turn};
use super::effect::Effect;
use super::shared::Shared;
use engine::protocol::Answer;

/// A part of what all features share.
pub(super) struct Part {
    /// Forgets what no longer holds.
    pub(super) reset: fn(&mut Shared, Change),
    /// What it asks the worker of the shown device, and when.
    pub(super) asks: &'static [(Turn, Ask)],
    /// Takes an answer to a question of its own, and gives back any other.
    pub(super) take: fn(&mut Shared, serial: u32, Answer, &mut Vec<Effect>) -> Option<Answer>,
}

/// Asks for what is missing; the number is the shown device's ordinal.
type Ask = fn(&mut Shared, i64, &mut Vec<Effect>);

/// For a part that keeps nothing of a file.
pub(super) fn keeps_all(_: &mut Shared, _: Change) {}

/// For a part that asks nothing.
pub(super) fn takes_nothing(_: &mut Shared, _: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    Some(answer)
}
