//! Interface of a feature of the page: questions and replies, actions, keyboard shortcuts and link keys. All fields are
//! required, so a missing one does not compile. The lints reject a feature that is not in the list of
//! [`super::features`] as dead code.
//!
//! A feature changes its own state and [`Shared`], and does not access other features.

use super::binding::Binding;
use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::link::value::Key;
use super::shared::Shared;
use engine::protocol::Answer;
use std::convert::Infallible;

/// Callbacks and tables of a feature with state `S`, actions `A` and commands `C`.
pub(super) struct Feature<S: 'static, A, C: 'static> {
    /// Drops state that the change made invalid.
    pub(super) reset: fn(&mut S, &mut Shared, Change),
    /// Functions that ask the worker about the shown device, each with its phase. They run after every event, so each
    /// one checks that its answer is needed, missing and not yet pending.
    pub(super) questions: &'static [(AskPhase, Ask<S>)],
    /// Consumes a reply to one of the feature's own questions, and returns any other.
    pub(super) on_reply: fn(&mut S, &mut Shared, serial: u32, Answer, &mut Vec<Effect>) -> Option<Answer>,
    /// Handles an action.
    pub(super) on_action: fn(&mut S, &mut Shared, A, &mut Vec<Effect>),
    /// Runs a command.
    pub(super) on_command: fn(&mut S, &mut Shared, C, &mut Vec<Effect>),
    /// Keyboard shortcuts and controls of the commands, in the order of the help dialog.
    pub(super) bindings: &'static [Binding<C>],
    /// Link keys, in reading order.
    pub(super) link_keys: &'static [Key<S>],
    /// Handles Escape while the feature is visible. Returns whether anything was closed.
    pub(super) on_escape: fn(&mut S, &mut Shared) -> bool,
}

/// Sends a question if its answer is missing. The number is the ordinal of the shown device.
pub(super) type Ask<S> = fn(&mut S, &mut Shared, i64, &mut Vec<Effect>);

/// `reset` of a feature without state that depends on the file.
pub(super) fn reset_nothing<S>(_: &mut S, _: &mut Shared, _: Change) {}

/// `on_reply` of a feature that asks no questions.
pub(super) fn take_nothing<S>(
    _: &mut S,
    _: &mut Shared,
    _: u32,
    answer: Answer,
    _: &mut Vec<Effect>,
) -> Option<Answer> {
    Some(answer)
}

/// `on_command` of a feature without commands.
pub(super) fn no_commands<S>(_: &mut S, _: &mut Shared, never: Infallible, _: &mut Vec<Effect>) {
    match never {}
}

/// `on_escape` of a feature with nothing to close.
pub(super) fn close_nothing<S>(_: &mut S, _: &mut Shared) -> bool {
    false
}
