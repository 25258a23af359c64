//! Nodes of a call tree.

use analysis::site;
use history::snapshot::FrameId;

/// Frame or group of allocations that a call tree node represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TreeNodeKind {
    Everything,
    Unexplained,
    NoStack,
    /// Allocations made before recording. Only the stacks of their frees are known.
    OfFrees,
    Frame(FrameId),
}

impl TreeNodeKind {
    /// Returns the label of a node that does not represent a frame.
    pub(crate) fn text(self) -> &'static str {
        match self {
            TreeNodeKind::Everything | TreeNodeKind::Frame(_) => "all allocations",
            TreeNodeKind::Unexplained => "unexplained bytes",
            TreeNodeKind::NoStack => site::NO_STACK,
            TreeNodeKind::OfFrees => "allocated before recording (stacks of their frees)",
        }
    }
}

/// A node of a call tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: TreeNodeKind,
    pub(crate) parent: u32,
    pub(crate) depth: u32,
    pub(crate) own: [u64; 2],
    /// Bytes and number of allocations, including all descendants.
    pub(crate) total: [u64; 2],
}

impl Node {
    /// Returns the frame that the node represents, if any.
    pub(crate) fn frame(&self) -> Option<FrameId> {
        if let TreeNodeKind::Frame(frame) = self.kind { Some(frame) } else { None }
    }
}
