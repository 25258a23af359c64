//! Interface of a feature of the page: requests to the worker, actions and link keys. All fields
//! are required, so a feature that lacks one does not compile. A feature that is missing from the list in
//! [`super::`] is reported as dead code.
//!
//! A feature changes only its own state. It reads [`Shared`], and asks for other changes by an
//! [`Intent`](crate::state::outbox::Intent). It does not access other features.

use crate::state::change::{AskPhase, Change};
use crate::state::link_value::Key;
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use protocol::Answer;

/// Callbacks and tables of a feature with state `S` and actions `A`.
pub(crate) struct Feature<S: 'static, A> {
    /// Drops state that a change has invalidated.
    pub(crate) reset: Reset<S>,
    /// Functions that send requests about the shown device to the worker, each with its phase. They run after every
    /// action, so each function first checks that its data is needed and neither known nor already requested.
    pub(crate) questions: &'static [(AskPhase, Ask<S>)],
    /// Handles an answer to one of the feature's own requests. Returns any other answer unchanged.
    pub(crate) on_reply: OnReply<S>,
    /// Applies an action of the feature.
    pub(crate) on_action: OnAction<S, A>,
    /// Keys of the feature's values in links, in parsing order.
    pub(crate) link_keys: &'static [Key<S>],
    /// Handles Escape while the feature is visible. Returns whether there was anything to close.
    pub(crate) on_escape: fn(&mut S, &Shared) -> bool,
}

type Reset<S> = fn(&mut S, &Shared, Change, &mut Outbox);
/// The `u32` is the serial number of the request.
type OnReply<S> = fn(&mut S, &Shared, u32, Answer, &mut Outbox) -> Option<Answer>;
type OnAction<S, A> = fn(&mut S, &Shared, A, &mut Outbox);

impl<S, A> Feature<S, A> {
    /// Creates the feature of a tab with rows, which are requested together with the scene.
    pub(crate) const fn with_rows(
        reset: Reset<S>,
        questions: &'static [(AskPhase, Ask<S>); 1],
        on_reply: OnReply<S>,
        on_action: OnAction<S, A>,
        link_keys: &'static [Key<S>],
    ) -> Feature<S, A> {
        Feature { reset, questions, on_reply, on_action, link_keys, on_escape: close_nothing }
    }
}

/// Sends a request to the worker if its data is needed. The `i64` is the ordinal of the shown device.
pub(crate) type Ask<S> = fn(&mut S, &Shared, i64, &mut Outbox);

/// `reset` of a feature without state that depends on the file.
pub(crate) fn reset_nothing<S>(_: &mut S, _: &Shared, _: Change, _: &mut Outbox) {}

/// `on_reply` of a feature that sends no requests to the worker.
pub(crate) fn take_nothing<S>(_: &mut S, _: &Shared, _: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    Some(answer)
}

/// `on_escape` of a feature that has nothing to close.
pub(crate) fn close_nothing<S>(_: &mut S, _: &Shared) -> bool {
    false
}
