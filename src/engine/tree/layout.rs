//! The rows of a tree whose nodes are open or closed: all of them, one after another, so that any window of them is there at once.

use super::folds::{Done, Folds, otherwise};
use crate::answers::TreeView;
use crate::protocol::FoldState;
use base::column::Column;
use base::slice::{Slice, Sliced};

/// Steps that a row takes, and a child that is sorted.
const STEPS_A_ROW: u32 = 8;

/// A row of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) node: u32,
    pub(super) depth: u32,
    pub(super) forks: u32,
    pub(super) place: u32,
    pub(super) siblings: u32,
    pub(super) fold: FoldState,
}

/// The rows, as far as they are laid out.
pub(super) struct Layout {
    pub(super) rows: Column<Row>,
    /// What was done to all below the top, until its row is there.
    top: Option<(Row, Done)>,
    /// The children of open nodes, those of the innermost last.
    waiting: Vec<Siblings>,
    steps: u32,
}

/// Children of an open node whose rows come next.
struct Siblings {
    nodes: Vec<u32>,
    next: usize,
    depth: u32,
    forks: u32,
    /// What was done to all below their parent.
    above: Done,
}

impl Layout {
    /// Begins with the top.
    pub(super) fn new(view: TreeView<'_>, top: u32, folds: &Folds) -> Layout {
        let (fold, below) = folds.of(top, done_above(view, top, folds), FoldState::Open);
        let row = Row { node: top, depth: 0, forks: 0, place: 0, siblings: 1, fold };
        Layout { rows: Column::new(), top: Some((row, below)), waiting: Vec::new(), steps: 0 }
    }

    /// Lays out rows.
    pub(super) fn step(&mut self, view: TreeView<'_>, folds: &Folds, slice: &mut Slice) -> Sliced {
        loop {
            // Those of a node with very many are in their order already; of others, sorting counts as well.
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

    /// The row that comes next, and what was done to all below it.
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

/// The nodes from the root down to `node`'s parent, the root first; nothing for the root.
pub(super) fn nodes_above(view: TreeView<'_>, node: u32) -> Vec<u32> {
    let mut above: Vec<u32> = std::iter::successors(view.parent(node), |&at| view.parent(at)).collect();
    above.reverse();
    above
}

/// What was done to all that is below some node above `top`.
pub(super) fn done_above(view: TreeView<'_>, top: u32, folds: &Folds) -> Done {
    let above = nodes_above(view, top).into_iter();
    above.fold(Done::default(), |done, node| folds.of(node, done, FoldState::Open).1)
}
