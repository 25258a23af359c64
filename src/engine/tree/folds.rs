//! State of tree nodes: open or closed. It comes from the user's actions. Nodes without an action have a default state.

use base::sorted::{sorted_by_key, two_part_key};
use protocol::{Fold, FoldScope, FoldState};

/// The latest user action that applies to a node. A later action overrides an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FoldAction {
    /// 1-based position in the list of actions. 0 means no action.
    sequence: u32,
    state: FoldState,
}

/// User actions that opened or closed nodes, sorted by node and then by time.
pub(super) struct Folds {
    by_node: Vec<(u32, FoldAction, FoldScope)>,
}

impl Folds {
    /// Creates the actions from a list in chronological order.
    pub(super) fn new(folds: &[Fold]) -> Folds {
        let actions = folds.iter().zip(1..).filter(|(fold, _)| fold.state != FoldState::Leaf);
        let by_node: Vec<_> = actions
            .map(|(fold, sequence)| (fold.node, FoldAction { sequence, state: fold.state }, fold.scope))
            .collect();
        Folds {
            by_node: sorted_by_key(by_node, |&(node, action, _)| two_part_key(node.into(), action.sequence.into())),
        }
    }

    /// Returns the state of a node, and the action that its descendants inherit. `above` is the action that the node
    /// inherits from its ancestors. `otherwise` is the state to return if no action applies.
    pub(super) fn resolve(&self, node: u32, above: FoldAction, otherwise: FoldState) -> (FoldState, FoldAction) {
        let (mut latest, mut below) = (above, above);
        let from = self.by_node.partition_point(|&(known, _, _)| known < node);
        for &(_, action, scope) in self.by_node.iter().skip(from).take_while(|&&(known, _, _)| known == node) {
            if action.sequence > latest.sequence {
                latest = action;
            }
            if scope == FoldScope::Subtree && action.sequence > below.sequence {
                below = action;
            }
        }
        (if latest.sequence == 0 { otherwise } else { latest.state }, below)
    }
}

/// Returns the default state of a node outside the heaviest path. `siblings` is the number of children of its parent.
/// An only child is open by default.
pub(super) fn default_state(siblings: u32) -> FoldState {
    if siblings == 1 { FoldState::Open } else { FoldState::Closed }
}

#[cfg(test)]
#[path = "../../../tests/units/engine/tree/folds.rs"]
mod tests;
