//! The call tree: which part of it is seen, what the worker is asked of it, and what of its answer is shown.
//!
//! Rows have one height, so the part that is seen follows from how far the list is scrolled. The worker is asked for that part and a
//! margin, one question at a time, always the newest; until its answer comes, the one before stays.

mod link;

use super::effect::Effect;
use super::feature::{Change, Feature, Turn, ends_nothing};
use super::shared::Shared;
use super::tree_keys::{self, TreeAction, TreeCommand};
use super::views::Tab;
use engine::protocol::{
    Answer, Arrangement, Fold, FoldState, NodeLabel, Question, Reach, Reveal, Scope, TreePage, TreeQuestion, TreeRow,
};
use std::rc::Rc;

/// The height of a row in CSS pixels; the style sheet has it too.
pub const ROW_PX: f64 = 22.0;
/// Rows that are asked for beyond what is seen, on either side.
const MARGIN: u32 = 96;
/// Steps back that are kept.
const MOST_STEPS: usize = 64;

/// What is seen of the call tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The load and the device it is of.
    of: (u32, usize),
    /// The arrangement that `place` belongs to.
    arranged: Arrangement,
    /// Where a person is in it.
    pub(super) place: Place,
    /// Where they were in other arrangements.
    shelf: Vec<(Arrangement, Place)>,
    /// The part that is seen.
    pub scroll: Scroll,
    /// What is to be brought into view next.
    wanted: Option<Reveal>,
    /// The question on its way.
    asked: Option<Asked>,
    known: Option<(TreeQuestion, Rc<TreePage>)>,
    /// The question for the heaviest allocation of a row, on its way.
    pub(super) heaviest: Option<u32>,
    /// How many answers came.
    pub(super) answers: u32,
    /// What the node at the top is called.
    pub(super) top: String,
    /// The selected node that was seen here.
    pub(super) followed: Option<u32>,
    /// The selected allocation that was looked for.
    pub(super) marked: Option<Marked>,
}

/// What is known of the selected allocation's row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Marked {
    pub(super) allocation: u32,
    pub(super) arrangement: Arrangement,
    /// The node of its stack, where the tree has it: it is that everywhere.
    pub(super) node: Option<u32>,
    /// Where it was looked for.
    scope: Scope,
    focus: Option<u32>,
}

/// Where a person is in a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The node at the top; `None`: the root.
    pub(super) focus: Option<u32>,
    /// The ones before, the latest last.
    pub(super) earlier: Vec<Option<u32>>,
    /// What was opened and closed.
    pub(super) folds: Vec<Fold>,
    /// The number of the active row, from 0…
    pub(super) row: u32,
    /// …and its node, once it is known.
    pub(super) node: Option<u32>,
}

/// How far the list of rows is scrolled, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scroll {
    /// What lies above it.
    pub top_px: f64,
    /// What is seen of it.
    pub height_px: f64,
    /// Grows whenever the list is to be scrolled to `top_px`, and is not when a person scrolled it there.
    pub moved: u32,
}

/// A question on its way.
#[derive(Clone, Debug)]
struct Asked {
    serial: u32,
    question: TreeQuestion,
    then: Then,
}

/// What becomes of a revealed row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    /// It is the active one still, and stays where it was on the screen.
    Stay,
    /// It becomes the active one, in view.
    Go,
}

impl Place {
    /// What a person did to a node. It overrules what they did before, which is forgotten.
    pub(super) fn fold(&mut self, node: u32, reach: Reach, state: FoldState) {
        let is_all = node == 0 && reach == Reach::AllBelow;
        let stays = |fold: &Fold| fold.node != node || (fold.reach, reach) == (Reach::AllBelow, Reach::One);
        self.folds.retain(|fold| !is_all && stays(fold));
        self.folds.push(Fold { node, reach, state });
    }
}

impl Scroll {
    /// The rows that are seen, also in part: the first, and the first beyond.
    pub fn rows(&self) -> [u32; 2] {
        // A float becomes the nearest number there is.
        let first = (self.top_px / ROW_PX).floor() as u32;
        [first, first.saturating_add((self.height_px / ROW_PX).ceil() as u32).saturating_add(1)]
    }

    /// Rows that are seen in full; at least one.
    pub(super) fn page(&self) -> u32 {
        ((self.height_px / ROW_PX).floor() as u32).max(1)
    }

    fn move_to(&mut self, top_px: f64, row_count: u32) {
        let most = (f64::from(row_count) * ROW_PX - self.height_px).max(0.0);
        let top_px = top_px.clamp(0.0, most);
        if top_px != self.top_px {
            (self.top_px, self.moved) = (top_px, self.moved.wrapping_add(1));
        }
    }

