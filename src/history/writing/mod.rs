//! Values → a file of them: a pickle or JSON.

mod json;
mod pickle;

pub use json::JsonWriter;
pub use pickle::PickleWriter;

use std::io;

/// A list on its way: how many elements it has.
#[derive(Default)]
pub struct Items(usize);

/// Writes one value, whose parts come in their order: a dict is [`Values::dict`], key, value, key, value …, [`Values::end_dict`].
///
/// Each method fails as what is written to fails.
#[allow(clippy::missing_errors_doc, reason = "said once, above")]
pub trait Values {
    fn bool(&mut self, value: bool) -> io::Result<()>;

    fn int(&mut self, value: i128) -> io::Result<()>;

    fn float(&mut self, value: f64) -> io::Result<()>;

    /// A text. What is not UTF-8 is made so: neither Python nor JSON reads anything else.
    fn text(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// A key, or another text of a few that come again and again.
    fn key(&mut self, key: &'static str) -> io::Result<()>;

    /// Remembers the value that was written last; its number. `None` where what is written knows no references.
    fn remember(&mut self) -> io::Result<Option<u32>>;

    /// A value that was remembered.
    fn again(&mut self, number: u32) -> io::Result<()>;

    /// A pair of integers.
    fn pair(&mut self, one: i128, other: i128) -> io::Result<()>;

    fn dict(&mut self) -> io::Result<()>;

    /// Ends a dict, of at most some hundred keys.
    fn end_dict(&mut self) -> io::Result<()>;

    fn list(&mut self) -> io::Result<Items>;

    /// Another element of a list follows.
    fn item(&mut self, items: &mut Items) -> io::Result<()>;

    fn end_list(&mut self, items: Items) -> io::Result<()>;

    /// Ends the file, after one value.
    fn finish(&mut self) -> io::Result<()>;
}
