//! Weights of the files and lines of the user's own code.

use super::Weight;
use serde::{Deserialize, Serialize};

/// Files and lines of the user's own code. Each allocation counts at its call site only, so lines add up to files,
/// and files plus `elsewhere` and `left_out` add up to `total`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourcesPage {
    pub total: LocationWeight,
    /// Allocations without a frame of the user's own code, or with only the stack of their free.
    pub elsewhere: LocationWeight,
    /// Files, heaviest in the scope first.
    pub files: Vec<SourceFile>,
    /// Total of the files that are left out because there are too many.
    pub left_out: LocationWeight,
}

/// Weights of a code location in the scope and at the device's peak. For [`Scope::Change`](super::Scope::Change),
/// weights at the end and at the start of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationWeight {
    pub now: Weight,
    pub peak: Weight,
}

/// A file of the user's own code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path as in the snapshot. A very long one is cut at the start and marked with `…`.
    pub path: String,
    pub standing: LocationWeight,
    /// Lines, heaviest in the scope first.
    pub lines: Vec<SourceLine>,
    /// Number of lighter lines that are left out.
    pub left_out: u32,
}

/// A line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Line number as in the snapshot.
    pub line: String,
    pub standing: LocationWeight,
    /// Source text, if the recorder stored the file.
    pub code: String,
}
