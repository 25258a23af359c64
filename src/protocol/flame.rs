//! Queries and results of the flame graph: the boxes of a tree of stacks in device pixels.

use super::{Arrangement, Ends, NodeLabel, Scope, Weight};
use serde::{Deserialize, Serialize};

/// Query for a flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameQuestion {
    pub scope: Scope,
    pub arrangement: Arrangement,
    /// Node that fills the whole width. The root (node 0) is used for `None` and for unknown nodes.
    pub zoom: Option<u32>,
    /// Width of the graph in device pixels.
    pub width_px: u32,
    /// Serial of the search whose matches are highlighted.
    pub search_serial: Option<u32>,
    /// Allocation whose box is searched for.
    pub allocation: Option<u32>,
}

/// A flame graph with at most [`MAX_BOXES`] boxes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlamePage {
    pub total: Weight,
    /// Weights at the start and the end of the range of [`Scope::Change`].
    pub ends: Ends,
    pub found: Weight,
    /// The boxes, starting with the root, row by row and from left to right.
    pub boxes: Vec<FlameBox>,
    /// Index of the box that fills the whole width. The boxes before it are its ancestors and have the same width.
    pub zoom: u32,
    pub labels: Vec<NodeLabel>,
    /// Index of the box of the requested allocation. If it is not drawn, the box of its nearest drawn ancestor.
    pub revealed: Option<u32>,
    /// True if lower rows are left out because the graph would have too many boxes.
    pub is_truncated: bool,
}

/// A box of a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBox {
    /// Node that the box shows. If several nodes share a box because each is narrower than a pixel, the heaviest of
    /// them.
    pub node: u32,
    /// Number of nodes that the box shows.
    pub node_count: u32,
    /// Index of the parent box. The root is its own parent.
    pub parent: u32,
    /// Index of the row. The root is in row 0.
    pub row: u32,
    /// Left and right (exclusive) edge in device pixels. A box is at least one pixel wide and lies within its parent.
    pub x: [u32; 2],
    /// Weight of the node and its descendants.
    pub weight: Weight,
    /// Weights at the start and the end of the range of [`Scope::Change`]. `weight`, which determines the width, then
    /// counts the larger of both weights for each stack.
    pub ends: Ends,
    /// Bytes of `weight` that match the search.
    pub found: u64,
    /// True if the frame itself matches the search.
    pub matches: bool,
    /// Index of the box's label in [`FlamePage::labels`].
    pub label: u32,
    /// Palette slot of the node's call site in the timeline. `None` if the node is not a call site.
    pub slot: Option<u32>,
}

/// Approximate maximum number of boxes in a flame graph. A row of a wide window has a few thousand at most.
pub const MAX_BOXES: usize = 50_000;
