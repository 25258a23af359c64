//! Values passed to SQLite and received from it.

use std::borrow::Cow;

/// A value that a table or function passes to SQLite.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
}

/// A value that SQLite passes to a table or function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl From<i64> for Cell<'_> {
    fn from(value: i64) -> Self {
        Cell::Integer(value)
    }
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Cell::Integer(value.into())
    }
}

/// Numbers of 2^63 and above become floats, because SQLite's integers are signed. Such numbers occur only in corrupt
/// files.
impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Cell::Real(value as f64), Cell::Integer)
    }
}

impl From<bool> for Cell<'_> {
    fn from(value: bool) -> Self {
        Cell::Integer(value.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(value: String) -> Self {
        Cell::Text(Cow::Owned(value))
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(value))
    }
}

impl<'a> From<Cow<'a, str>> for Cell<'a> {
    fn from(value: Cow<'a, str>) -> Self {
        Cell::Text(value)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

impl<'a> From<Value<'a>> for Cell<'a> {
    fn from(value: Value<'a>) -> Self {
        match value {
            Value::Null => Cell::Null,
            Value::Integer(value) => Cell::Integer(value),
            Value::Real(value) => Cell::Real(value),
            Value::Text(text) => text.into(),
            Value::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
        }
    }
}

impl<'a> Value<'a> {
    /// Returns the value if it is an integer.
    pub fn integer(self) -> Option<i64> {
        match self {
            Value::Integer(value) => Some(value),
            // A computed value, such as the result of a division.
            Value::Real(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
            _ => None,
        }
    }

    /// Returns the value if it is text.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
