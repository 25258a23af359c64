//! Selects the files that may be snapshots, and sorts them for the list.
//!
//! Files are selected by name, because a folder may hold thousands and opening each would take too long. A single file
//! is always tried, whatever its name. The format of a listed file is then detected from its content.

use crate::state::effect::{GivenFile, Origin};
use crate::state::stage::SnapshotChoice;
use base::sorted::sorted_by_key;
use base::units::group_digits;

/// Extensions of files that are often stored next to snapshots but are never snapshots.
const OTHER_EXTENSIONS: [&str; 46] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "bmp",
    "ico",
    "pdf",
    "mp4",
    "py",
    "pyc",
    "pyi",
    "ipynb",
    "js",
    "css",
    "cpp",
    "cu",
    "h",
    "so",
    "o",
    "sh",
    "md",
    "rst",
    "txt",
    "log",
    "out",
    "err",
    "csv",
    "tsv",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "lock",
    "pt",
    "pth",
    "ckpt",
    "safetensors",
    "npy",
    "npz",
    "onnx",
    "h5",
    "parquet",
    "db",
];

/// File extensions in the order of the list. Unknown extensions are sorted like files without an extension.
const EXTENSION_ORDER: [&[&str]; 5] = [&["pickle", "pkl"], &["gz", "zst", "zip"], &[""], &["json"], &["html", "htm"]];

/// Returns the files that may be snapshots, most likely first.
pub(crate) fn candidates(files: Vec<GivenFile>) -> Vec<SnapshotChoice> {
    let is_alone = files.len() == 1;
    let choice = |(index, file): (usize, GivenFile)| SnapshotChoice {
        origin: Origin::File(index),
        member: None,
        file: file.name,
        path: None,
        bytes: Some(file.bytes),
        load: None,
    };
    let all = files.into_iter().enumerate().map(choice);
    let found: Vec<SnapshotChoice> = all.filter(|it| is_alone || may_be_snapshot(it)).collect();
    sorted_by_key(found, |it| list_rank(it) as u128)
}

/// Returns the indices of the files that may be snapshots, most likely first.
pub fn snapshot_indices(files: Vec<GivenFile>) -> Vec<usize> {
    let file_index =
        |choice: SnapshotChoice| if let Origin::File(file_index) = choice.origin { Some(file_index) } else { None };
    candidates(files).into_iter().filter_map(file_index).collect()
}

fn may_be_snapshot(file: &SnapshotChoice) -> bool {
    let name = file.file.rsplit('/').next().unwrap_or_default();
    let can_be = !name.starts_with('.') && !OTHER_EXTENSIONS.contains(&extension(name).as_str());
    can_be && (file.bytes != Some(0) || has_snapshot_name(name))
}

/// Returns whether the name of an empty file suggests a snapshot that could not be written. Markers such as `_SUCCESS`
/// do not count.
fn has_snapshot_name(name: &str) -> bool {
    EXTENSION_ORDER.iter().take(2).any(|endings| endings.contains(&extension(name).as_str()))
        || name.to_ascii_lowercase().contains("rank")
}

/// Returns the sort key of a file in the list. Empty files come last. They are listed because they explain why a
/// process rank has no snapshot.
fn list_rank(file: &SnapshotChoice) -> usize {
    let position = |ending: &str| EXTENSION_ORDER.iter().position(|endings| endings.contains(&ending));
    match file.bytes {
        Some(0) => EXTENSION_ORDER.len(),
        _ => position(&extension(&file.file)).or_else(|| position("")).unwrap_or(EXTENSION_ORDER.len()),
    }
}

fn extension(name: &str) -> String {
    name.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}

/// Returns a message about the given files that are not among `found`. `None` if all are.
pub(crate) fn skipped_message(files: &[GivenFile], found: &[SnapshotChoice]) -> Option<String> {
    let mut is_found = vec![false; files.len()];
    for choice in found {
        if let Origin::File(index) = choice.origin {
            is_found.get_mut(index).into_iter().for_each(|is_found| *is_found = true);
        }
    }
    let mut skipped = files.iter().zip(is_found).filter(|(_, is_found)| !is_found).map(|(file, _)| file);
    let (first, others) = (skipped.next()?, skipped.count() as u64);
    let others = if others == 0 { String::new() } else { [" and ", &group_digits(others), " more"].concat() };
    Some(["Not a snapshot: ", &first.name, &others, "."].concat())
}

/// Returns the error message for files that contain no snapshot.
pub(crate) fn no_snapshot_message(files: &[GivenFile]) -> String {
    match files {
        [] => "No file found in what you dropped.".to_owned(),
        [first, others @ ..] => {
            let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            format!("None of these files is a snapshot: {}{others}.", first.name)
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/candidates.rs"]
mod tests;
