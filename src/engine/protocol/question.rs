//! Scopes and tree arrangements: the allocations that a question is about, their weights, and how their stacks form a
//! tree.

pub use analysis::internal::{DEFAULT_RULES, InternalRules, RuleError};
use serde::{Deserialize, Serialize};

/// A set of allocations with weights. The weight is the number of requested bytes, except in [`Scope::ByteMoments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// All allocations, including those made before recording.
    All,
    At(u32),
    Allocated(Span),
    /// Allocations whose free completed in the range.
    Freed(Span),
    /// Allocations made in the range and still live at its end.
    StillLive(Span),
    /// Allocations live in the range, weighted by requested bytes × moments live, with the end of the range excluded.
    /// The sum saturates at 2^64 − 1.
    ByteMoments(Span),
    /// Allocations live at exactly one end of the range: freed in it, or made in it and still live at its end. In a
    /// tree, both ends are shown ([`TreeRow::ends`](super::TreeRow::ends)).
    Change(Span),
}

/// A range of the trace: the events from `from` to before `to`, which lead from moment `from` to moment `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    pub from: u32,
    /// End moment. Not less than `from`.
    pub to: u32,
}

/// Total weight of a set of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Requested bytes, or bytes × moments. See [`Scope`].
    pub bytes: u64,
    /// Number of allocations.
    pub count: u32,
}

/// Weights at the start and end of the range of [`Scope::Change`]. Zero for other scopes.
pub type Ends = [Weight; 2];

impl Weight {
    /// Adds another weight, saturating.
    pub(crate) fn add(&mut self, more: Weight) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.count = self.count.saturating_add(more.count);
    }
}

/// Arrangement of stacks in a tree. Node numbers are only valid within one arrangement. They are the same for all
/// moments and ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arrangement {
    pub root: Root,
    pub merge: Merge,
    pub internal: Internal,
}

/// Frame at the root of a tree of stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Root {
    /// Outermost frame first, as in a call tree.
    #[default]
    Outermost,
    /// Innermost frame first, as in an inverted tree.
    Innermost,
}

/// Criterion for merging frames to one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Merge {
    /// Same function, file and line.
    #[default]
    Line,
    Function,
    /// Same file. C++ frames without a file are merged by function.
    File,
}

/// Visibility of frames that match the [internal frame rules](super::Request::InternalFrames).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Internal {
    #[default]
    Shown,
    /// Internal frames are left out. Stacks that have no other frames are shown under a separate node.
    Hidden,
}

/// Label of a tree node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLabel {
    /// Function, or file name if frames are merged by file. For [`NodeKind::Note`], a description.
    pub name: String,
    /// File. Empty for notes and for C++ frames without a file.
    pub file: String,
    /// Line number as written in the file. Empty if frames of several lines are merged.
    pub line: String,
    pub kind: NodeKind,
}

/// Origin of the code of a tree node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    User,
    /// Code of torch, another package, or Python itself.
    Library,
    Native,
    /// Not a frame: the root, allocations without a stack, unexplained bytes, stacks of frees, or stacks of internal
    /// frames only.
    #[default]
    Note,
}
