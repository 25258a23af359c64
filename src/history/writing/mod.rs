//! Writers of values as a pickle or JSON.

mod json;
mod pickle;

pub use json::JsonWriter;
pub use pickle::PickleWriter;

use std::io;

/// Number of elements written to an open list.
#[derive(Default)]
pub struct Items(usize);

/// Writer of one value, whose parts are written in order. A dict is [`Values::dict`], key, value, key, value …,
/// [`Values::end_dict`].
///
/// Each method returns the error of the underlying output.
#[allow(clippy::missing_errors_doc, reason = "documented on the trait")]
pub trait ValueWriter {
    fn bool(&mut self, value: bool) -> io::Result<()>;

    fn int(&mut self, value: i128) -> io::Result<()>;

    fn float(&mut self, value: f64) -> io::Result<()>;

    /// Writes a text. Invalid UTF-8 is replaced, because neither Python nor JSON can read it.
    fn text(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes a dict key, or another text from a small set of repeated ones.
    fn key(&mut self, key: &'static str) -> io::Result<()>;

    /// Remembers the value that was written last. Returns its number, or `None` if the format has no references.
    fn memoize(&mut self) -> io::Result<Option<u32>>;

    /// Writes a reference to a remembered value.
    fn reference(&mut self, number: u32) -> io::Result<()>;

    /// Writes a pair of integers.
    fn pair(&mut self, one: i128, other: i128) -> io::Result<()>;

    fn dict(&mut self) -> io::Result<()>;

    /// Ends a dict. It may have some hundred keys at most.
    fn end_dict(&mut self) -> io::Result<()>;

    fn list(&mut self) -> io::Result<Items>;

    /// Starts the next element of a list.
    fn item(&mut self, items: &mut Items) -> io::Result<()>;

    fn end_list(&mut self, items: Items) -> io::Result<()>;

    /// Ends the file, after one value.
    fn finish(&mut self) -> io::Result<()>;
}
