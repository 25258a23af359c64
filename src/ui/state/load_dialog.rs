//! The dialog that asks which events of a large file to load, and the thresholds for opening it.

use crate::text::file_memory::estimated_memory;
use crate::text::load_range::to_text;
use base::units::Bytes;
use protocol::{LoadRange, MAX_TABLE_BYTES_32_BIT};

/// File size in bytes above which the dialog opens.
const LARGE_FILE: u64 = 2_000_000_000;
/// Memory in bytes that a page can use. WebAssembly has 32-bit addresses.
pub(crate) const PAGE_MEMORY: u64 = 4 << 30;
/// Maximum size in bytes of a file's loaded tables within [`PAGE_MEMORY`].
const MAX_TABLE_BYTES: u64 = MAX_TABLE_BYTES_32_BIT;
/// Initial text of the field. This many events load in a second or two, and cover far more than a few training steps.
const DEFAULT_RANGE: &str = "last 1,000,000";
/// Error message for text that is not a range of events.
pub(crate) const SYNTAX_ERROR: &str = "Expected events such as last 1,000,000 or 2,000,000..3,000,000.";

/// The dialog that asks whether to load all events of a file, or a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadDialog {
    pub name: String,
    /// Text about the file's size, and the memory that loading all its events takes.
    pub text: String,
    /// True if loading all events may exceed the memory that a page can use.
    pub may_not_fit: bool,
    /// Initial text of the field.
    pub initial_range: String,
    /// Error message about the text that was entered last. May be empty.
    pub error: &'static str,
}

impl LoadDialog {
    /// Creates the dialog. `name` is displayed, and includes the path in an archive. The memory is estimated from the
    /// file name `file` and its `length` in bytes. `previous` is the range that was loaded before.
    pub(crate) fn new(name: String, file: &str, length: Option<u64>, previous: Option<LoadRange>) -> LoadDialog {
        let bytes = length.unwrap_or(0);
        let [min_memory, max_memory] = estimated_memory(file, bytes);
        let (size, page) = (Bytes(bytes), Bytes(PAGE_MEMORY));
        let text = match length {
            None => "Only these events are kept, with their numbers in the file.".to_owned(),
            Some(_) if min_memory > MAX_TABLE_BYTES => {
                format!(
                    "{size}. All events take at least {} of memory, and a page can have {page}: load a range of them, or use the command line.",
                    Bytes(min_memory)
                )
            }
            Some(_) if max_memory > MAX_TABLE_BYTES => {
                format!(
                    "{size}. All events take from {} to {} of memory, and a page can have {page}. A range takes less.",
                    Bytes(min_memory),
                    Bytes(max_memory)
                )
            }
            Some(_) => format!("{size}. All events take at most {} of memory.", Bytes(max_memory)),
        };
        let initial_range =
            previous.filter(|load| *load != LoadRange::ALL).map_or_else(|| DEFAULT_RANGE.to_owned(), to_text);
        LoadDialog { name, text, may_not_fit: max_memory > MAX_TABLE_BYTES, initial_range, error: "" }
    }
}

/// Returns whether the dialog is shown before a file of this name and size is read.
pub(crate) fn is_large(file: &str, bytes: u64) -> bool {
    bytes > LARGE_FILE || estimated_memory(file, bytes)[1] > MAX_TABLE_BYTES
}

#[cfg(test)]
#[path = "../../../tests/units/ui/choosing/data.rs"]
mod tests;
