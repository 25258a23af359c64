//! Layout of a tree of stacks as boxes in whole device pixels: children below their parent, with widths in proportion
//! to their weights, the heaviest at the left.
//!
//! Each edge is the exact number of bytes to its left, scaled and rounded down once. So the boxes of a row never
//! overlap, lie within their parent, and touch their neighbours. Children narrower than a pixel are merged into one box
//! per parent, with the exact sum of their weights.

use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use protocol::{Ends, FlameBox, MAX_BOXES, Weight};

/// Access to a tree, for its layout. Nodes are identified by ids. The id of the root is 0.
pub(super) trait TreeNodes {
    /// Returns the id of a node's parent. `None` for the root and for an unknown node.
    fn parent(&self, node: u32) -> Option<u32>;
    /// Returns the first child of a node. Children whose weight is zero may be skipped.
    fn first_child(&self, node: u32) -> Option<u32>;
    fn next_sibling(&self, node: u32) -> Option<u32>;
    /// Returns the total weight of a node, including all nodes below it.
    fn weight(&self, node: u32) -> Weight;
    /// Returns the live weight of a subtree at the start and at the end of the compared range.
    fn ends(&self, node: u32) -> Ends;
    /// Returns the bytes of a subtree that match the search.
    fn found(&self, node: u32) -> u64;
}

/// The children of a box that were visited so far.
#[derive(Debug, Default)]
struct VisitedChildren {
    /// Next child to visit.
    next_node: Option<u32>,
    /// Boxes that are at least one pixel wide. Narrower ones are merged into `narrow`.
    wide: Vec<FlameBox>,
    narrow: FlameBox,
    /// Bytes of the heaviest node that was merged into `narrow`.
    heaviest: u64,
}

/// The boxes of a tree that were laid out so far.
#[derive(Debug, Default)]
pub(super) struct Icicle {
    pub(super) boxes: Vec<FlameBox>,
    /// Index of the zoomed box, which fills the whole width.
    pub(super) zoom: usize,
    pub(super) is_cut: bool,
    /// Bytes to the left of each box, starting with the zoomed box.
    left_bytes: Vec<u64>,
    /// Index of the box whose children are laid out next. `children` contains those already visited.
    next: usize,
    children: Option<VisitedChildren>,
    width_px: u32,
}

impl Icicle {
    /// Starts the layout with the path from the root to the node `zoom`. Each box of this path fills the whole width.
    pub(super) fn new(nodes: &dyn TreeNodes, zoom: u32, width_px: u32) -> Icicle {
        let mut path = vec![zoom];
        while let Some(above) = path.last().and_then(|&node| nodes.parent(node)) {
            // A longer path would leave no room for boxes below it. Its lower half is the visible part.
            if path.len() >= MAX_BOXES / 2 {
                path.push(0);
                break;
            }
            path.push(above);
        }
        let to_box = |(row, &node): (u32, &u32)| FlameBox {
            row,
            parent: row.saturating_sub(1),
            x: [0, width_px],
            ..new_box(nodes, node)
        };
        let boxes: Vec<FlameBox> = (0..).zip(path.iter().rev()).map(to_box).collect();
        let zoom = boxes.len() - 1;
        Icicle { boxes, zoom, is_cut: false, left_bytes: vec![0], next: zoom, children: None, width_px }
    }

    /// Continues laying out the tree until it is complete or the time slice is used up.
    pub(super) fn step(&mut self, nodes: &dyn TreeNodes, slice: &mut TimeSlice) -> SliceResult {
        while let Some(&parent) = self.boxes.get(self.next) {
            if self.boxes.len() >= MAX_BOXES {
                self.is_cut = true;
                break;
            }
            if parent.node_count == 1 {
                self.layout_children(nodes, &parent, slice)?;
            }
            self.next += 1;
            slice.check()?;
        }
        Ok(())
    }

    /// Continues laying out the children of `parent`.
    fn layout_children(&mut self, nodes: &dyn TreeNodes, parent: &FlameBox, slice: &mut TimeSlice) -> SliceResult {
        let (whole, width) = (self.zoomed_bytes(), u128::from(self.width_px));
        let new = || VisitedChildren { next_node: nodes.first_child(parent.node), ..VisitedChildren::default() };
        let VisitedChildren { next_node: next, wide, narrow, heaviest } = self.children.get_or_insert_with(new);
        while let Some(node) = *next {
            slice.spend(2)?;
            *next = nodes.next_sibling(node);
            let child = new_box(nodes, node);
            let bytes = child.weight.bytes;
            if u128::from(bytes) * width >= u128::from(whole) && whole > 0 {
                wide.push(child);
            } else if child.weight.count > 0 {
                narrow.weight.add(child.weight);
                narrow.ends.iter_mut().zip(child.ends).for_each(|(sum, more)| sum.add(more));
                narrow.found = narrow.found.saturating_add(child.found);
                if narrow.node_count == 0 || bytes > *heaviest {
                    (narrow.node, *heaviest) = (node, bytes);
                }
                narrow.node_count += 1;
            }
        }
        let VisitedChildren { wide, narrow, .. } = self.children.take().unwrap_or_default();
        let wide = sorted_by_key(wide, |child| two_part_key(!child.weight.bytes, child.node.into()));
        let mut left = self.left_bytes.get(self.next - self.zoom).copied().unwrap_or(0);
        for child in wide.into_iter().chain([narrow]) {
            let right = left.saturating_add(child.weight.bytes);
            let x = [left, right].map(|bytes| self.to_px(bytes));
            if x[0] < x[1] {
                self.boxes.push(FlameBox { parent: self.next as u32, row: parent.row + 1, x, ..child });
                self.left_bytes.push(left);
            }
            left = right;
        }
        Ok(())
    }

    /// Returns the bytes of the zoomed box, which fills the whole width.
    fn zoomed_bytes(&self) -> u64 {
        self.boxes.get(self.zoom).map_or(0, |zoom| zoom.weight.bytes)
    }

    /// Converts bytes to a distance from the left edge in device pixels, rounded down.
    fn to_px(&self, bytes: u64) -> u32 {
        let whole = u128::from(self.zoomed_bytes().max(1));
        (u128::from(bytes) * u128::from(self.width_px) / whole).min(self.width_px.into()) as u32
    }
}

fn new_box(nodes: &dyn TreeNodes, node: u32) -> FlameBox {
    FlameBox {
        node,
        node_count: 1,
        weight: nodes.weight(node),
        ends: nodes.ends(node),
        found: nodes.found(node),
        ..FlameBox::default()
    }
}

#[cfg(test)]
#[path = "../../tests/units/engine/icicle.rs"]
mod tests;
