//! Row layout of a tree with open and closed nodes. All rows are computed, so that any window of them can be returned
//! at once.

use super::folds::{Done, Folds, otherwise};
use crate::answers::TreeView;
use crate::protocol::FoldState;
use base::column::Column;
use base::slice::{Slice, Sliced};

/// Slice steps per row and per sorted child.
const STEPS_A_ROW: u32 = 8;

/// A row of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) node: u32,
    pub(super) depth: u32,
    pub(super) forks: u32,
    pub(super) place: u32,
    pub(super) siblings: u32,
    pub(super) fold: FoldState,
}

/// Layout in progress.
pub(super) struct Layout {
    pub(super) rows: Column<Row>,
    /// The first row, until it has been added, and the action inherited by its descendants.
    top: Option<(Row, Done)>,
    /// Remaining children of the open nodes, the innermost last.
    waiting: Vec<Siblings>,
    steps: u32,
}

/// Children of an open node that have not all been added yet.
struct Siblings {
    nodes: Vec<u32>,
    next: usize,
    depth: u32,
    forks: u32,
    /// Action inherited from the parent.
    above: Done,
}

impl Layout {
    /// Starts a layout with node `top`.
    pub(super) fn new(view: TreeView<'_>, top: u32, folds: &Folds) -> Layout {
        let (fold, below) = folds.of(top, done_above(view, top, folds), FoldState::Open);
        let row = Row { node: top, depth: 0, forks: 0, place: 0, siblings: 1, fold };
        Layout { rows: Column::new(), top: Some((row, below)), waiting: Vec::new(), steps: 0 }
    }

    /// Adds all rows.
    pub(super) fn step(&mut self, view: TreeView<'_>, folds: &Folds, slice: &mut Slice) -> Sliced {
        loop {
            // Children of a node with very many are already sorted. For others, the steps include the cost of
            // sorting.
            slice.spend(self.steps)?;
            let Some((mut row, below)) = self.top.take().or_else(|| self.next(folds)) else { return Ok(()) };
            self.steps = STEPS_A_ROW;
            if view.child_count(row.node) == 0 {
                row.fold = FoldState::Leaf;
            }
            self.rows.push(row);
            if row.fold == FoldState::Open {
                let nodes = view.children(row.node).into_owned();
                self.steps = STEPS_A_ROW.saturating_mul(1 + nodes.len() as u32);
                let forks = row.forks + u32::from(nodes.len() > 1);
                self.waiting.push(Siblings { nodes, next: 0, depth: row.depth + 1, forks, above: below });
            }
        }
    }

    /// Returns the next row, and the action inherited by its descendants.
    fn next(&mut self, folds: &Folds) -> Option<(Row, Done)> {
        loop {
            let siblings = self.waiting.last_mut()?;
            let Some(&node) = siblings.nodes.get(siblings.next) else {
                self.waiting.pop();
                continue;
            };
            let (place, count) = (siblings.next as u32, siblings.nodes.len() as u32);
            siblings.next += 1;
            let (fold, below) = folds.of(node, siblings.above, otherwise(count));
            let row = Row { node, depth: siblings.depth, forks: siblings.forks, place, siblings: count, fold };
            return Some((row, below));
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|it| it.nodes.capacity() * size_of::<u32>()).sum();
        self.rows.heap_bytes() + waiting
    }
}

/// Returns the nodes from the root to the parent of `node`. Empty for the root.
pub(super) fn nodes_above(view: TreeView<'_>, node: u32) -> Vec<u32> {
    let mut above: Vec<u32> = std::iter::successors(view.parent(node), |&at| view.parent(at)).collect();
    above.reverse();
    above
}

/// Returns the action that `top` inherits from its ancestors.
pub(super) fn done_above(view: TreeView<'_>, top: u32, folds: &Folds) -> Done {
    let above = nodes_above(view, top).into_iter();
    above.fold(Done::default(), |done, node| folds.of(node, done, FoldState::Open).1)
}
