//! State of the call tree: loaded rows, scroll offset, and which nodes are focused, expanded and collapsed.

use protocol::{Arrangement, Fold, FoldScope, FoldState, NodeLabel, Reveal, Scope, TreePage, TreeQuestion, TreeRow};
use std::rc::Rc;

/// Height of a row in CSS pixels. The style sheet has the same value.
pub const ROW_PX: f64 = 22.0;

/// Number of rows requested beyond the visible ones, on either side.
pub(crate) const MARGIN: u32 = 96;

/// Maximum number of focus changes that the Back command can undo.
pub(crate) const MAX_FOCUS_STEPS: usize = 64;

/// State of the call tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Load id of the file and index of the device that the tree shows.
    pub(crate) source: (u32, usize),
    /// Arrangement that `position` belongs to.
    pub(crate) arrangement: Arrangement,
    /// Focus, folds and active row in the current arrangement.
    pub(crate) position: TreePosition,
    /// Saved focus, folds and active row of other arrangements.
    pub(crate) positions: Vec<(Arrangement, TreePosition)>,
    pub scroll: TreeScroll,
    /// Row that the next request locates and scrolls to.
    pub(crate) reveal_next: Option<Reveal>,
    pub(crate) pending: Option<PendingRows>,
    pub(crate) reply: Option<(TreeQuestion, Rc<TreePage>)>,
    /// Serial number of the pending request for the largest allocation of a row.
    pub(crate) pending_heaviest: Option<u32>,
    /// Number of replies so far.
    pub(crate) reply_count: u32,
    /// Name of the node in the first row.
    pub(crate) top_name: String,
    /// The last selected node to which the tree has scrolled, or for which scrolling was not needed.
    pub(crate) handled_node: Option<u32>,
    /// Result of the last search for the row of the selected allocation.
    pub(crate) selection_row: Option<SelectionRow>,
}

impl Tree {
    /// Returns the latest page of rows.
    pub fn page(&self) -> Option<&Rc<TreePage>> {
        self.reply.as_ref().map(|(_, page)| page)
    }

    /// Returns the request that the last reply answers.
    pub(crate) fn last_question(&self) -> Option<&TreeQuestion> {
        self.reply.as_ref().map(|(question, _)| question)
    }

    /// Returns the row at this index, if it is loaded.
    pub fn row(&self, index: u32) -> Option<&TreeRow> {
        let page = self.page()?;
        page.rows.get(index.checked_sub(page.first)? as usize)
    }

    /// Returns the label of a node, if it is among the loaded rows.
    pub(crate) fn label(&self, node: u32) -> Option<&NodeLabel> {
        self.page()?.rows.iter().find(|row| row.node == node).map(|row| &row.label)
    }

    /// Returns the index of the active row.
    pub fn active(&self) -> u32 {
        self.position.row
    }

    /// Returns the active row, if it is loaded. `None` while the loaded rows belong to another arrangement or top node.
    pub fn active_row(&self) -> Option<&TreeRow> {
        let tree = (self.arrangement, self.position.focus);
        self.last_question().filter(|known| (known.arrangement, known.focus) == tree)?;
        self.row(self.position.row)
    }

    /// Returns the number of rows in the whole tree, as of the last reply.
    pub(crate) fn row_count(&self) -> u32 {
        self.page().map_or(0, |page| page.row_count)
    }

    /// Makes a row active and scrolls to it.
    pub(crate) fn go_to(&mut self, row: u32) {
        let row_count = self.row_count();
        self.position.row = row.min(row_count.saturating_sub(1));
        self.position.node = self.active_row().map(|row| row.node);
        self.scroll.show(self.position.row, row_count);
    }

    /// Requests the row of a target. The row becomes active and is scrolled into view once the worker has located it.
    pub(crate) fn reveal(&mut self, reveal: Reveal) {
        self.reveal_next = Some(reveal);
    }

