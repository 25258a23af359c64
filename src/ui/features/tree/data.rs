//! The rows of the call tree that are known, which are seen, and what is open.

use engine::protocol::{
    Arrangement, Fold, FoldState, NodeLabel, Reach, Reveal, Scope, TreePage, TreeQuestion, TreeRow,
};
use std::rc::Rc;

/// The height of a row in CSS pixels; the style sheet has it too.
pub const ROW_PX: f64 = 22.0;

/// Rows that are asked for beyond what is seen, on either side.
pub(crate) const MARGIN: u32 = 96;

/// Steps back that are kept.
pub(crate) const MOST_STEPS: usize = 64;

/// What is seen of the call tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The load and the device it is of.
    pub(crate) of: (u32, usize),
    /// The arrangement that `place` belongs to.
    pub(crate) arranged: Arrangement,
    /// Where a person is in it.
    pub(crate) place: TreePosition,
    /// Where they were in other arrangements.
    pub(crate) shelf: Vec<(Arrangement, TreePosition)>,
    pub scroll: Scroll,
    /// What is to be brought into view next.
    pub(crate) wanted: Option<Reveal>,
    pub(crate) asked: Option<PendingRows>,
    pub(crate) known: Option<(TreeQuestion, Rc<TreePage>)>,
    /// The question for the heaviest allocation of a row, on its way.
    pub(crate) heaviest: Option<u32>,
    /// How many answers came.
    pub(crate) answers: u32,
    /// What the node at the top is called.
    pub(crate) top: String,
    /// The selected node that was seen here.
    pub(crate) followed: Option<u32>,
    /// The selected allocation that was looked for.
    pub(crate) marked: Option<Marked>,
}

impl Tree {
    /// The last answer, and the first row that it is about.
    pub fn page(&self) -> Option<&Rc<TreePage>> {
        self.known.as_ref().map(|(_, page)| page)
    }

    /// What the last answer was about.
    pub(crate) fn answered(&self) -> Option<&TreeQuestion> {
        self.known.as_ref().map(|(question, _)| question)
    }

    /// The row of this number, where it is known.
    pub fn row(&self, number: u32) -> Option<&TreeRow> {
        let page = self.page()?;
        page.rows.get(number.checked_sub(page.first)? as usize)
    }

    /// What a node is called, where it is among the rows that are known.
    pub(crate) fn label(&self, node: u32) -> Option<&NodeLabel> {
        self.page()?.rows.iter().find(|row| row.node == node).map(|row| &row.label)
    }

    /// The number of the active row.
    pub fn active(&self) -> u32 {
        self.place.row
    }

    /// The active row, where it is known: the rows that are seen may be those of another tree still.
    pub fn active_row(&self) -> Option<&TreeRow> {
        let place = (self.arranged, self.place.focus);
        self.answered().filter(|known| (known.arrangement, known.focus) == place)?;
        self.row(self.place.row)
    }

    /// How many rows there are.
    pub(crate) fn row_count(&self) -> u32 {
        self.page().map_or(0, |page| page.row_count)
    }

    /// Makes a row the active one, in view.
    pub(crate) fn go_to(&mut self, row: u32) {
        let row_count = self.row_count();
        self.place.row = row.min(row_count.saturating_sub(1));
        self.place.node = self.active_row().map(|row| row.node);
        self.scroll.show(self.place.row, row_count);
    }

    /// Brings something into view and makes it the active row.
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

    /// Puts the node at the top that was there before.
    pub(crate) fn focus_back(&mut self) {
        if let Some(earlier) = self.place.earlier.pop() {
            // Whoever goes back stays on the row they are on.
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

    /// What of the last answer still holds for the next question: all but the rows.
    pub(crate) fn holds(&self, question: &TreeQuestion) -> bool {
        self.answered().is_some_and(|known| {
            (known.scope, known.arrangement, known.focus, known.find)
                == (question.scope, question.arrangement, question.focus, question.find)
                && known.folds == question.folds
        })
    }

    /// Whether the answer has all rows that are seen.
    pub(crate) fn has_seen_rows(&self) -> bool {
        let Some(page) = self.page() else { return false };
        let [first, beyond] = self.scroll.rows();
        let end = page.first.saturating_add(u32::try_from(page.rows.len()).unwrap_or(u32::MAX));
        let beyond = beyond.min(page.row_count);
        first >= beyond || (page.first <= first && beyond <= end)
    }

    /// Whether the answer is all that there is to be had of these rows.
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
            // Rows of another tree: seen until its own come, but nobody's place.
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
        // Where the row went that was the active one is not known: the one at its place is.
        self.place.node = self.active_row().map(|row| row.node).or(self.place.node);
    }
}

/// Where a person is in a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreePosition {
    /// The node at the top; `None`: the root.
    pub(crate) focus: Option<u32>,
    /// The ones before, the latest last.
    pub(crate) earlier: Vec<Option<u32>>,
    pub(crate) folds: Vec<Fold>,
    /// The number of the active row, from 0…
    pub(crate) row: u32,
    /// …and its node, once it is known.
    pub(crate) node: Option<u32>,
}

impl TreePosition {
    /// What a person did to a node. It overrules what they did before, which is forgotten.
    pub(crate) fn fold(&mut self, node: u32, reach: Reach, state: FoldState) {
        let is_all = node == 0 && reach == Reach::AllBelow;
        let stays = |fold: &Fold| fold.node != node || (fold.reach, reach) == (Reach::AllBelow, Reach::One);
        self.folds.retain(|fold| !is_all && stays(fold));
        self.folds.push(Fold { node, reach, state });
    }
}

/// How far the list of rows is scrolled, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scroll {
    pub top_px: f64,
    pub height_px: f64,
    /// Grows whenever the list is to be scrolled to `top_px`, and is not when a person scrolled it there.
    pub moved: u32,
}

impl Scroll {
    /// The rows that are seen, also in part: the first, and the first beyond.
    pub fn rows(&self) -> [u32; 2] {
        // A float becomes the nearest number there is.
        let first = (self.top_px / ROW_PX).floor() as u32;
        [first, first.saturating_add((self.height_px / ROW_PX).ceil() as u32).saturating_add(1)]
    }

    /// Rows that are seen in full; at least one.
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

    /// Brings a row into view, by the shortest way.
    pub(crate) fn show(&mut self, row: u32, row_count: u32) {
        let (top, bottom) = (f64::from(row) * ROW_PX, (f64::from(row) + 1.0) * ROW_PX);
        if top < self.top_px {
            self.move_to(top, row_count);
        } else if bottom > self.top_px + self.height_px {
            self.move_to(bottom - self.height_px, row_count);
        }
    }

    /// Brings a row that is out of view to the upper third.
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

/// What is known of the selected allocation's row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Marked {
    pub(crate) allocation: u32,
    pub(crate) arrangement: Arrangement,
    /// The node of its stack, where the tree has it: it is that everywhere.
    pub(crate) node: Option<u32>,
    /// Where it was looked for.
    pub(crate) scope: Scope,
    pub(crate) focus: Option<u32>,
}

/// A question on its way.
#[derive(Clone, Debug)]
pub(crate) struct PendingRows {
    pub(crate) serial: u32,
    pub(crate) question: TreeQuestion,
    pub(crate) then: Then,
}

/// What becomes of a revealed row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Then {
    /// It is the active one still, and stays where it was on the screen.
    Stay,
    /// It becomes the active one, in view.
    Go,
}
