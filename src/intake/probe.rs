//! Detects the content of an archive member from its first bytes.

use super::snapviewer::{ELEMENTS, is_drawing};
use history::container::zip::Entry;
use history::container::{Container, ContainerError, Content, SNAPSHOT_KEYS};

/// Number of compressed bytes that are examined. A deflate stream may begin with a table of several hundred bytes.
pub(super) const PROBE_BYTES: u64 = 4096;

/// Score of a member that is opened only if no member has a lower score.
pub(super) const FALLBACK_RANK: u8 = 3;

/// Returns a score for the likelihood that a member is a snapshot. 0 is the most likely. If the member is something
/// else, returns a description of its content as the error.
pub(super) fn snapshot_rank(entry: &Entry, first: Vec<u8>) -> Result<u8, String> {
    let mut container = Container::from_zip_member(entry).map_err(|error| error.to_string())?;
    if first.len() as u64 == entry.packed {
        container.feed(first);
        container.finish_input();
    } else {
        container.feed(first);
    }
    let mut text = Vec::new();
    while text.is_empty() {
        match container.pull() {
            Ok(Some(bytes)) => text.extend_from_slice(bytes),
            Ok(None) => break,
            Err(ContainerError::UnknownFormat(_)) => return Err(format!("{} is not a snapshot", entry.name)),
            Err(ContainerError::OtherFormat(noun)) => return Err(format!("{} is {noun}", entry.name)),
            Err(error) => return Err(format!("{}: {error}", entry.name)),
        }
    }
    match container.content() {
        Some(Content::Json) if is_drawing(&text) => {
            Err(format!("{} is SnapViewer's allocations.json, but its {ELEMENTS} is missing", entry.name))
        }
        Some(Content::Json) if SNAPSHOT_KEYS.iter().any(|key| text.windows(key.len()).any(|part| part == *key)) => {
            Ok(1)
        }
        // Other data recorded next to a snapshot is often JSON as well.
        Some(Content::Json) => Ok(FALLBACK_RANK),
        // An HTML plot is made from a snapshot, which often lies next to it.
        _ if container.layers().any(|layer| layer == "HTML") => Ok(2),
        Some(Content::Pickle | Content::Columns) | None => Ok(0),
    }
}
