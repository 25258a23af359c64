//! Errors of the JSON parser.

use std::fmt;
use thiserror::Error;

/// JSON parse error, with its byte offset and its path in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError<E> {
    /// Offset of the affected token's first byte, or the length of the input if it ended too soon.
    pub offset: u64,
    /// Path in the data, such as `device_traces[0][17].size`. Empty at the top level.
    pub path: String,
    pub kind: ErrorKind<E>,
}

impl<E: fmt::Display> fmt::Display for JsonError<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        write!(out, "{} (at byte {})", self.kind, self.offset)
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for JsonError<E> {}

/// Kind of a JSON parse error. `E` is the builder's error type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind<E> {
    /// The input ended before the outermost value was complete.
    #[error("the JSON is cut off")]
    UnexpectedEnd,
    /// A token is not allowed at its position.
    #[error("expected {expected}, found {found}")]
    Unexpected { found: FoundByte, expected: &'static str },
    /// A token is neither a number nor a JSON literal.
    #[error("invalid JSON value '{0}'")]
    InvalidValue(String),
    /// A backslash is followed by an unknown or incomplete escape.
    #[error("invalid escape in a string")]
    Escape,
    /// A string contains an unescaped control character.
    #[error("unescaped control character 0x{0:02x} in a string")]
    ControlCharacter(u8),
    /// One of [`super::Limits`] is exceeded.
    #[error("more than {max} {what}: not a snapshot")]
    Limit {
        /// Plural noun for the limited items, such as "bytes in one string".
        what: &'static str,
        /// Maximum number of the items that `what` names.
        max: usize,
    },
    /// The builder rejected the value.
    #[error("{0}")]
    Builder(E),
}

/// Byte of the file, displayed as a character if it is printable ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundByte(pub u8);

impl fmt::Display for FoundByte {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte @ 0x21..=0x7e => write!(out, "'{}'", char::from(byte)),
            byte => write!(out, "0x{byte:02x}"),
        }
    }
}