    /// Shows only a node and its descendants, or the whole tree for `None`.
    pub(crate) fn focus_on(&mut self, focus: Option<u32>) {
        if focus == self.position.focus {
            return;
        }
        if self.position.history.len() >= MAX_FOCUS_STEPS {
            self.position.history.remove(0);
        }
        self.position.history.push(self.position.focus);
        self.set_top(focus);
    }

    /// Undoes the last [`Tree::focus_on`].
    pub(crate) fn focus_back(&mut self) {
        if let Some(earlier) = self.position.history.pop() {
            // The active row stays active.
            let node_before = self.position.node;
            self.set_top(earlier);
            if let Some(node) = node_before {
                self.reveal(Reveal::Node(node));
            }
        }
    }

    pub(crate) fn set_top(&mut self, focus: Option<u32>) {
        self.position.focus = focus;
        (self.position.row, self.position.node) = (0, None);
        self.scroll.move_to(0.0, 0);
    }

    /// Returns true if the last reply answers this request, apart from the range of rows.
    pub(crate) fn is_reply_to(&self, question: &TreeQuestion) -> bool {
        self.last_question().is_some_and(|known| {
            (known.scope, known.arrangement, known.focus, known.search_serial)
                == (question.scope, question.arrangement, question.focus, question.search_serial)
                && known.folds == question.folds
        })
    }

    /// Returns true if all visible rows are loaded.
    pub(crate) fn has_visible_rows(&self) -> bool {
        let Some(page) = self.page() else { return false };
        let [first, beyond] = self.scroll.visible_rows();
        let end = page.first.saturating_add(u32::try_from(page.rows.len()).unwrap_or(u32::MAX));
        let beyond = beyond.min(page.row_count);
        first >= beyond || (page.first <= first && beyond <= end)
    }

    /// Returns true if the last request was for exactly these rows, so that another request would not load more.
    pub(crate) fn was_asked(&self, rows: [u32; 2]) -> bool {
        self.last_question().is_some_and(|known| known.rows == rows && known.reveal.is_none())
    }

    pub(crate) fn on_page(&mut self, serial: u32, page: TreePage) {
        let Some(PendingRows { mut question, after_reveal, .. }) = self.pending.take_if(|asked| asked.serial == serial)
        else {
            return;
        };
        self.reply_count = self.reply_count.wrapping_add(1);
        let nothing_folded_since = question.folds == self.position.folds;
        if question.arrangement == self.arrangement {
            page.opened.iter().for_each(|&node| self.position.fold(node, FoldScope::Node, FoldState::Open));
        }
        if nothing_folded_since {
            question.folds.clone_from(&self.position.folds);
        }
        if let Some(top) = page.rows.first().filter(|_| page.first == 0) {
            self.top_name.clone_from(&top.label.name);
        }
        if question.arrangement != self.arrangement || question.focus != self.position.focus {
            // Rows of another tree. They stay visible, but do not affect the position.
            self.reply = Some((question, Rc::new(page)));
            return;
        }
        if let (Some(Reveal::Allocation(allocation)), found) = (question.reveal, page.revealed) {
            let TreeQuestion { scope, arrangement, focus, .. } = question;
            self.selection_row =
                Some(SelectionRow { allocation, arrangement, node: found.map(|(_, node)| node), scope, focus });
        }
        match (page.revealed, after_reveal) {
            (Some((row, node)), AfterReveal::Activate) => {
                (self.position.row, self.position.node) = (row, Some(node));
                self.scroll.show_centred(row, page.row_count);
            }
            (Some((row, node)), AfterReveal::KeepOnScreen) if self.position.node == Some(node) => {
                let shift = f64::from(row) - f64::from(self.position.row);
                self.position.row = row;
                self.scroll.move_to(self.scroll.top_px + shift * ROW_PX, page.row_count);
            }
            _ => {}
        }
        self.position.row = self.position.row.min(page.row_count.saturating_sub(1));
        self.scroll.move_to(self.scroll.top_px, page.row_count);
        self.reply = Some((question, Rc::new(page)));
        // If the active node was not located, the row that now has its index becomes active.
        self.position.node = self.active_row().map(|row| row.node).or(self.position.node);
    }
}

