//! Interface of a feature of the page: requests to the worker, actions and link keys. All fields
//! are required, so a feature that lacks one does not compile. A feature that is missing from the list in
//! [`super::features`] is reported as dead code.
//!
//! A feature changes only its own state. It reads [`Shared`], and asks for other changes by an
//! [`Intent`](super::outbox::Intent). It does not access other features.

use super::change::{AskPhase, Change};
use super::link::value::Key;
use super::outbox::Outbox;
use super::shared::Shared;
use protocol::Answer;

/// Callbacks and tables of a feature with state `S` and actions `A`.
pub(super) struct Feature<S: 'static, A> {
    /// Drops state that a change has invalidated.
    pub(super) reset: fn(&mut S, &Shared, Change, &mut Outbox),
    /// Functions that send requests about the shown device to the worker, each with its phase. They run after every
    /// action, so each function first checks that its data is needed and neither known nor already requested.
    pub(super) questions: &'static [(AskPhase, Ask<S>)],
    /// Handles an answer to one of the feature's own requests. Returns any other answer unchanged.
    pub(super) on_reply: fn(&mut S, &Shared, serial: u32, Answer, &mut Outbox) -> Option<Answer>,
    /// Applies an action of the feature.
    pub(super) on_action: fn(&mut S, &Shared, A, &mut Outbox),
    /// Keys of the feature's values in links, in parsing order.
    pub(super) link_keys: &'static [Key<S>],
    /// Handles Escape while the feature is visible. Returns whether there was anything to close.
    pub(super) on_escape: fn(&mut S, &Shared) -> bool,
}

/// Sends a request to the worker if its data is needed. The `i64` is the ordinal of the shown device.
pub(super) type Ask<S> = fn(&mut S, &Shared, i64, &mut Outbox);

/// `reset` of a feature without state that depends on the file.
pub(super) fn reset_nothing<S>(_: &mut S, _: &Shared, _: Change, _: &mut Outbox) {}

/// `on_reply` of a feature that sends no requests to the worker.
pub(super) fn take_nothing<S>(_: &mut S, _: &Shared, _: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    Some(answer)
}

/// `on_escape` of a feature that has nothing to close.
pub(super) fn close_nothing<S>(_: &mut S, _: &Shared) -> bool {
    false
}
