//! The name of the open file in the header. A long name is cut where it does not differ from the other names.

use crate::state::shared::Shared;
use crate::text::names::shared_beginnings;
use crate::text::summary::file_title;

/// Number of characters at the end of a name that are never cut, if only one file is open. In a list, names that share
/// no beginning keep their beginning instead.
const END_CHARS: usize = 20;
/// Length in bytes of a beginning that is too short to be cut: an ellipsis would need as much room.
const MAX_UNCUT: usize = 8;

/// Returns the name of the open file, and the length in bytes of its beginning, which is cut first.
pub fn heading(shared: &Shared) -> (String, usize) {
    let names = shared.snapshot_names();
    let listed = names.get(shared.snapshot_index).filter(|_| names.len() > 1);
    let (name, common) = match listed {
        Some(name) => {
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            (name.clone(), shared_beginnings(&all).get(shared.snapshot_index).copied().unwrap_or(0))
        }
        None => {
            let name = shared.drawn_file().map(file_title).unwrap_or_default();
            let end = name.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
            (name, end)
        }
    };
    (name, Some(common).filter(|&shared| shared > MAX_UNCUT).unwrap_or(0))
}

#[cfg(test)]
#[path = "../../../tests/units/ui/heading.rs"]
mod tests;
