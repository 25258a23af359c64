//! The nodes of a call tree.

use history::snapshot::FrameId;

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stem {
    Everything,
    Unexplained,
    NoStack,
    /// What was allocated before recording, by the stacks of its frees.
    OfFrees,
    Frame(FrameId),
}

impl Stem {
    /// What a node is called that is no frame.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Stem::Everything | Stem::Frame(_) => "all allocations",
            Stem::Unexplained => "unexplained bytes",
            Stem::NoStack => "no stack",
            Stem::OfFrees => "allocated before recording (stacks of their frees)",
        }
    }
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) stem: Stem,
    pub(crate) parent: u32,
    pub(crate) depth: u32,
    pub(crate) own: [u64; 2],
    /// Bytes and allocations, with those below.
    pub(crate) total: [u64; 2],
}