/// State of the tree in one arrangement: focused node, folds and active row.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreePosition {
    /// Node in the first row. `None` for the root.
    pub(crate) focus: Option<u32>,
    /// Previous values of `focus`, oldest first.
    pub(crate) history: Vec<Option<u32>>,
    pub(crate) folds: Vec<Fold>,
    /// Index of the active row.
    pub(crate) row: u32,
    /// Node of the active row, once it is known.
    pub(crate) node: Option<u32>,
}

impl TreePosition {
    /// Expands or collapses a node. Removes earlier changes that this one overrides.
    pub(crate) fn fold(&mut self, node: u32, scope: FoldScope, state: FoldState) {
        let is_all = node == 0 && scope == FoldScope::Subtree;
        let stays = |fold: &Fold| fold.node != node || (fold.scope, scope) == (FoldScope::Subtree, FoldScope::Node);
        self.folds.retain(|fold| !is_all && stays(fold));
        self.folds.push(Fold { node, scope, state });
    }
}

/// Scroll state of the rows, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeScroll {
    pub top_px: f64,
    pub height_px: f64,
    /// Increases whenever the list must be scrolled to `top_px`. Does not change when the user scrolls.
    pub version: u32,
}

impl TreeScroll {
    /// Returns the half-open range of visible rows, including partly visible ones.
    pub fn visible_rows(&self) -> [u32; 2] {
        // Casts from float saturate.
        let first = (self.top_px / ROW_PX).floor() as u32;
        [first, first.saturating_add((self.height_px / ROW_PX).ceil() as u32).saturating_add(1)]
    }

    /// Returns the number of fully visible rows. At least one.
    pub(crate) fn rows_per_page(&self) -> u32 {
        ((self.height_px / ROW_PX).floor() as u32).max(1)
    }

    pub(crate) fn move_to(&mut self, top_px: f64, row_count: u32) {
        let max_px = (f64::from(row_count) * ROW_PX - self.height_px).max(0.0);
        let top_px = top_px.clamp(0.0, max_px);
        if top_px != self.top_px {
            (self.top_px, self.version) = (top_px, self.version.wrapping_add(1));
        }
    }

    /// Scrolls a row into view by the shortest distance.
    pub(crate) fn show(&mut self, row: u32, row_count: u32) {
        let (top, bottom) = (f64::from(row) * ROW_PX, (f64::from(row) + 1.0) * ROW_PX);
        if top < self.top_px {
            self.move_to(top, row_count);
        } else if bottom > self.top_px + self.height_px {
            self.move_to(bottom - self.height_px, row_count);
        }
    }

    /// If a row is out of view, scrolls so that the row is a third below the top.
    pub(crate) fn show_centred(&mut self, row: u32, row_count: u32) {
        let top = f64::from(row) * ROW_PX;
        if top < self.top_px || top + ROW_PX > self.top_px + self.height_px {
            self.move_to(top - (self.height_px / 3.0).max(0.0), row_count);
        }
    }

    pub(crate) fn is_visible(&self, row: u32) -> bool {
        let [first, beyond] = self.visible_rows();
        (first..beyond).contains(&row)
    }
}

/// Result of the search for the row of the selected allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SelectionRow {
    pub(crate) allocation: u32,
    pub(crate) arrangement: Arrangement,
    /// Node for the allocation's stack. `None` if the tree has no such node. Node ids are the same in all scopes of an
    /// arrangement.
    pub(crate) node: Option<u32>,
    /// Scope of the tree that was searched.
    pub(crate) scope: Scope,
    pub(crate) focus: Option<u32>,
}

/// A pending request for rows.
#[derive(Clone, Debug)]
pub(crate) struct PendingRows {
    pub(crate) serial: u32,
    pub(crate) question: TreeQuestion,
    pub(crate) after_reveal: AfterReveal,
}

/// Action for the row that the worker has located.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AfterReveal {
    /// The row is already active, and keeps its position on the screen.
    KeepOnScreen,
    /// The row becomes active and is scrolled into view.
    Activate,
}
