//! Internal error of the unpickler. The path in the data is computed later.

use super::error::ErrorKind;

/// Error of the parser or the builder, with the position of the affected value.
pub(super) struct Fault<E> {
    pub(super) kind: ErrorKind<E>,
    /// Position of the value on the stack, or [`TOP`] if it is not on the stack yet.
    pub(super) at: usize,
    /// Index of the value in its list. `None` if the path can be determined from the stack alone.
    pub(super) index: Option<u64>,
}

/// Stands for the end of the stack, where the next value will be pushed.
pub(super) const TOP: usize = usize::MAX;

#[cold]
pub(super) fn fault<E>(kind: ErrorKind<E>, at: usize) -> Box<Fault<E>> {
    Box::new(Fault { kind, at, index: None })
}
