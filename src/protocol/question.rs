//! Scopes and tree arrangements. A scope selects and weights the allocations of a query. An arrangement defines how
//! their stacks form a tree.

pub use analysis::internal::{DEFAULT_RULES, InternalRules, RuleError};
use base::units::group_digits;
use serde::{Deserialize, Serialize};

/// A set of allocations with weights. The weight of an allocation is its requested bytes, except in
/// [`Scope::ByteMoments`].
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
    /// Allocations live in the range. Each is weighted by requested bytes × number of moments at which it is live in
    /// the range, with the end of the range excluded. The sum saturates at 2^64 − 1.
    ByteMoments(Span),
    /// Allocations that are live at only one end of the range: freed in the range, or made in the range and still live
    /// at its end. A tree shows both ends ([`TreeRow::ends`](super::TreeRow::ends)).
    Change(Span),
}

/// A range of the trace. It contains the events from index `from` to `to` (exclusive), which lie between the moments
/// `from` and `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    pub from: u32,
    /// End moment. It is not less than `from`.
    pub to: u32,
}

impl Span {
    /// Returns the events of the range as text: `1,000 – 1,999`, `7`, or `none`.
    pub fn events_text(self) -> String {
        match self.to.checked_sub(1).filter(|last| *last >= self.from) {
            None => "none".to_owned(),
            Some(last) if last == self.from => group_digits(last.into()),
            Some(last) => group_digits(self.from.into()) + " – " + &group_digits(last.into()),
        }
    }
}

/// Sum of weights over a set of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Requested bytes, or bytes × moments in [`Scope::ByteMoments`].
    pub bytes: u64,
    /// Number of allocations.
    pub count: u32,
}

/// Weights at the start and the end of the range of [`Scope::Change`]. Zero for other scopes.
pub type Ends = [Weight; 2];

impl Weight {
    /// Adds another weight. Sums that are too large saturate.
    pub fn add(&mut self, more: Weight) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.count = self.count.saturating_add(more.count);
    }
}

/// Arrangement of stacks in a tree. A node id is only valid within one arrangement, and is the same for all moments and
/// ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arrangement {
    pub root: Root,
    pub merge: Merge,
    pub internal: Internal,
}

impl Arrangement {
    /// Returns the arrangement with the other end of the stacks at the root.
    pub fn inverted(self) -> Arrangement {
        let root = if self.root == Root::Outermost { Root::Innermost } else { Root::Outermost };
        Arrangement { root, ..self }
    }

    /// Hides internal frames, or shows them if they are hidden.
    pub fn with_internal_toggled(self) -> Arrangement {
        let internal = if self.internal == Internal::Shown { Internal::Hidden } else { Internal::Shown };
        Arrangement { internal, ..self }
    }

    /// Returns the arrangement with the next criterion for merging frames.
    pub fn with_next_merge(self) -> Arrangement {
        let merge = Merge::ALL[(self.merge as usize + 1) % Merge::ALL.len()];
        Arrangement { merge, ..self }
    }
}

/// End of the stacks that forms the root of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Root {
    /// Outermost frames are at the root, as in a call tree.
    #[default]
    Outermost,
    /// Innermost frames are at the root, as in an inverted tree.
    Innermost,
}

base::listed! {
    /// Criterion for merging frames into one node of a tree.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Merge {
        /// Same function, file and line.
        #[default]
        Line = "line",
        Function = "function",
        /// Same file. C++ frames without a file are merged by function.
        File = "file",
    }
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
    /// Function, or file name if frames are merged by file. A description for [`NodeKind::Note`].
    pub name: String,
    /// File. Empty for [`NodeKind::Note`] and for C++ frames without a file.
    pub file: String,
    /// Line number as written in the file. Empty if frames of several lines are merged.
    pub line: String,
    pub kind: NodeKind,
}

/// Kind of a tree node, by the origin of its code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    User,
    /// Code of torch, another package, or Python itself.
    Library,
    Native,
    /// Not a frame: the root, or a node for allocations without a stack, unexplained bytes, stacks of frees, or stacks
    /// that consist only of internal frames.
    #[default]
    Note,
}
