//! What is asked about a file before it is read, and of which files.

use crate::file_memory::taken;
use crate::load_range::written;
use base::units::Bytes;
use engine::protocol::{LoadRange, MOST_OF_32_BITS};

/// A file of more bytes is asked about.
const LARGE: u64 = 2_000_000_000;
/// What a page can have: all that 32-bit addresses reach.
pub(crate) const PAGE_MEMORY: u64 = 4 << 30;
/// What the tables of a file may take of it.
const ROOM: u64 = MOST_OF_32_BITS;
/// What stands in the field at first: a second or two of work, and far more than a few steps of training.
const OFFERED: &str = "last 1,000,000";
/// What is wrong with what was typed.
pub(crate) const WRONG: &str = "Expected events such as last 1,000,000 or 2,000,000..3,000,000.";

/// A file that is not read yet: all of it, or a range?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choosing {
    /// Its name.
    pub name: String,
    /// Its size, and what all of it takes.
    pub text: String,
    /// Whether all of it may be more than a page can have.
    pub may_not_fit: bool,
    /// What the field has at first.
    pub offered: String,
    /// What is wrong with what was typed last; empty: nothing.
    pub wrong: &'static str,
}

impl Choosing {
    /// About the file of this name and length, of which these events were loaded before. `name` tells it from others of its archive.
    pub(crate) fn new(name: String, file: &str, length: Option<u64>, before: Option<LoadRange>) -> Choosing {
        let bytes = length.unwrap_or(0);
        let [least, most] = taken(file, bytes);
        let (size, page) = (Bytes(bytes), Bytes(PAGE_MEMORY));
        let text = match length {
            None => "Only these events are kept, with their numbers in the file.".to_owned(),
            Some(_) if least > ROOM => {
                format!(
                    "{size}. All events take at least {} of memory, and a page can have {page}: load a range of them, or use the command line.",
                    Bytes(least)
                )
            }
            Some(_) if most > ROOM => {
                format!(
                    "{size}. All events take from {} to {} of memory, and a page can have {page}. A range takes less.",
                    Bytes(least),
                    Bytes(most)
                )
            }
            Some(_) => format!("{size}. All events take at most {} of memory.", Bytes(most)),
        };
        let offered = before.filter(|load| *load != LoadRange::ALL).map_or_else(|| OFFERED.to_owned(), written);
        Choosing { name, text, may_not_fit: most > ROOM, offered, wrong: "" }
    }
}

/// Whether a file is asked about before it is read.
pub(crate) fn is_large(file: &str, bytes: u64) -> bool {
    bytes > LARGE || taken(file, bytes)[1] > ROOM
}

#[cfg(test)]
#[path = "../../../tests/units/ui/choosing/data.rs"]
mod tests;
