//! Which nodes of a tree are open: what a person did to them, and what holds where nobody did anything.

use crate::protocol::{Fold, FoldState, Reach};
use base::sorted::{pair, sorted_by_key};

/// What was done to a node or above it, and when: a later one overrules an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// From 1 on; 0: nothing was done.
    at: u32,
    state: FoldState,
}

/// What a person opened and closed, by node.
pub(super) struct Folds {
    by_node: Vec<(u32, Done, Reach)>,
}

impl Folds {
    /// The oldest first.
    pub(super) fn new(folds: &[Fold]) -> Folds {
        let told = folds.iter().zip(1..).filter(|(fold, _)| fold.state != FoldState::Leaf);
        let by_node: Vec<_> = told.map(|(fold, at)| (fold.node, Done { at, state: fold.state }, fold.reach)).collect();
        Folds { by_node: sorted_by_key(by_node, |&(node, done, _)| pair(node.into(), done.at.into())) }
    }

    /// Whether a node is open, given what was done to all that is below some node above it and what holds where nothing was done;
    /// and what was done to all below the node itself.
    pub(super) fn of(&self, node: u32, above: Done, otherwise: FoldState) -> (FoldState, Done) {
        let (mut own, mut below) = (above, above);
        let from = self.by_node.partition_point(|&(known, _, _)| known < node);
        for &(_, done, reach) in self.by_node.iter().skip(from).take_while(|&&(known, _, _)| known == node) {
            if done.at > own.at {
                own = done;
            }
            if reach == Reach::AllBelow && done.at > below.at {
                below = done;
            }
        }
        (if own.at == 0 { otherwise } else { own.state }, below)
    }
}

/// What holds for a node where nobody did anything: the only child of an open node is open.
pub(super) fn otherwise(siblings: u32) -> FoldState {
    if siblings == 1 { FoldState::Open } else { FoldState::Closed }
}

#[cfg(test)]
#[path = "../../../tests/units/engine/tree/folds.rs"]
mod tests;
