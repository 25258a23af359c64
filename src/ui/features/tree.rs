//! The call tree: visible rows, requests to the worker, and handling of its replies.
//!
//! All rows have the same height, so the visible rows follow from the scroll offset. These rows and a margin are
//! requested, with one question at a time, always for the latest state. The previous rows stay until the reply
//! arrives.

mod data;

pub(crate) use data::{MARGIN, Marked, PendingRows, Then, TreePosition};
pub use data::{ROW_PX, Scroll, Tree};

mod feature;
mod link;

pub(crate) use feature::FEATURE;

use super::tree_keys::{self};
use crate::change::Change;
use crate::effect::Effect;
use crate::shared::Shared;
use crate::tab::Tab;
use engine::protocol::{Answer, Question, Reveal, TreePage, TreeQuestion};

/// Updates the tree after changes of its inputs, and requests the missing rows.
fn ask(tree: &mut Tree, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    arrange(tree, shared);
    if shared.views.seen() != Some(Tab::Tree) || tree.scroll.height_px <= 0.0 || tree.asked.is_some() {
        return;
    }
    let arrangement = shared.views.arrangement;
    let (node, tree) = (shared.views.node, tree);
    if tree.followed != node {
        tree.followed = node;
        // A node that was selected in another view is scrolled into view.
        tree.wanted = tree.wanted.or(node.filter(|_| node != tree.place.node).map(Reveal::Node));
    }
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let Some(selected) = selected else {
        tree.marked = None;
        return ask_rows(tree, shared, device, effects);
    };
    let (scope, focus) = (shared.views.scope, tree.place.focus);
    // An allocation without a row may have one in another scope or subtree.
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
    tree.asked = Some(PendingRows { serial, question: question.clone(), then });
    effects.push(Effect::ask(serial, device, Question::Tree(Box::new(question))));
}

/// Handles changes of file, device and arrangement. Nodes are numbered differently then.
pub(crate) fn arrange(tree: &mut Tree, shared: &mut Shared) {
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
    let place = at.map_or_else(TreePosition::default, |at| tree.shelf.swap_remove(at).1);
    let place = std::mem::replace(&mut tree.place, place);
    tree.shelf.push((before, place));
    tree.scroll.move_to((f64::from(tree.place.row) - 2.0) * ROW_PX, u32::MAX);
    tree.wanted = None;
    shared.views.node = None;
}

/// Handles a reply of the worker.
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
        shared.remark = Some("No matches in the tree.".to_owned());
    }
    tree.take(serial, page);
}

/// Handles a change of the rules for internal frames. Trees without internal frames are no longer valid.
fn forget_hidden(tree: &mut Tree, shared: &mut Shared) {
    use engine::protocol::Internal;
    tree.shelf.retain(|(of, _)| of.internal == Internal::Shown);
    if tree.arranged.internal == Internal::Hidden {
        tree.place = TreePosition::default();
        (tree.asked, tree.wanted, tree.marked) = (None, None, None);
        if let Some((question, _)) = &mut tree.known {
            // Values that no question has, so that the rows are requested again. They stay visible until then.
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
