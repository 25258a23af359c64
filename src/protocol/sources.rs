//! Memory by file and line of the user's own code.

use super::Weight;
use serde::{Deserialize, Serialize};

/// Memory by file and line of the user's own code. Each allocation counts only at its call site. So the lines of a file
/// add up to the file, and files, `elsewhere` and `left_out` add up to `total`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourcesPage {
    pub total: LocationWeight,
    /// Allocations without a frame of the user's own code, and allocations for which only the stack of the free is
    /// known.
    pub elsewhere: LocationWeight,
    /// Files, sorted by their weight in the scope, heaviest first.
    pub files: Vec<SourceFile>,
    /// Total of the files that were left out because there are too many.
    pub left_out: LocationWeight,
}

/// Weights of a code location in the scope and at the device's peak. For [`Scope::Change`](super::Scope::Change), these
/// are the weights at the end and at the start of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationWeight {
    pub now: Weight,
    pub peak: Weight,
}

impl LocationWeight {
    /// Adds both weights of another location.
    pub fn add(&mut self, more: LocationWeight) {
        self.now.add(more.now);
        self.peak.add(more.peak);
    }

    /// Returns whether any allocation is counted.
    pub fn has_weight(&self) -> bool {
        self.now.count > 0 || self.peak.count > 0
    }
}

/// A file of the user's own code, with its weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path as in the snapshot. A very long path is shortened at the start, which is marked with `…`.
    pub path: String,
    pub weights: LocationWeight,
    /// Lines, sorted by their weight in the scope, heaviest first.
    pub lines: Vec<SourceLine>,
    /// Number of lines that were left out because they have less weight.
    pub left_out: u32,
}

/// A line of a source file, with its weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Line number as in the snapshot.
    pub line: String,
    pub weights: LocationWeight,
    /// Source text of the line, if the recorder stored the file in the snapshot.
    pub code: String,
}
