//! The live tree, brought from column to column.

use super::source::Source;
use super::standing::Standing;
use super::tree::LiveTree;
use super::visible::{Change, Changes, Visible};
use base::slice::{Slice, Sliced};

/// The tree at the moment of one column after another.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    /// What is live once all columns before `column` are applied, and a part of those of `column`.
    pub(super) tree: LiveTree,
    /// The live leaves that stand out, where anything does.
    pub(super) standing: Option<Standing>,
    pub(super) column: usize,
    /// How many of its changes were looked at.
    done: usize,
    /// The lowest leaf that they changed; `u32::MAX` for none.
    changed: u32,
}

impl Moving {
    /// Before the first column: nothing is live.
    pub(super) fn new(leaves: usize) -> Moving {
        Moving { tree: LiveTree::new(leaves), standing: None, column: 0, done: 0, changed: u32::MAX }
    }

    /// Brings the tree to the moment of the column in work, as far as changes are `wanted`: the lowest leaf that looks different
    /// there, `u32::MAX` for none.
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        (source, visible, changes): (&Source, &Visible, &Changes),
        wanted: impl Fn(Change) -> bool,
        slice: &mut Slice,
    ) -> Sliced<u32> {
        for change in changes.of(self.column, self.done) {
            if wanted(change) {
                let (Change::Goes(leaf) | Change::Comes(leaf)) = change;
                self.changed = self.changed.min(leaf);
                match change {
                    Change::Goes(leaf) => self.tree.remove(leaf),
                    Change::Comes(leaf) => self.tree.insert(leaf, source.allocations.size(visible.id(leaf))),
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
        let standing = self.standing.get_or_insert_with(|| Standing::new(visible.len()));
        match change {
            Change::Goes(leaf) => standing.remove(leaf),
            Change::Comes(leaf) if visible.stands_out(leaf) => standing.insert(leaf),
            Change::Comes(_) => {}
        }
    }
}
