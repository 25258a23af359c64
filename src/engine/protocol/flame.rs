//! Questions and answers of the flame graph: the boxes of a tree of stacks in device pixels.

use super::{Arrangement, Ends, NodeLabel, Scope, Weight};
use serde::{Deserialize, Serialize};

/// Parameters of a flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameQuestion {
    pub scope: Scope,
    pub arrangement: Arrangement,
    /// Node that fills the width. `None` and unknown nodes mean the root, which is node 0.
    pub zoom: Option<u32>,
    /// Width of the graph in device pixels.
    pub width_px: u32,
    /// Serial of the search whose matches are highlighted.
    pub find: Option<u32>,
    /// Allocation whose box is requested.
    pub allocation: Option<u32>,
}

/// Boxes of a flame graph, at most [`MAX_BOXES`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlamePage {
    pub total: Weight,
    /// Weights at both ends of the range of [`Scope::Change`].
    pub ends: Ends,
    pub found: Weight,
    /// The boxes, root first, row by row and from left to right.
    pub boxes: Vec<FlameBox>,
    /// Index of the box that fills the width. The boxes before it are its ancestors, with the same width.
    pub zoom: u32,
    pub labels: Vec<NodeLabel>,
    /// Index of the box of the requested allocation, or of its nearest ancestor that is drawn.
    pub revealed: Option<u32>,
    /// True if lower rows are left out because there would be too many boxes.
    pub is_truncated: bool,
}

/// Box of a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBox {
    /// Node of the box. If several nodes share a box because each is narrower than a pixel, the heaviest one.
    pub node: u32,
    /// Number of nodes that share the box.
    pub node_count: u32,
    /// Index of the parent box. The root is its own parent.
    pub parent: u32,
    /// Row number. The root is in row 0.
    pub row: u32,
    /// Left and right (exclusive) edge in device pixels. Never empty, and within the parent.
    pub x: [u32; 2],
    /// Weight of the node and its descendants.
    pub weight: Weight,
    /// Weights at both ends of the range of [`Scope::Change`]. For each stack, `weight`, which determines the width,
    /// is then the larger one.
    pub ends: Ends,
    /// Bytes of `weight` that match the search.
    pub found: u64,
    /// True if the frame itself matches the search.
    pub matches: bool,
    /// Index into [`FlamePage::labels`].
    pub label: u32,
    /// Palette slot of the call site in the timeline. `None` if the node is not a call site.
    pub slot: Option<u32>,
}

/// Approximate maximum number of boxes in a flame graph. A row of a wide window has a few thousand at most.
pub const MAX_BOXES: usize = 50_000;
