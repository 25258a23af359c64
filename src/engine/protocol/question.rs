//! Which allocations an answer is about, what each of them weighs, and how their stacks are put together.

pub use analysis::internal::{DEFAULT_RULES, InternalRules, RuleError};
use serde::{Deserialize, Serialize};

/// Which allocations, and what each of them weighs: its requested bytes, but for [`Scope::ByteMoments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// All of them, whenever they live; also those that were allocated before recording.
    Ever,
    At(u32),
    Born(Span),
    /// Those whose free completed in the range.
    Freed(Span),
    /// Those born in the range and still live at its end.
    Kept(Span),
    /// Those live at some moment of the range, each with its requested bytes × the moments from `from` to before `to` that it is
    /// live at. At most 2^64 − 1 in all.
    ByteMoments(Span),
    /// Those live at exactly one end of the range: freed in it, or allocated in it and live at its end. A tree shows what both ends hold
    /// ([`TreeRow::ends`](super::TreeRow::ends)).
    Change(Span),
}

/// A range of the trace: what the events numbered `from` to before `to` do, which lead from moment `from` to moment `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    pub from: u32,
    /// The moment it ends at; not before `from`.
    pub to: u32,
}

/// What allocations weigh together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Requested bytes, or those × moments; see [`Scope`].
    pub bytes: u64,
    /// How many allocations.
    pub count: u32,
}

/// What is live at the two ends of the range of [`Scope::Change`]: the beginning first. Of other scopes nothing.
pub type Ends = [Weight; 2];

impl Weight {
    /// Puts `more` on top; what exceeds 64 bits stays at the limit.
    pub(crate) fn add(&mut self, more: Weight) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.count = self.count.saturating_add(more.count);
    }
}

/// How stacks are put together to a tree. Nodes are renumbered for each arrangement; the same node has the same number at every
/// moment and in every range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arrangement {
    pub root: Root,
    pub merge: Merge,
    pub internal: Internal,
}

/// What stands at the root of a tree of stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Root {
    /// The outermost frame: who calls whom.
    #[default]
    Outermost,
    /// The innermost frame: who is called by whom.
    Innermost,
}

/// Which frames are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Merge {
    /// Those of equal function, file and line.
    #[default]
    Line,
    Function,
    /// Those of equal file; C++ frames without a file, those of equal function.
    File,
}

/// Whether the frames that the [rules](super::Request::InternalFrames) name are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Internal {
    /// They are shown.
    #[default]
    Shown,
    /// They are left out; a stack that has no others stands under a node of its own.
    Hidden,
}

/// What a node of a tree is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLabel {
    /// The function; for merged files the file's name; for [`NodeKind::Note`] what it holds.
    pub name: String,
    /// The file; empty for C++ frames without one and for notes.
    pub file: String,
    /// The line as the file writes it; empty where frames of several lines are one.
    pub line: String,
    pub kind: NodeKind,
}

/// Whose code a node of a tree is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    User,
    /// torch's, another package's, or Python's own.
    Library,
    Native,
    /// No frame: all of it together, allocations without a stack, unexplained bytes, stacks of frees, stacks of internal
    /// frames alone.
    #[default]
    Note,
}
