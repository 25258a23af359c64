//! Pages that send snapshots to this page with `postMessage`: trusted origins, and the question about other ones.

use crate::text::url::{is_plain_origin, percent_encoded};
use base::units::{Bytes, pluralize};

/// Maximum number of trusted origins. The oldest one is dropped.
const MAX_TRUSTED: usize = 100;
/// Maximum number of files in one message.
pub const MAX_FILES: usize = 4096;
/// Maximum number of characters of a title or a file name. Longer ones are cut.
const MAX_NAME_CHARS: usize = 200;
/// Placeholder in a sender's URL that is replaced by the view when the link is copied.
const VIEW_PLACEHOLDER: &str = "{view}";

/// Returns whether an origin is in the stored list.
pub fn is_trusted(stored: &str, origin: &str) -> bool {
    stored.lines().any(|line| line == origin)
}

/// Adds an origin to the stored list: one per line, most recent first.
pub fn add_trusted(stored: &str, origin: &str) -> String {
    let others = stored.lines().filter(|line| *line != origin);
    let all: Vec<&str> = std::iter::once(origin).chain(others).take(MAX_TRUSTED).collect();
    all.join("\n")
}

/// Returns whether an origin can be remembered. Sandboxed frames and files on disk share the origin `null`.
pub fn can_be_trusted(origin: &str) -> bool {
    is_plain_origin(origin)
}

/// Returns the text of the settings dialog about the stored list.
pub fn trusted_note(stored: &str) -> String {
    let all: Vec<&str> = stored.lines().collect();
    if all.is_empty() { "No page may open snapshots here without a question.".to_owned() } else { all.join(", ") }
}

/// Returns the question whether to open files that a page sent.
pub fn question(origin: &str, title: &str, files: usize, bytes: u64) -> String {
    let sender = if can_be_trusted(origin) { origin } else { "A page without an address of its own" };
    format!("{sender} sends “{title}” ({}, {}).", pluralize(files as u64, "file"), Bytes(bytes))
}

/// Returns the start of a title or a file name, without line breaks.
pub fn short_name(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME_CHARS).collect()
}

/// Returns the sender's link to a view: its URL with `{view}` replaced.
pub fn link_to_view(url: &str, view: &str) -> String {
    url.replace(VIEW_PLACEHOLDER, &percent_encoded(view))
}

#[cfg(test)]
#[path = "../../../tests/units/ui/sender.rs"]
mod tests;
