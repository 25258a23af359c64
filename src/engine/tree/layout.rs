//! Row layout of a tree with open and closed nodes. All rows are computed in advance, so that any range of rows can be
//! returned immediately.

use super::folds::{FoldAction, Folds, default_state};
use crate::stack_trees::TreeView;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use protocol::{FoldState, NodeKind};

/// Cost of a row and of a sorted child, in steps of the time slice.
const STEPS_PER_ROW: u32 = 8;

/// A row of the tree, which shows one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) node: u32,
    pub(super) depth: u32,
    pub(super) indent: u32,
    pub(super) sibling_index: u32,
    pub(super) siblings: u32,
    pub(super) fold: FoldState,
}

/// Time-sliced computation of the rows of a tree.
pub(super) struct RowLayout {
    pub(super) rows: Column<Row>,
    /// The first row. `None` once the row was added.
    top: Option<NewRow>,
    /// Children that were not added yet, for each open node on the current path, outermost node first.
    open_siblings: Vec<Siblings>,
    steps: u32,
}

base::heap_bytes!(RowLayout: rows, [open_siblings]);

/// A row that is added next.
struct NewRow {
    row: Row,
    /// Action that the descendants inherit.
    below: FoldAction,
    /// True if the heaviest path continues below this row. It ends at the first frame of the user's own code.
    is_heaviest: bool,
}

/// The children of an open node that were not added yet.
struct Siblings {
    nodes: Vec<u32>,
    next: usize,
    depth: u32,
    forks: u32,
    /// Action that the children inherit from their parent.
    above: FoldAction,
    is_heaviest: bool,
}

base::heap_bytes!(Siblings: nodes);

impl RowLayout {
    /// Creates a layout whose first row is the node `top`.
    pub(super) fn new(view: TreeView<'_>, top: u32, folds: &Folds) -> RowLayout {
        let (fold, below) = folds.resolve(top, inherited_action(view, top, folds), FoldState::Open);
        let row = Row { node: top, depth: 0, indent: 0, sibling_index: 0, siblings: 1, fold };
        let top = NewRow { row, below, is_heaviest: view.kind(top) != NodeKind::User };
        RowLayout { rows: Column::new(), top: Some(top), open_siblings: Vec::new(), steps: 0 }
    }

    /// Continues adding rows until all are added or the time slice is used up.
    pub(super) fn step(&mut self, view: TreeView<'_>, folds: &Folds, slice: &mut TimeSlice) -> SliceResult {
        loop {
            // Children of a node with very many are already sorted. For others, the steps include the cost of
            // sorting.
            slice.spend(self.steps)?;
            let next = self.top.take().or_else(|| self.next(view, folds));
            let Some(NewRow { mut row, below, is_heaviest }) = next else { return Ok(()) };
            self.steps = STEPS_PER_ROW;
            if view.child_count(row.node) == 0 {
                row.fold = FoldState::Leaf;
            }
            self.rows.push(row);
            if row.fold == FoldState::Open {
                let nodes = view.children(row.node).into_owned();
                self.steps = STEPS_PER_ROW.saturating_mul(1 + nodes.len() as u32);
                let forks = row.indent + u32::from(nodes.len() > 1);
                self.open_siblings.push(Siblings {
                    nodes,
                    next: 0,
                    depth: row.depth + 1,
                    forks,
                    above: below,
                    is_heaviest,
                });
            }
        }
    }

    /// Returns the next row. `None` after the last row.
    fn next(&mut self, view: TreeView<'_>, folds: &Folds) -> Option<NewRow> {
        loop {
            let siblings = self.open_siblings.last_mut()?;
            let Some(&node) = siblings.nodes.get(siblings.next) else {
                self.open_siblings.pop();
                continue;
            };
            let (sibling_index, count) = (siblings.next as u32, siblings.nodes.len() as u32);
            siblings.next += 1;
            let is_heaviest = siblings.is_heaviest
                && sibling_index == 0
                && !matches!(view.kind(node), NodeKind::User | NodeKind::Note);
            let otherwise = if is_heaviest { FoldState::Open } else { default_state(count) };
            let (fold, below) = folds.resolve(node, siblings.above, otherwise);
            let row = Row { node, depth: siblings.depth, indent: siblings.forks, sibling_index, siblings: count, fold };
            return Some(NewRow { row, below, is_heaviest });
        }
    }
}

/// Returns the nodes from the root to the parent of `node`. Empty if `node` is the root.
pub(super) fn ancestors(view: TreeView<'_>, node: u32) -> Vec<u32> {
    let mut ancestors: Vec<u32> = std::iter::successors(view.parent(node), |&node| view.parent(node)).collect();
    ancestors.reverse();
    ancestors
}

/// Returns the user action that the node `top` inherits from its ancestors.
pub(super) fn inherited_action(view: TreeView<'_>, top: u32, folds: &Folds) -> FoldAction {
    let ancestors = ancestors(view, top).into_iter();
    ancestors.fold(FoldAction::default(), |action, node| folds.resolve(node, action, FoldState::Open).1)
}
