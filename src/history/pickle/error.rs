//! Errors of the pickle parser.

use super::opcode::UnsupportedReason;
use base::units::{group_digits, pluralize};
use std::fmt;
use thiserror::Error;

/// Pickle parse error, with its byte offset and, for an error in a value, the value's path in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickleError<E> {
    /// Offset of the affected instruction's first byte, or the length of the input if it ended too soon.
    pub offset: u64,
    /// Name of the affected instruction's opcode, if it is known.
    pub opcode: Option<&'static str>,
    /// Path in the data, such as `device_traces[0][17]`. Empty at the top level.
    pub path: String,
    pub kind: ErrorKind<E>,
}

impl<E: fmt::Display> fmt::Display for PickleError<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ErrorKind::UnexpectedEnd = self.kind {
            let inside = if self.path.is_empty() { "" } else { ", inside " };
            let (path, size) = (&self.path, pluralize(self.offset, "byte"));
            return write!(out, "the pickle is cut off after {size}{inside}{path}: the dump did not finish");
        }
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

/// Kind of a pickle parse error. `E` is the builder's error type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind<E> {
    /// The input ended before STOP.
    #[error("the pickle is cut off")]
    UnexpectedEnd,
    /// The byte is not an opcode.
    #[error("invalid pickle opcode 0x{0:02x}")]
    UnknownOpcode(u8),
    /// The opcode is valid but not supported.
    #[error("{0}")]
    Unsupported(UnsupportedReason),
    /// The pickle names code that is not a known constructor of plain values. Holds module and name.
    #[error("names {0}: a snapshot contains no code, and memscape never runs any")]
    Import(String),
    /// The protocol is newer than 5.
    #[error("pickle protocol {0} is not supported, the newest is 5")]
    Protocol(u8),
    /// The pickle frame is longer than any file.
    #[error("invalid frame length: {} bytes", group_digits(*.0))]
    Frame(u64),
    /// The instruction needs more values than the stack has above the last MARK.
    #[error("too few values on the stack")]
    TooFewValues,
    /// The stack has no MARK to end a batch.
    #[error("no MARK on the stack")]
    NoMark,
    /// SETITEMS is applied to an odd number of values.
    #[error("the last key has no value")]
    KeyWithoutValue,
    /// The instruction appends items to something that is not an open list.
    #[error("items appended to something that is not a list, or to a list that was already used")]
    NotAnOpenList,
    /// The instruction adds items to something that is not an open dict.
    #[error("items added to something that is not a dict, or to a dict that was already used")]
    NotAnOpenDict,
    /// A container would become part of itself.
    #[error("a container contains itself")]
    ContainsItself,
    /// The instruction reads a memo slot that was never written.
    #[error("memo slot {0} is read but was never written")]
    EmptyMemoSlot(u32),
    /// A line that must be a number is not one.
    #[error("'{0}' is not a number")]
    NotANumber(String),
    /// A line of text has an invalid escape.
    #[error("invalid escape in a string")]
    Escape,
    /// LIST or DICT does not directly follow its MARK, which is not supported.
    #[error("unsupported: a container made of earlier values")]
    NotEmpty,
    /// One of [`super::Limits`] is exceeded.
    #[error("more than {} {what}: not a snapshot", group_digits(*.max as u64))]
    Limit {
        /// Plural noun for the limited items, such as "memo slots".
        what: &'static str,
        /// Maximum number of the items that `what` names.
        max: usize,
    },
    /// The builder rejected the value.
    #[error("{0}")]
    Builder(E),
}

#[cfg(test)]
#[path = "../../../tests/units/history/pickle/error.rs"]
mod tests;
