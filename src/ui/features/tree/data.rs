//! State of the call tree: loaded rows, scroll offset, focus and folds.

use engine::protocol::{
    Arrangement, Fold, FoldState, NodeLabel, Reach, Reveal, Scope, TreePage, TreeQuestion, TreeRow,
};
use std::rc::Rc;

/// Height of a row in CSS pixels. The style sheet has the same value.
pub const ROW_PX: f64 = 22.0;

/// Number of rows requested beyond the visible ones, on either side.
pub(crate) const MARGIN: u32 = 96;

/// Maximum number of steps that Back can undo.
pub(crate) const MOST_STEPS: usize = 64;

/// State of the call tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Load number and device index of the tree.
    pub(crate) of: (u32, usize),
    /// Arrangement that `place` belongs to.
    pub(crate) arranged: Arrangement,
    /// Current position.
    pub(crate) place: TreePosition,
    /// Positions in other arrangements.
    pub(crate) shelf: Vec<(Arrangement, TreePosition)>,
    pub scroll: Scroll,
    /// Row to scroll to next.
    pub(crate) wanted: Option<Reveal>,
    pub(crate) asked: Option<PendingRows>,
    pub(crate) known: Option<(TreeQuestion, Rc<TreePage>)>,
    /// Serial of the pending question for the largest allocation of a row.
    pub(crate) heaviest: Option<u32>,
    /// Number of replies so far.
    pub(crate) answers: u32,
    /// Name of the node at the top.
    pub(crate) top: String,
    /// The selected node that was last handled.
    pub(crate) followed: Option<u32>,
    /// The selected allocation that was last located.
    pub(crate) marked: Option<Marked>,
}

impl Tree {
    /// Returns the last reply with rows.
    pub fn page(&self) -> Option<&Rc<TreePage>> {
        self.known.as_ref().map(|(_, page)| page)
    }

    /// Returns the question of the last reply.
    pub(crate) fn answered(&self) -> Option<&TreeQuestion> {
        self.known.as_ref().map(|(question, _)| question)
    }

    /// Returns the row with this number, if it is loaded.
    pub fn row(&self, number: u32) -> Option<&TreeRow> {
        let page = self.page()?;
        page.rows.get(number.checked_sub(page.first)? as usize)
    }

    /// Returns the label of a node, if it is among the loaded rows.
    pub(crate) fn label(&self, node: u32) -> Option<&NodeLabel> {
        self.page()?.rows.iter().find(|row| row.node == node).map(|row| &row.label)
    }

    /// Returns the number of the active row.
    pub fn active(&self) -> u32 {
        self.place.row
    }

    /// Returns the active row, if it is loaded. Loaded rows may still be those of another tree.
    pub fn active_row(&self) -> Option<&TreeRow> {
        let place = (self.arranged, self.place.focus);
        self.answered().filter(|known| (known.arrangement, known.focus) == place)?;
        self.row(self.place.row)
    }

    /// Returns the number of rows.
    pub(crate) fn row_count(&self) -> u32 {
        self.page().map_or(0, |page| page.row_count)
    }

    /// Makes a row active and scrolls to it.
    pub(crate) fn go_to(&mut self, row: u32) {
        let row_count = self.row_count();
        self.place.row = row.min(row_count.saturating_sub(1));
        self.place.node = self.active_row().map(|row| row.node);
        self.scroll.show(self.place.row, row_count);
    }

    /// Scrolls to a target and makes it active, once its row is known.
    pub(crate) fn reveal(&mut self, reveal: Reveal) {
        self.wanted = Some(reveal);
    }

    /// Puts another node at the top.
    pub(crate) fn focus_on(&mut self, focus: Option<u32>) {
        if focus == self.place.focus {
            return;
        }
        if self.place.earlier.len() >= MOST_STEPS {
            self.place.earlier.remove(0);
        }
        self.place.earlier.push(self.place.focus);
        self.put_on_top(focus);
    }

    /// Restores the node that was at the top before.
    pub(crate) fn focus_back(&mut self) {
        if let Some(earlier) = self.place.earlier.pop() {
            // The active row stays active.
            let here = self.place.node;
            self.put_on_top(earlier);
            if let Some(node) = here {
                self.reveal(Reveal::Node(node));
            }
        }
    }

    pub(crate) fn put_on_top(&mut self, focus: Option<u32>) {
        self.place.focus = focus;
        (self.place.row, self.place.node) = (0, None);
        self.scroll.move_to(0.0, 0);
    }

    /// Returns true if the last reply answers this question, apart from the range of rows.
    pub(crate) fn holds(&self, question: &TreeQuestion) -> bool {
        self.answered().is_some_and(|known| {
            (known.scope, known.arrangement, known.focus, known.find)
                == (question.scope, question.arrangement, question.focus, question.find)
                && known.folds == question.folds
        })
    }

    /// Returns true if all visible rows are loaded.
    pub(crate) fn has_seen_rows(&self) -> bool {
        let Some(page) = self.page() else { return false };
        let [first, beyond] = self.scroll.rows();
        let end = page.first.saturating_add(u32::try_from(page.rows.len()).unwrap_or(u32::MAX));
        let beyond = beyond.min(page.row_count);
        first >= beyond || (page.first <= first && beyond <= end)
    }

    /// Returns true if exactly these rows were requested, so that asking again would load no more.
    pub(crate) fn was_asked(&self, rows: [u32; 2]) -> bool {
        self.answered().is_some_and(|known| known.rows == rows && known.reveal.is_none())
    }

