//! What a flame graph is asked and tells: the boxes of a tree of stacks in whole device pixels.

use super::{Arrangement, Ends, NodeLabel, Scope, Weight};
use serde::{Deserialize, Serialize};

/// What a flame graph shall show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameQuestion {
    pub scope: Scope,
    pub arrangement: Arrangement,
    /// The node that fills the width; `None` and nodes that there are not: the root, numbered 0.
    pub zoom: Option<u32>,
    /// How wide that is, in device pixels.
    pub width_px: u32,
    /// The search whose matches are marked, by its serial.
    pub find: Option<u32>,
    /// The allocation whose box is to be told.
    pub allocation: Option<u32>,
}

/// The boxes of a flame graph: at most [`MOST_BOXES`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlamePage {
    pub total: Weight,
    /// The same at both ends of a change.
    pub ends: Ends,
    pub found: Weight,
    /// The boxes, the root first, then row by row; in a row from left to right.
    pub boxes: Vec<FlameBox>,
    /// Which of them fills the width: those before it are the way to it and as wide.
    pub zoom: u32,
    pub labels: Vec<NodeLabel>,
    /// Which box the allocation is in: that of its stack, or the last above it that is drawn.
    pub revealed: Option<u32>,
    /// Whether there are rows below the last that are left out, because they would be too many boxes.
    pub is_cut: bool,
}

/// A box of a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBox {
    /// The node. Where the box stands for several that are narrower than a pixel each, the heaviest of them.
    pub node: u32,
    /// How many nodes it stands for.
    pub nodes: u32,
    /// The place of the box that it belongs to, one row nearer to the root; its own for the root.
    pub parent: u32,
    /// The row, from the root's, which is 0.
    pub row: u32,
    /// Left and right edge in device pixels, right exclusive: never empty, inside those of the parent.
    pub x: [u32; 2],
    /// What is in it and below it.
    pub weight: Weight,
    /// The same at both ends of a change; `weight`, which makes the width, is then, stack by stack, the larger of them.
    pub ends: Ends,
    /// Bytes of that which the search found.
    pub found: u64,
    /// Whether its own frame is what the search looks for.
    pub matches: bool,
    /// Its name: the place among the labels.
    pub label: u32,
    /// The slot of the palette that allocations of this call site have in the timeline; `None` for what is no call site.
    pub slot: Option<u32>,
}

/// A flame graph has at most about as many boxes as this; a row of a wide window has some thousands at most.
pub const MOST_BOXES: usize = 50_000;
