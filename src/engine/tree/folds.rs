//! State of open and closed tree nodes: the user's actions, and the default for all other nodes.

use crate::protocol::{Fold, FoldScope, FoldState};
use base::sorted::{sorted_by_key, two_part_key};

/// The latest user action that applies to a node. A later action overrides an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FoldAction {
    /// Position in the list of actions, from 1. 0 means no action.
    sequence: u32,
    state: FoldState,
}

/// User actions that opened or closed nodes, sorted by node.
pub(super) struct Folds {
    by_node: Vec<(u32, FoldAction, FoldScope)>,
}

impl Folds {
    /// Creates the state from actions in chronological order.
    pub(super) fn new(folds: &[Fold]) -> Folds {
        let actions = folds.iter().zip(1..).filter(|(fold, _)| fold.state != FoldState::Leaf);
        let by_node: Vec<_> = actions
            .map(|(fold, sequence)| (fold.node, FoldAction { sequence, state: fold.state }, fold.scope))
            .collect();
        Folds { by_node: sorted_by_key(by_node, |&(node, done, _)| two_part_key(node.into(), done.sequence.into())) }
    }

    /// Returns whether a node is open, and the action that applies to its descendants. `above` is the action
    /// inherited from its ancestors. `otherwise` is the default.
    pub(super) fn resolve(&self, node: u32, above: FoldAction, otherwise: FoldState) -> (FoldState, FoldAction) {
        let (mut own, mut below) = (above, above);
        let from = self.by_node.partition_point(|&(known, _, _)| known < node);
        for &(_, done, reach) in self.by_node.iter().skip(from).take_while(|&&(known, _, _)| known == node) {
            if done.sequence > own.sequence {
                own = done;
            }
            if reach == FoldScope::Subtree && done.sequence > below.sequence {
                below = done;
            }
        }
        (if own.sequence == 0 { otherwise } else { own.state }, below)
    }
}

/// Returns the default state of a node. The only child of an open node is open.
pub(super) fn default_state(siblings: u32) -> FoldState {
    if siblings == 1 { FoldState::Open } else { FoldState::Closed }
}

#[cfg(test)]
#[path = "../../../tests/units/engine/tree/folds.rs"]
mod tests;
