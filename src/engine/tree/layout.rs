//! The rows of a tree whose nodes are open or closed: all of them, one after another, so that any window of them is there at once.

use super::folds::{Done, Folds, otherwise};
use crate::engine::answers::TreeView;
use crate::engine::protocol::FoldState;

/// Rows between two questions for the time.
const ROWS_PER_CHECK: usize = 256;

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
    pub(super) rows: Vec<Row>,
    /// What comes next is the last of these.
    waiting: Vec<(Row, Done)>,
}

impl Layout {
    /// Begins with the top.
    pub(super) fn new(view: TreeView<'_>, top: u32, folds: &Folds) -> Layout {
        let (fold, below) = folds.of(top, done_above(view, top, folds), FoldState::Open);
        let row = Row { node: top, depth: 0, forks: 0, place: 0, siblings: 1, fold };
        Layout { rows: Vec::new(), waiting: vec![(row, below)] }
    }

    /// Lays out rows while there is time: `true` when done.
    pub(super) fn step(&mut self, view: TreeView<'_>, folds: &Folds, has_time: &mut dyn FnMut() -> bool) -> bool {
        let mut until_check = ROWS_PER_CHECK;
        while let Some((mut row, below)) = self.waiting.pop() {
            if !view.has_children(row.node) {
                row.fold = FoldState::Leaf;
            }
            self.rows.push(row);
            if row.fold == FoldState::Open {
                let children = view.children(row.node);
                let siblings = children.len() as u32;
                until_check = until_check.saturating_sub(children.len());
                let forks = row.forks + u32::from(siblings > 1);
                for (node, place) in children.into_iter().zip(0..siblings).rev() {
                    let (fold, below) = folds.of(node, below, otherwise(siblings));
                    self.waiting.push((Row { node, depth: row.depth + 1, forks, place, siblings, fold }, below));
                }
            }
            until_check = until_check.saturating_sub(1);
            if until_check == 0 {
                if !has_time() {
                    return false;
                }
                until_check = ROWS_PER_CHECK;
            }
        }
        true
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
