//! What is known of the files and lines of the user's own code.

use super::Weight;
use serde::{Deserialize, Serialize};

/// Files and lines of the user's own code. An allocation counts at the innermost such frame of its stack alone, so that lines add up
/// to files, and files with `elsewhere` and `left_out` to the total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourcesPage {
    pub total: Standing,
    /// What has no frame of the user's own code, or only the stack of its free.
    pub elsewhere: Standing,
    /// The files, heaviest in the scope first.
    pub files: Vec<SourceFile>,
    /// Files that are not among them: there are too many.
    pub left_out: Standing,
}

/// What a place in code weighs: in the scope and at the device's peak; of a change at the end of its range and at the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub now: Weight,
    pub peak: Weight,
}

/// A file of the user's own code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path, as the snapshot has it; of a very long one the end, after `…`.
    pub path: String,
    pub standing: Standing,
    /// Its lines, heaviest in the scope first.
    pub lines: Vec<SourceLine>,
    /// How many lighter lines are not among them.
    pub left_out: u32,
}

/// A line of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Its number, as the snapshot has it.
    pub line: String,
    pub standing: Standing,
    /// Its text, where a recorder has the file.
    pub code: String,
}
