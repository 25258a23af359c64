//! What a feature of the page declares: what it forgets and when, what it asks and when, which answers are its own, what an action
//! of its own does, which of it stands in a link. No field has a default, so what is left out does not compile; one that is not in
//! the list of [`super::features`] is dead code, which the lints refuse.
//!
//! A feature changes its own state and what all share ([`Shared`]), and knows no other feature.

use super::binding::Binding;
use super::change::{Change, Turn};
use super::effect::Effect;
use super::link::reading::Key;
use super::shared::Shared;
use engine::protocol::Answer;
use std::convert::Infallible;

/// A feature with the state `S`, the actions `A` and the commands `C`.
pub(super) struct Feature<S: 'static, A, C: 'static> {
    /// Forgets what no longer holds.
    pub(super) reset: fn(&mut S, &mut Shared, Change),
    /// What it asks the worker of the shown device, and when. It is called after everything that happens, so it asks for what is
    /// wanted and neither known nor on its way.
    pub(super) asks: &'static [(Turn, Ask<S>)],
    /// Takes an answer to a question of its own, and gives back any other.
    pub(super) take: fn(&mut S, &mut Shared, serial: u32, Answer, &mut Vec<Effect>) -> Option<Answer>,
    /// Carries out an action of its own.
    pub(super) act: fn(&mut S, &mut Shared, A, &mut Vec<Effect>),
    /// Carries out a command of its own.
    pub(super) command: fn(&mut S, &mut Shared, C, &mut Vec<Effect>),
    /// The keys and controls of its commands, in the order of the help dialog.
    pub(super) keys: &'static [Binding<C>],
    /// What of it stands in a link, in the order in which it is read.
    pub(super) links: &'static [Key<S>],
    /// Ends what Escape ends of it while it is seen; whether there was something.
    pub(super) escape: fn(&mut S, &mut Shared) -> bool,
}

/// Asks for what is missing; the number is the shown device's ordinal.
pub(super) type Ask<S> = fn(&mut S, &mut Shared, i64, &mut Vec<Effect>);

/// For a feature that keeps nothing of a file.
pub(super) fn keeps_all<S>(_: &mut S, _: &mut Shared, _: Change) {}

/// For a feature that asks nothing.
pub(super) fn takes_nothing<S>(
    _: &mut S,
    _: &mut Shared,
    _: u32,
    answer: Answer,
    _: &mut Vec<Effect>,
) -> Option<Answer> {
    Some(answer)
}

/// For a feature that has no commands.
pub(super) fn commands_nothing<S>(_: &mut S, _: &mut Shared, never: Infallible, _: &mut Vec<Effect>) {
    match never {}
}

/// For a feature of which Escape ends nothing.
pub(super) fn ends_nothing<S>(_: &mut S, _: &mut Shared) -> bool {
    false
}