    pub(crate) fn take(&mut self, serial: u32, page: TreePage) {
        let Some(PendingRows { mut question, then, .. }) = self.asked.take_if(|asked| asked.serial == serial) else {
            return;
        };
        self.answers = self.answers.wrapping_add(1);
        let nothing_folded_since = question.folds == self.place.folds;
        if question.arrangement == self.arranged {
            page.opened.iter().for_each(|&node| self.place.fold(node, Reach::One, FoldState::Open));
        }
        if nothing_folded_since {
            question.folds.clone_from(&self.place.folds);
        }
        if let Some(top) = page.rows.first().filter(|_| page.first == 0) {
            self.top.clone_from(&top.label.name);
        }
        if question.arrangement != self.arranged || question.focus != self.place.focus {
            // Rows of another tree. They stay visible, but do not affect the position.
            self.known = Some((question, Rc::new(page)));
            return;
        }
        if let (Some(Reveal::Allocation(allocation)), found) = (question.reveal, page.revealed) {
            let TreeQuestion { scope, arrangement, focus, .. } = question;
            self.marked = Some(Marked { allocation, arrangement, node: found.map(|(_, node)| node), scope, focus });
        }
        match (page.revealed, then) {
            (Some((row, node)), Then::Go) => {
                (self.place.row, self.place.node) = (row, Some(node));
                self.scroll.show_centred(row, page.row_count);
            }
            (Some((row, node)), Then::Stay) if self.place.node == Some(node) => {
                let shift = f64::from(row) - f64::from(self.place.row);
                self.place.row = row;
                self.scroll.move_to(self.scroll.top_px + shift * ROW_PX, page.row_count);
            }
            _ => {}
        }
        self.place.row = self.place.row.min(page.row_count.saturating_sub(1));
        self.scroll.move_to(self.scroll.top_px, page.row_count);
        self.known = Some((question, Rc::new(page)));
        // If the new number of the active row is unknown, the row that now has its number becomes active.
        self.place.node = self.active_row().map(|row| row.node).or(self.place.node);
    }
}

/// Position in a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreePosition {
    /// Node at the top. `None` for the root.
    pub(crate) focus: Option<u32>,
    /// Previous values of `focus`, latest last.
    pub(crate) earlier: Vec<Option<u32>>,
    pub(crate) folds: Vec<Fold>,
    /// Number of the active row, from 0.
    pub(crate) row: u32,
    /// Node of the active row, once it is known.
    pub(crate) node: Option<u32>,
}

impl TreePosition {
    /// Opens or closes a node. Overrides earlier changes, which are removed.
    pub(crate) fn fold(&mut self, node: u32, reach: Reach, state: FoldState) {
        let is_all = node == 0 && reach == Reach::AllBelow;
        let stays = |fold: &Fold| fold.node != node || (fold.reach, reach) == (Reach::AllBelow, Reach::One);
        self.folds.retain(|fold| !is_all && stays(fold));
        self.folds.push(Fold { node, reach, state });
    }
}

/// Scroll state of the rows, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scroll {
    pub top_px: f64,
    pub height_px: f64,
    /// Increases whenever the list must be scrolled to `top_px`. Unchanged when the user scrolls.
    pub moved: u32,
}

impl Scroll {
    /// Returns the half-open range of visible rows, including partly visible ones.
    pub fn rows(&self) -> [u32; 2] {
        // Casts from float saturate.
        let first = (self.top_px / ROW_PX).floor() as u32;
        [first, first.saturating_add((self.height_px / ROW_PX).ceil() as u32).saturating_add(1)]
    }

    /// Returns the number of fully visible rows. At least one.
    pub(crate) fn page(&self) -> u32 {
        ((self.height_px / ROW_PX).floor() as u32).max(1)
    }

    pub(crate) fn move_to(&mut self, top_px: f64, row_count: u32) {
        let most = (f64::from(row_count) * ROW_PX - self.height_px).max(0.0);
        let top_px = top_px.clamp(0.0, most);
        if top_px != self.top_px {
            (self.top_px, self.moved) = (top_px, self.moved.wrapping_add(1));
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

    /// Scrolls a row that is out of view to the upper third.
    pub(crate) fn show_centred(&mut self, row: u32, row_count: u32) {
        let top = f64::from(row) * ROW_PX;
        if top < self.top_px || top + ROW_PX > self.top_px + self.height_px {
            self.move_to(top - (self.height_px / 3.0).max(0.0), row_count);
        }
    }

    pub(crate) fn sees(&self, row: u32) -> bool {
        let [first, beyond] = self.rows();
        (first..beyond).contains(&row)
    }
}

/// Known row of the selected allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Marked {
    pub(crate) allocation: u32,
    pub(crate) arrangement: Arrangement,
    /// Node of its stack, if the tree has it. Valid in all scopes of the arrangement.
    pub(crate) node: Option<u32>,
    /// Scope in the search for the row.
    pub(crate) scope: Scope,
    pub(crate) focus: Option<u32>,
}

/// A pending question.
#[derive(Clone, Debug)]
pub(crate) struct PendingRows {
    pub(crate) serial: u32,
    pub(crate) question: TreeQuestion,
    pub(crate) then: Then,
}

/// Handling of a located row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Then {
    /// The row is already active, and keeps its position on the screen.
    Stay,
    /// The row becomes active and is scrolled into view.
    Go,
}
