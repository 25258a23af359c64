//! What a member of an archive is, by its first bytes.

use super::snapviewer::{ELEMENTS, is_drawing};
use history::container::zip::Entry;
use history::container::{Container, ContainerError, Content};

/// Packed bytes of a member that tell what it is: a deflate stream may begin with a table of some hundred.
pub(super) const GLIMPSE: u64 = 4096;

/// Keys of which the beginning of a snapshot in JSON has one.
const KEYS: [&[u8]; 5] =
    [b"\"segments\"", b"\"device_traces\"", b"\"allocator_settings\"", b"\"blocks\"", b"\"total_size\""];

/// How likely a member is that is opened only where there is none likelier.
pub(super) const LAST_RESORT: u8 = 3;

/// How likely a member is a snapshot by its first bytes, 0 the likeliest; or what it is instead.
pub(super) fn likelihood(entry: &Entry, first: Vec<u8>) -> Result<u8, String> {
    let mut container = Container::of_member(entry).map_err(|error| error.to_string())?;
    if first.len() as u64 == entry.packed {
        container.feed(first);
        container.end();
    } else {
        container.feed(first);
    }
    let mut text = Vec::new();
    while text.is_empty() {
        match container.pull() {
            Ok(Some(bytes)) => text.extend_from_slice(bytes),
            Ok(None) => break,
            Err(ContainerError::NotAPickle(_)) => return Err(format!("{} is not a snapshot", entry.name)),
            Err(ContainerError::Other(noun)) => return Err(format!("{} is {noun}", entry.name)),
            Err(error) => return Err(format!("{}: {error}", entry.name)),
        }
    }
    match container.content() {
        Some(Content::Json) if is_drawing(&text) => {
            Err(format!("{} is SnapViewer's allocations.json, but its {ELEMENTS} is missing", entry.name))
        }
        Some(Content::Json) if KEYS.iter().any(|key| text.windows(key.len()).any(|part| part == *key)) => Ok(1),
        // What is recorded beside a snapshot is often JSON as well.
        Some(Content::Json) => Ok(LAST_RESORT),
        // A plot is made of a snapshot, which often lies beside it.
        _ if container.layers().any(|layer| layer == "HTML") => Ok(2),
        Some(Content::Pickle | Content::Columns) | None => Ok(0),
    }
}
