//! Why JSON can't be read, and where.

use std::fmt;
use thiserror::Error;

/// JSON that can't be read: what is wrong, at which byte, and where in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError<E> {
    /// First byte of the token it is about, or the length of the input where that ended too soon.
    pub offset: u64,
    /// Where in the data, such as `device_traces[0][17].size`; empty at the top.
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

/// What can be wrong with JSON. `E` is the builder's own kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind<E> {
    /// The input stopped before the outermost value was complete.
    #[error("unexpected end of file inside the JSON")]
    UnexpectedEnd,
    /// Something stands where it can't.
    #[error("expected {expected}, found {found}")]
    Unexpected { found: Found, expected: &'static str },
    /// Neither a number nor one of JSON's words.
    #[error("invalid JSON value '{0}'")]
    NotAValue(String),
    /// A backslash before something that needs none.
    #[error("invalid escape in a string")]
    Escape,
    /// A line break or another control character inside a string.
    #[error("unescaped control character 0x{0:02x} in a string")]
    Control(u8),
    /// One of [`super::Limits`] is reached.
    #[error("more than {most} {what}: not a snapshot")]
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

/// A byte of the file, printable or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found(pub u8);

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte @ 0x21..=0x7e => write!(out, "'{}'", char::from(byte)),
            byte => write!(out, "0x{byte:02x}"),
        }
    }
}
