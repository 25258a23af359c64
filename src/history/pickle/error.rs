//! Why a pickle can't be read, and where.

use super::opcode::Refusal;
use std::fmt;
use thiserror::Error;

/// A pickle that can't be read: what is wrong, at which byte, and, where the value itself is the trouble, where in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickleError<E> {
    /// First byte of the instruction it is about, or the length of the input where that ended too soon.
    pub offset: u64,
    /// Name of that instruction, where it has one.
    pub opcode: Option<&'static str>,
    /// Where in the data, such as `device_traces[0][17]`; empty at the top.
    pub path: String,
    pub kind: ErrorKind<E>,
}

impl<E: fmt::Display> fmt::Display for PickleError<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        match self.opcode {
            Some(opcode) => write!(out, "{} ({opcode} at byte {})", self.kind, self.offset),
            None => write!(out, "{} (at byte {})", self.kind, self.offset),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for PickleError<E> {}

/// What can be wrong with a pickle. `E` is the builder's own kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind<E> {
    /// The input stopped before STOP.
    #[error("the file ends before the pickle does")]
    UnexpectedEnd,
    /// No opcode has this byte.
    #[error("0x{0:02x} is not a pickle instruction")]
    UnknownOpcode(u8),
    /// An opcode that no snapshot needs.
    #[error("{0}")]
    Refused(Refusal),
    /// A protocol that does not exist yet.
    #[error("pickle protocol {0} is newer than 5, the newest known")]
    Protocol(u8),
    /// A frame longer than any file.
    #[error("a frame of {0} bytes can't be")]
    Frame(u64),
    /// Fewer values than the instruction takes stand above the last MARK.
    #[error("too few values stand before it")]
    TooFewValues,
    /// No MARK says where the batch begins.
    #[error("no MARK stands before it")]
    NoMark,
    /// SETITEMS over an odd number of values.
    #[error("the last key has no value")]
    KeyWithoutValue,
    /// Items for something that is not an open list.
    #[error("the items are for something that is not a list, or a list changed after use")]
    NotAnOpenList,
    /// Items for something that is not an open dict.
    #[error("the items are for something that is not a dict, or a dict changed after use")]
    NotAnOpenDict,
    /// A container would become part of itself.
    #[error("a container contains itself")]
    ContainsItself,
    /// GET of a slot that was never filled.
    #[error("memo slot {0} is read but was never written")]
    EmptyMemoSlot(u32),
    /// A line that should be a number.
    #[error("'{0}' is not a number")]
    NotANumber(String),
    /// A line of text with an escape that is none.
    #[error("a string holds an escape that Python does not have")]
    Escape,
    /// LIST or DICT over values that stand there already.
    #[error("it makes a container of what stands before it, which no writer of snapshots does")]
    NotEmpty,
    /// One of [`super::Limits`] is reached.
    #[error("more than {most} {what}, far beyond any snapshot")]
    Limit {
        /// What there is too much of, in the plural.
        what: &'static str,
        /// The most that is allowed.
        most: usize,
    },
    /// The builder refuses the value.
    #[error("{0}")]
    Builder(E),
}

#[cfg(test)]
#[path = "../../../tests/units/history/pickle/error.rs"]
mod tests;
