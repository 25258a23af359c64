//! Selection of the files that may be snapshots, and their order in the list.
//!
//! Files are judged by name, since a folder may hold thousands and opening each would take too long. A single file is
//! always tried, whatever its name. The format of a listed file is then detected from its content.

use super::effect::{GivenFile, Origin};
use super::stage::Choice;
use base::sorted::sorted_by_key;

/// Extensions of files that often lie beside snapshots and never are snapshots.
const OTHERS: [&str; 46] = [
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

/// Extensions in listing order. All other extensions rank with the empty one.
const ORDER: [&[&str]; 5] = [&["pickle", "pkl"], &["gz", "zst", "zip"], &[""], &["json"], &["html", "htm"]];

/// Returns the files that may be snapshots, likeliest first.
pub(super) fn candidates(files: Vec<GivenFile>) -> Vec<Choice> {
    let is_alone = files.len() == 1;
    let choice = |(place, file): (usize, GivenFile)| Choice {
        origin: Origin::File(place),
        member: None,
        file: file.name,
        path: None,
        bytes: Some(file.bytes),
        load: None,
    };
    let all = files.into_iter().enumerate().map(choice);
    let found: Vec<Choice> = all.filter(|it| is_alone || can_be_a_snapshot(it)).collect();
    sorted_by_key(found, |it| place_in_order(it) as u128)
}

/// Returns the indices of the files that may be snapshots, likeliest first.
pub fn snapshots_among(files: Vec<GivenFile>) -> Vec<usize> {
    let place = |choice: Choice| if let Origin::File(place) = choice.origin { Some(place) } else { None };
    candidates(files).into_iter().filter_map(place).collect()
}

fn can_be_a_snapshot(file: &Choice) -> bool {
    let name = file.file.rsplit('/').next().unwrap_or_default();
    let can_be = !name.starts_with('.') && !OTHERS.contains(&ending(name).as_str());
    can_be && (file.bytes != Some(0) || is_named_as_a_snapshot(name))
}

/// Returns whether an empty file looks like a snapshot that failed to be written, unlike a marker such as `_SUCCESS`.
fn is_named_as_a_snapshot(name: &str) -> bool {
    ORDER.iter().take(2).any(|endings| endings.contains(&ending(name).as_str()))
        || name.to_ascii_lowercase().contains("rank")
}

/// Rank of a file in the list. Empty files come last. They are listed to explain why a rank has no snapshot.
fn place_in_order(file: &Choice) -> usize {
    let place = |ending: &str| ORDER.iter().position(|endings| endings.contains(&ending));
    match file.bytes {
        Some(0) => ORDER.len(),
        _ => place(&ending(&file.file)).or_else(|| place("")).unwrap_or(ORDER.len()),
    }
}

fn ending(name: &str) -> String {
    name.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}

/// Returns the message for a set of files without any snapshot.
pub(super) fn none_of(files: &[GivenFile]) -> String {
    match files {
        [] => "No file found in what you dropped.".to_owned(),
        [first, others @ ..] => {
            let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            format!("None of these files is a snapshot: {}{others}.", first.name)
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/candidates.rs"]
mod tests;
