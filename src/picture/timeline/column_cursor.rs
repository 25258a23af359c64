//! Tree of live allocations, updated from column to column.

use super::highlight_set::HighlightSet;
use super::source::Source;
use super::tree::LiveTree;
use super::visible::{Change, Changes, Visible};
use base::slice::{SliceResult, TimeSlice};

/// Tree of live allocations at the current column.
#[derive(Clone, Debug)]
pub(super) struct ColumnCursor {
    /// Allocations that are live once all columns before `column`, and the first `done` changes of `column`, are
    /// applied.
    pub(super) tree: LiveTree,
    /// Live leaves that are highlighted. `None` if there is no highlight.
    pub(super) highlighted: Option<HighlightSet>,
    pub(super) column: usize,
    /// Number of changes in `column` that have been applied.
    done: usize,
    /// Lowest leaf affected by the applied changes, or `u32::MAX`.
    changed: u32,
}

impl ColumnCursor {
    /// Creates a cursor before the first column, with an empty tree.
    pub(super) fn new(leaves: usize) -> ColumnCursor {
        ColumnCursor { tree: LiveTree::new(leaves), highlighted: None, column: 0, done: 0, changed: u32::MAX }
    }

    /// Applies the changes of the current column for which `wanted` returns true, and moves to the next column. Returns
    /// the lowest leaf that is drawn differently than in the previous column, or `u32::MAX`.
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        (source, visible, changes): (&Source, &Visible, &Changes),
        wanted: impl Fn(Change) -> bool,
        slice: &mut TimeSlice,
    ) -> SliceResult<u32> {
        for change in changes.in_column(self.column, self.done) {
            if wanted(change) {
                let (Change::Leave(leaf) | Change::Enter(leaf)) = change;
                self.changed = self.changed.min(leaf);
                match change {
                    Change::Leave(leaf) => self.tree.remove(leaf),
                    Change::Enter(leaf) => self.tree.insert(leaf, source.allocations.size(visible.id(leaf))),
                }
                if source.highlight.is_some() {
                    self.mark(visible, change);
                }
            }
            self.done += 1;
            slice.spend(2)?;
        }
        let changed = changes.lowest_pending_from(self.column).map_or(self.changed, |leaf| leaf.min(self.changed));
        self.column += 1;
        (self.done, self.changed) = (0, u32::MAX);
        Ok(changed)
    }

    fn mark(&mut self, visible: &Visible, change: Change) {
        let highlighted = self.highlighted.get_or_insert_with(|| HighlightSet::new(visible.len()));
        match change {
            Change::Leave(leaf) => highlighted.remove(leaf),
            Change::Enter(leaf) if visible.is_highlighted(leaf) => highlighted.insert(leaf),
            Change::Enter(_) => {}
        }
    }
}
