//! Writers of values in pickle or JSON format.

mod json;
mod pickle;

pub use json::JsonWriter;
pub use pickle::PickleWriter;

use std::io;

/// State of an open list: the number of elements written so far.
#[derive(Default)]
pub struct Items(usize);

/// Writer of one value, which is written part by part. For a dict, call [`ValueWriter::dict`], write key, value, key,
/// value and so on, then call [`ValueWriter::end_dict`].
///
/// All methods return the errors of the underlying output.
#[allow(clippy::missing_errors_doc, reason = "documented on the trait")]
pub trait ValueWriter {
    fn bool(&mut self, value: bool) -> io::Result<()>;

    fn int(&mut self, value: i128) -> io::Result<()>;

    fn float(&mut self, value: f64) -> io::Result<()>;

    /// Writes a string. Invalid UTF-8 is replaced, because neither Python nor JSON parsers can read it.
    fn text(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes a dict key, or another string from a small set of repeated strings.
    fn key(&mut self, key: &'static str) -> io::Result<()>;

    /// Adds the last written value to the memo. Returns its index for [`ValueWriter::reference`], or `None` if the
    /// format has no references.
    fn memoize(&mut self) -> io::Result<Option<u32>>;

    /// Writes a reference to a value in the memo. `number` is the index that [`ValueWriter::memoize`] returned.
    fn reference(&mut self, number: u32) -> io::Result<()>;

    /// Writes a pair of integers.
    fn pair(&mut self, first: i128, second: i128) -> io::Result<()>;

    fn dict(&mut self) -> io::Result<()>;

    /// Ends a dict. A dict may have at most some hundred keys.
    fn end_dict(&mut self) -> io::Result<()>;

    fn list(&mut self) -> io::Result<Items>;

    /// Starts the next element of a list.
    fn item(&mut self, items: &mut Items) -> io::Result<()>;

    fn end_list(&mut self, items: Items) -> io::Result<()>;

    /// Ends the file. Called after exactly one value was written.
    fn finish(&mut self) -> io::Result<()>;
}