    /// Brings a row into view, by the shortest way.
    pub(super) fn show(&mut self, row: u32, row_count: u32) {
        let (top, bottom) = (f64::from(row) * ROW_PX, (f64::from(row) + 1.0) * ROW_PX);
        if top < self.top_px {
            self.move_to(top, row_count);
        } else if bottom > self.top_px + self.height_px {
            self.move_to(bottom - self.height_px, row_count);
        }
    }

    /// Brings a row that is out of view to the upper third.
    fn show_centred(&mut self, row: u32, row_count: u32) {
        let top = f64::from(row) * ROW_PX;
        if top < self.top_px || top + ROW_PX > self.top_px + self.height_px {
            self.move_to(top - (self.height_px / 3.0).max(0.0), row_count);
        }
    }

    fn sees(&self, row: u32) -> bool {
        let [first, beyond] = self.rows();
        (first..beyond).contains(&row)
    }
}

impl Tree {
    /// The last answer, and the first row that it is about.
    pub fn page(&self) -> Option<&Rc<TreePage>> {
        self.known.as_ref().map(|(_, page)| page)
    }

    /// What the last answer was about.
    pub(super) fn answered(&self) -> Option<&TreeQuestion> {
        self.known.as_ref().map(|(question, _)| question)
    }

    /// The row of this number, where it is known.
    pub fn row(&self, number: u32) -> Option<&TreeRow> {
        let page = self.page()?;
        page.rows.get(number.checked_sub(page.first)? as usize)
    }

