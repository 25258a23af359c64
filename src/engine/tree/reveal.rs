//! Finds the node to reveal, and the nodes that have to be opened to make it visible.

use super::folds::{Folds, default_state};
use super::layout::{ancestors, inherited_action};
use crate::stack_trees::TreeView;
use analysis::IdSet;
use base::slice::{SliceResult, TimeSlice};
use protocol::{Fold, FoldScope, FoldState};

/// Returns whether `node` is `top` or one of its descendants.
pub(super) fn is_within(view: TreeView<'_>, top: u32, node: u32) -> bool {
    // Parents have lower numbers than their children.
    let mut path = std::iter::successors(Some(node), |&node| view.parent(node)).take_while(|&node| node >= top);
    path.any(|node| node == top)
}

/// Returns the nodes that have to be opened so that `node` is visible among the rows below `top`.
pub(super) fn nodes_to_open(view: TreeView<'_>, top: u32, node: u32, folds: &Folds) -> Vec<Fold> {
    let mut above = inherited_action(view, top, folds);
    let mut siblings = 1;
    let mut opened = Vec::new();
    for node in ancestors(view, node).into_iter().skip_while(|&node| node != top) {
        let otherwise = if node == top { FoldState::Open } else { default_state(siblings) };
        let (state, below) = folds.resolve(node, above, otherwise);
        if state != FoldState::Open {
            opened.push(Fold { node, scope: FoldScope::Node, state: FoldState::Open });
        }
        above = below;
        siblings = view.child_count(node);
    }
    opened
}

/// The nodes whose frames match a search, and the ancestors of these nodes.
pub(super) struct MatchPaths {
    pub(super) classes: IdSet,
    nodes: IdSet,
    /// Number of nodes examined so far. They are examined from the last to the first.
    next: usize,
}

base::heap_bytes!(MatchPaths: classes, nodes);

impl MatchPaths {
    /// Creates an empty set. [`MatchPaths::step`] adds the nodes whose frame class is in `classes`.
    pub(super) fn new(view: TreeView<'_>, classes: IdSet) -> MatchPaths {
        MatchPaths { classes, nodes: IdSet::with_bound(view.len()), next: 0 }
    }

    /// Continues examining nodes until all are examined or the time slice is used up.
    pub(super) fn step(&mut self, view: TreeView<'_>, slice: &mut TimeSlice) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.next, view.len(), 1)? {
            for node in part.map(|next| (view.len() - 1 - next) as u32) {
                let has_weight = view.weight(node).count > 0;
                if has_weight && (self.nodes.contains(node) || view.is_in_classes(&self.classes, node)) {
                    self.nodes.insert(node);
                    view.parent(node).into_iter().for_each(|parent| self.nodes.insert(parent));
                }
            }
        }
        Ok(())
    }

    fn first_of(&self, nodes: &[u32]) -> Option<u32> {
        nodes.iter().copied().find(|&child| self.nodes.contains(child))
    }

    fn last_of(&self, nodes: &[u32]) -> Option<u32> {
        nodes.iter().copied().rfind(|&child| self.nodes.contains(child))
    }

    /// Returns the first match in row order among `node` and its descendants.
    fn first(&self, view: TreeView<'_>, node: u32) -> Option<u32> {
        let mut current = node;
        while !view.is_in_classes(&self.classes, current) {
            current = self.first_of(&view.children(current))?;
        }
        Some(current)
    }

    /// Returns the last match in row order among `node` and its descendants.
    fn last(&self, view: TreeView<'_>, node: u32) -> u32 {
        std::iter::successors(Some(node), |&node| self.last_of(&view.children(node))).last().unwrap_or(node)
    }

    /// Returns the next match after `node`, in the order of the rows below `top`. Wraps around to the first match.
    pub(super) fn after(&self, view: TreeView<'_>, top: u32, node: u32) -> Option<u32> {
        if let Some(child) = self.first_of(&view.children(node)) {
            return self.first(view, child);
        }
        let mut current = node;
        while current != top {
            let parent = view.parent(current)?;
            let siblings = view.children(parent);
            let index = siblings.iter().position(|&child| child == current);
            let later = index.and_then(|index| siblings.get(index + 1..));
            if let Some(next) = later.and_then(|later| self.first_of(later)) {
                return self.first(view, next);
            }
            current = parent;
        }
        self.first(view, top)
    }

    /// Returns the last match before `node`, in the order of the rows below `top`. Wraps around to the last match.
    pub(super) fn before(&self, view: TreeView<'_>, top: u32, node: u32) -> Option<u32> {
        let mut current = node;
        while current != top {
            let parent = view.parent(current)?;
            let siblings = view.children(parent);
            let index = siblings.iter().position(|&child| child == current);
            let earlier = index.and_then(|index| siblings.get(..index));
            if let Some(next) = earlier.and_then(|earlier| self.last_of(earlier)) {
                return Some(self.last(view, next));
            }
            if view.is_in_classes(&self.classes, parent) {
                return Some(parent);
            }
            current = parent;
        }
        Some(self.last(view, top)).filter(|&last| view.is_in_classes(&self.classes, last))
    }
}
