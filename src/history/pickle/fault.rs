//! A refusal on its way out, before anybody has looked up where in the data it is about.

use super::error::ErrorKind;

/// A refusal by the machine or the builder, with what it takes to say where in the data.
pub(super) struct Fault<E> {
    pub(super) kind: ErrorKind<E>,
    /// Position on the stack of the value it is about; [`TOP`] for one that is not there yet.
    pub(super) at: usize,
    /// When that value is an item of a list: its index, if the stack alone does not tell.
    pub(super) index: Option<u64>,
}

/// The position of the next value, wherever the stack ends.
pub(super) const TOP: usize = usize::MAX;

#[cold]
pub(super) fn fault<E>(kind: ErrorKind<E>, at: usize) -> Box<Fault<E>> {
    Box::new(Fault { kind, at, index: None })
}