    /// What a node is called, where it is among the rows that are known.
    pub(super) fn label(&self, node: u32) -> Option<&NodeLabel> {
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
    pub(super) fn row_count(&self) -> u32 {
        self.page().map_or(0, |page| page.row_count)
    }

    /// Makes a row the active one, in view.
    pub(super) fn go_to(&mut self, row: u32) {
        let row_count = self.row_count();
        self.place.row = row.min(row_count.saturating_sub(1));
        self.place.node = self.active_row().map(|row| row.node);
        self.scroll.show(self.place.row, row_count);
    }

    /// Brings something into view and makes it the active row.
    pub(super) fn reveal(&mut self, reveal: Reveal) {
        self.wanted = Some(reveal);
    }

    /// Puts another node at the top.
    pub(super) fn focus_on(&mut self, focus: Option<u32>) {
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
    pub(super) fn focus_back(&mut self) {
        if let Some(earlier) = self.place.earlier.pop() {
            // Whoever goes back stays on the row they are on.
            let here = self.place.node;
            self.put_on_top(earlier);
            if let Some(node) = here {
                self.reveal(Reveal::Node(node));
            }
        }
    }

    fn put_on_top(&mut self, focus: Option<u32>) {
        self.place.focus = focus;
        (self.place.row, self.place.node) = (0, None);
        self.scroll.move_to(0.0, 0);
    }

    /// What of the last answer still holds for the next question: all but the rows.
    fn holds(&self, question: &TreeQuestion) -> bool {
        self.answered().is_some_and(|known| {
            (known.scope, known.arrangement, known.focus, known.find)
                == (question.scope, question.arrangement, question.focus, question.find)
                && known.folds == question.folds
        })
    }

    /// Whether the answer has all rows that are seen.
    fn has_seen_rows(&self) -> bool {
        let Some(page) = self.page() else { return false };
        let [first, beyond] = self.scroll.rows();
        let end = page.first.saturating_add(u32::try_from(page.rows.len()).unwrap_or(u32::MAX));
        let beyond = beyond.min(page.row_count);
        first >= beyond || (page.first <= first && beyond <= end)
    }

    /// Whether the answer is all that there is to be had of these rows.
    fn was_asked(&self, rows: [u32; 2]) -> bool {
        self.answered().is_some_and(|known| known.rows == rows && known.reveal.is_none())
    }

    fn take(&mut self, serial: u32, page: TreePage) {
        let Some(Asked { mut question, then, .. }) = self.asked.take_if(|asked| asked.serial == serial) else { return };
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

/// Brings the tree up to date with what it is about, and asks for what is missing.
fn ask(tree: &mut Tree, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    arrange(tree, shared);
    if shared.views.seen() != Some(Tab::Tree) || tree.scroll.height_px <= 0.0 || tree.asked.is_some() {
        return;
    }
    let arrangement = shared.views.arrangement;
    let (node, tree) = (shared.views.node, tree);
    if tree.followed != node {
        tree.followed = node;
        // One that was selected in another view is brought into view.
        tree.wanted = tree.wanted.or(node.filter(|_| node != tree.place.node).map(Reveal::Node));
    }
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let Some(selected) = selected else {
        tree.marked = None;
        return ask_rows(tree, shared, device, effects);
    };
    let (scope, focus) = (shared.views.scope, tree.place.focus);
    // One that has no row may have one at another moment, or in another subtree.
    let is_marked = tree.marked.is_some_and(|marked| {
        (marked.allocation, marked.arrangement) == (selected, arrangement)
            && (marked.node.is_some() || (marked.scope, marked.focus) == (scope, focus))
    });
    if !is_marked && tree.wanted.is_none() {
        tree.wanted = Some(Reveal::Allocation(selected));
    }
    ask_rows(tree, shared, device, effects);
}

fn ask_rows(tree: &mut Tree, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let find = shared.found_serial();
    let [first, beyond] = tree.scroll.rows();
    let rows = [first.saturating_sub(MARGIN), beyond - first + MARGIN + first.min(MARGIN)];
    let mut question = TreeQuestion {
        scope: shared.views.scope,
        arrangement: shared.views.arrangement,
        focus: tree.place.focus,
        folds: tree.place.folds.clone(),
        reveal: None,
        find,
        rows,
    };
    let mut then = Then::Go;
    match tree.wanted.take() {
        Some(reveal) => question.reveal = Some(reveal),
        None if tree.holds(&question) && (tree.has_seen_rows() || tree.was_asked(question.rows)) => return,
        None if tree.holds(&question) || !tree.scroll.sees(tree.place.row) => {}
        None => {
            then = Then::Stay;
            question.reveal = tree.place.node.filter(|_| tree.place.row > 0).map(Reveal::Node);
        }
    }
    let serial = shared.next_serial();
    tree.asked = Some(Asked { serial, question: question.clone(), then });
    effects.push(Effect::ask(serial, device, Question::Tree(Box::new(question))));
}

/// Changes to the file, the device and the arrangement that are wanted: nodes have other numbers there.
pub(super) fn arrange(tree: &mut Tree, shared: &mut Shared) {
    let of = (shared.load, shared.device_place);
    if tree.of != of {
        let scroll = Scroll { top_px: 0.0, moved: tree.scroll.moved.wrapping_add(1), ..tree.scroll };
        let answers = tree.answers.wrapping_add(1);
        *tree = Tree { of, scroll, answers, arranged: shared.views.arrangement, ..Tree::default() };
        shared.views.node = None;
    }
    let wanted = shared.views.arrangement;
    if tree.arranged == wanted {
        return;
    }
    let before = std::mem::replace(&mut tree.arranged, wanted);
    let at = tree.shelf.iter().position(|(of, _)| *of == wanted);
    let place = at.map_or_else(Place::default, |at| tree.shelf.swap_remove(at).1);
    let place = std::mem::replace(&mut tree.place, place);
    tree.shelf.push((before, place));
    tree.scroll.move_to((f64::from(tree.place.row) - 2.0) * ROW_PX, u32::MAX);
    tree.wanted = None;
    shared.views.node = None;
}

/// Takes what the worker says of the tree.
fn take(
    tree: &mut Tree,
    shared: &mut Shared,
    serial: u32,
    answer: Answer,
    effects: &mut Vec<Effect>,
) -> Option<Answer> {
    match answer {
        Answer::Tree(page) => take_page(tree, shared, serial, *page),
        Answer::Heaviest(allocation) => tree_keys::heaviest(tree, shared, serial, allocation, effects),
        other => return Some(other),
    }
    None
}

fn take_page(tree: &mut Tree, shared: &mut Shared, serial: u32, page: TreePage) {
    let looked_for = tree.asked.as_ref().filter(|asked| asked.serial == serial);
    let looked_for = looked_for.and_then(|asked| asked.question.reveal);
    if matches!(looked_for, Some(Reveal::MatchAfter(_) | Reveal::MatchBefore(_))) && page.revealed.is_none() {
        shared.remark = Some("No row of the tree is what the search looks for.".to_owned());
    }
    tree.take(serial, page);
}

/// How it takes part. Its rows are of a file and a device: `arrange` sees those change.
pub(super) const FEATURE: Feature<Tree, TreeAction, TreeCommand> = Feature {
    reset,
    asks: &[
        (Turn::Ground, |tree, shared, _, _| arrange(tree, shared)),
        (Turn::Early, |tree, shared, _, _| shared.learn_node(|node| tree.label(node).cloned())),
        (Turn::Last, ask),
    ],
    take,
    act: tree_keys::act,
    command: tree_keys::command,
    keys: tree_keys::KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};

/// Other frames are internal now: what was said of trees without them holds no more.
fn forget_hidden(tree: &mut Tree, shared: &mut Shared) {
    use engine::protocol::Internal;
    tree.shelf.retain(|(of, _)| of.internal == Internal::Shown);
    if tree.arranged.internal == Internal::Hidden {
        tree.place = Place::default();
        (tree.asked, tree.wanted, tree.marked) = (None, None, None);
        if let Some((question, _)) = &mut tree.known {
            // No question is like it: it is asked anew, and what it says stays until then.
            question.rows = [0, 0];
            question.focus = Some(u32::MAX);
        }
        shared.views.node = None;
    }
}

fn reset(tree: &mut Tree, shared: &mut Shared, change: Change) {
    if change == Change::InternalFrames {
        forget_hidden(tree, shared);
    }
}
