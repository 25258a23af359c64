//! Pointer input of the call tree.

use crate::features::tree::{Tree, TreeScroll};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use protocol::{Arrangement, FoldScope, FoldState, Merge};

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

/// Handles a pointer or browser event.
pub(crate) fn handle_action(tree: &mut Tree, shared: &Shared, action: TreeAction, out: &mut Outbox) {
    match action {
        TreeAction::Scrolled { top_px, height_px } => {
            tree.scroll = TreeScroll { top_px: top_px.max(0.0), height_px: height_px.max(0.0), ..tree.scroll };
        }
        TreeAction::Clicked(row) => {
            tree.go_to(row);
            out.intend(Intent::Node(tree.position.node.filter(|&node| node > 0)));
        }
        TreeAction::Toggled(row) => {
            tree.go_to(row);
            toggle(tree);
        }
        TreeAction::Focused(node) => tree.focus_on(Some(node).filter(|&node| node > 0)),
        TreeAction::Merged(merge) => out.intend(Intent::Arrange(Arrangement { merge, ..shared.views.arrangement })),
    }
}

/// Selects the largest allocation of a row, once the worker has found it.
pub(crate) fn select_largest(tree: &mut Tree, serial: u32, allocation: Option<u32>, out: &mut Outbox) {
    if tree.pending_heaviest.take_if(|asked| *asked == serial).is_none() {
        return;
    }
    match allocation {
        Some(_) => out.intend(Intent::Select(allocation)),
        None => out.say("There is no allocation here."),
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
