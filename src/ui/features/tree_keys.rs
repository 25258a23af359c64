//! Pointer input of the call tree.

use super::tree::{Tree, TreeScroll};
use crate::effect::Effect;
use crate::selecting::select;
use crate::shared::Shared;
use protocol::{FoldScope, FoldState, Merge};

/// Pointer and browser events of the call tree.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeAction {
    /// The list was scrolled or resized. Holds its offset and height in CSS pixels.
    Scrolled {
        top_px: f64,
        height_px: f64,
    },
    /// The row at this index was clicked.
    Clicked(u32),
    /// The row at this index was double-clicked, or its expander was clicked.
    Toggled(u32),
    /// A node of the breadcrumb path was clicked.
    Focused(u32),
    Merged(Merge),
}

/// Ways to merge frames, with their labels, in the order of the picker.
pub const MERGES: [(Merge, &str); 3] = [(Merge::Line, "line"), (Merge::Function, "function"), (Merge::File, "file")];

/// Handles a pointer or browser event.
pub(crate) fn handle_action(tree: &mut Tree, shared: &mut Shared, action: TreeAction, _: &mut Vec<Effect>) {
    match action {
        TreeAction::Scrolled { top_px, height_px } => {
            tree.scroll = TreeScroll { top_px: top_px.max(0.0), height_px: height_px.max(0.0), ..tree.scroll };
        }
        TreeAction::Clicked(row) => {
            tree.go_to(row);
            shared.views.node = tree.position.node.filter(|&node| node > 0);
        }
        TreeAction::Toggled(row) => {
            tree.go_to(row);
            toggle(tree);
        }
        TreeAction::Focused(node) => tree.focus_on(Some(node).filter(|&node| node > 0)),
        TreeAction::Merged(merge) => shared.views.arrangement.merge = merge,
    }
}

/// Selects the largest allocation of a row, once the worker has found it.
pub(crate) fn select_largest(
    tree: &mut Tree,
    shared: &mut Shared,
    serial: u32,
    allocation: Option<u32>,
    effects: &mut Vec<Effect>,
) {
    if tree.pending_heaviest.take_if(|asked| *asked == serial).is_none() {
        return;
    }
    match allocation {
        Some(allocation) => select(shared, allocation, effects),
        None => shared.remark = Some("There is no allocation here.".to_owned()),
    }
}

/// Expands or collapses the row.
pub(crate) fn toggle(tree: &mut Tree) {
    let Some(row) = tree.active_row() else { return };
    let (node, fold) = (row.node, row.fold);
    match fold {
        FoldState::Leaf => {}
        FoldState::Open => tree.position.fold(node, FoldScope::Node, FoldState::Closed),
        FoldState::Closed => tree.position.fold(node, FoldScope::Node, FoldState::Open),
    }
}
