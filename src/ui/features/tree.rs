//! The call tree: requests for the visible rows, and handling of the worker's replies.
//!
//! All rows have the same height, so the scroll offset determines the visible rows. The visible rows and a margin of
//! rows around them are requested. Only one request is pending at a time, and the next one is always for the latest
//! state. The previous rows stay visible until the reply arrives.

mod data;

pub(crate) use data::{AfterReveal, MARGIN, PendingRows, SelectionRow, TreePosition};
pub use data::{ROW_PX, Tree, TreeScroll};

pub mod commands;
mod feature;
mod link;

pub(crate) use feature::FEATURE;

use crate::features::tree_keys;
use crate::scope::find;
use crate::state::change::Change;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use protocol::{Answer, Arrangement, Question, Reveal, TreePage, TreeQuestion};

/// Updates the tree after changes of its inputs, and requests missing rows.
fn ask(tree: &mut Tree, shared: &Shared, device: i64, out: &mut Outbox) {
    if shared.views.visible() != Some(Tab::CallTree) || tree.scroll.height_px <= 0.0 || tree.pending.is_some() {
        return;
    }
    let arrangement = shared.views.arrangement;
    let (node, tree) = (shared.views.node, tree);
    if tree.handled_node != node {
        tree.handled_node = node;
        // A node that was selected in another view is scrolled into view.
        tree.reveal_next = tree.reveal_next.or(node.filter(|_| node != tree.position.node).map(Reveal::Node));
    }
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let Some(selected) = selected else {
        tree.selection_row = None;
        return ask_rows(tree, shared, device, out);
    };
    let (scope, focus) = (shared.views.scope, tree.position.focus);
    // An allocation without a row may have one in another scope or subtree.
    let is_marked = tree.selection_row.is_some_and(|marked| {
        (marked.allocation, marked.arrangement) == (selected, arrangement)
            && (marked.node.is_some() || (marked.scope, marked.focus) == (scope, focus))
    });
    if !is_marked && tree.reveal_next.is_none() {
        tree.reveal_next = Some(Reveal::Allocation(selected));
    }
    ask_rows(tree, shared, device, out);
}

fn ask_rows(tree: &mut Tree, shared: &Shared, device: i64, out: &mut Outbox) {
    let search_serial = find::match_serial(shared);
    let [first, beyond] = tree.scroll.visible_rows();
    let rows = [first.saturating_sub(MARGIN), beyond - first + MARGIN + first.min(MARGIN)];
    let mut question = TreeQuestion {
        scope: shared.views.scope,
        arrangement: shared.views.arrangement,
        focus: tree.position.focus,
        folds: tree.position.folds.clone(),
        reveal: None,
        search_serial,
        rows,
    };
    let mut after_reveal = AfterReveal::Activate;
    match tree.reveal_next.take() {
        Some(reveal) => question.reveal = Some(reveal),
        None if tree.is_reply_to(&question) && (tree.has_visible_rows() || tree.was_asked(question.rows)) => return,
        None if tree.is_reply_to(&question) || !tree.scroll.is_visible(tree.position.row) => {}
        None => {
            after_reveal = AfterReveal::KeepOnScreen;
            question.reveal = tree.position.node.filter(|_| tree.position.row > 0).map(Reveal::Node);
        }
    }
    let serial = out.ask(device, Question::Tree(Box::new(question.clone())));
    tree.pending = Some(PendingRows { serial, question, after_reveal });
}

/// Resets the tree after a change of the file, the device or the arrangement, because node ids then differ.
fn reset_if_stale(tree: &mut Tree, shared: &Shared, wanted: Arrangement, out: &mut Outbox) {
    let source = (shared.load, shared.device_index);
    if tree.source != source {
        let scroll = TreeScroll { top_px: 0.0, version: tree.scroll.version.wrapping_add(1), ..tree.scroll };
        let reply_count = tree.reply_count.wrapping_add(1);
        *tree = Tree { source, scroll, reply_count, arrangement: wanted, ..Tree::default() };
        out.intend(Intent::Node(None));
    }
    if tree.arrangement == wanted {
        return;
    }
    let previous = std::mem::replace(&mut tree.arrangement, wanted);
    let index = tree.positions.iter().position(|(of, _)| *of == wanted);
    let position = index.map_or_else(TreePosition::default, |index| tree.positions.swap_remove(index).1);
    let position = std::mem::replace(&mut tree.position, position);
    tree.positions.push((previous, position));
    tree.scroll.move_to((f64::from(tree.position.row) - 2.0) * ROW_PX, u32::MAX);
    tree.reveal_next = None;
    out.intend(Intent::Node(None));
}

/// Handles a reply with rows or with the largest allocation of a row. Returns replies for other features.
fn take(tree: &mut Tree, _: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Tree(page) => take_page(tree, serial, *page, out),
        Answer::Heaviest(allocation) => tree_keys::select_largest(tree, serial, allocation, out),
        other => return Some(other),
    }
    None
}

fn take_page(tree: &mut Tree, serial: u32, page: TreePage, out: &mut Outbox) {
    let revealed = tree.pending.as_ref().filter(|asked| asked.serial == serial);
    let revealed = revealed.and_then(|asked| asked.question.reveal);
    if matches!(revealed, Some(Reveal::MatchAfter(_) | Reveal::MatchBefore(_))) && page.revealed.is_none() {
        out.say("No matches in the tree.");
    }
    tree.on_page(serial, page);
}

/// Handles a change of the rules for internal frames. Discards trees that hide internal frames.
fn reset_without_internal(tree: &mut Tree, out: &mut Outbox) {
    use protocol::Internal;
    tree.positions.retain(|(of, _)| of.internal == Internal::Shown);
    if tree.arrangement.internal == Internal::Hidden {
        tree.position = TreePosition::default();
        (tree.pending, tree.reveal_next, tree.selection_row) = (None, None, None);
        if let Some((question, _)) = &mut tree.reply {
            // Values that no question has, so that the rows are requested again. They stay visible until then.
            question.rows = [0, 0];
            question.focus = Some(u32::MAX);
        }
        out.intend(Intent::Node(None));
    }
}

fn reset(tree: &mut Tree, _: &Shared, change: Change, out: &mut Outbox) {
    if change == Change::InternalFrames {
        reset_without_internal(tree, out);
    }
}
