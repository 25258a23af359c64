//! Why a pickle can't be read, and where.

use super::opcode::Refusal;
use base::units::grouped;
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
    #[error("unexpected end of file inside the pickle")]
    UnexpectedEnd,
    /// No opcode has this byte.
    #[error("invalid pickle opcode 0x{0:02x}")]
    UnknownOpcode(u8),
    /// An opcode that no snapshot needs.
    #[error("{0}")]
    Refused(Refusal),
    /// A protocol that does not exist yet.
    #[error("pickle protocol {0} is not supported, the newest is 5")]
    Protocol(u8),
    /// A frame longer than any file.
    #[error("invalid frame length: {} bytes", grouped(*.0))]
    Frame(u64),
    /// Fewer values than the instruction takes stand above the last MARK.
    #[error("too few values on the stack")]
    TooFewValues,
    /// No MARK says where the batch begins.
    #[error("no MARK on the stack")]
    NoMark,
    /// SETITEMS over an odd number of values.
    #[error("the last key has no value")]
    KeyWithoutValue,
    /// Items for something that is not an open list.
    #[error("items appended to something that is not a list, or to a list that was already used")]
    NotAnOpenList,
    /// Items for something that is not an open dict.
    #[error("items added to something that is not a dict, or to a dict that was already used")]
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
    #[error("invalid escape in a string")]
    Escape,
    /// LIST or DICT over values that stand there already.
    #[error("unsupported: a container made of earlier values")]
    NotEmpty,
    /// One of [`super::Limits`] is reached.
    #[error("more than {} {what}: not a snapshot", grouped(*.most as u64))]
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
