//! Commands of the call tree.

use crate::features::command::{rows, tab_row};
use crate::features::tree::Tree;
use crate::features::tree_keys::toggle;
use crate::scope::find;
use crate::state::effect::Effect;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab::CallTree;
use protocol::{FoldScope, FoldState, Question, Reveal};

/// Id of the page element that the navigation commands belong to: the list of rows.
const LIST: &str = "tree-rows";

rows! {
    pub(crate) ROWS:
    UP = tab_row(CallTree, &["ArrowUp"], "Go to the previous row", LIST, |state, _| move_by(&mut state.tree, -1));
    DOWN = tab_row(CallTree, &["ArrowDown"], "Go to the next row", LIST, |state, _| move_by(&mut state.tree, 1));
    EXPAND_OR_CHILD = tab_row(CallTree, &["ArrowRight"], "Expand the row, or go to its first child", LIST,
        |state, _| expand_or_child(&mut state.tree));
    COLLAPSE_OR_PARENT = tab_row(CallTree, &["ArrowLeft"], "Collapse the row, or go to its parent", LIST,
        |state, _| collapse_or_parent(&mut state.tree));
    TOGGLE = tab_row(CallTree, &["Space"], "Expand or collapse the row", LIST, |state, _| toggle(&mut state.tree));
    PAGE_UP = tab_row(CallTree, &["PageUp"], "Go one page up", LIST, |state, _| move_pages(&mut state.tree, -1));
    PAGE_DOWN = tab_row(CallTree, &["PageDown"], "Go one page down", LIST, |state, _| move_pages(&mut state.tree, 1));
    FIRST = tab_row(CallTree, &["Home"], "Go to the first row", LIST, |state, _| state.tree.go_to(0));
    LAST = tab_row(CallTree, &["End"], "Go to the last row", LIST, |state, _| state.tree.go_to(u32::MAX));
    EXPAND_BELOW = tab_row(CallTree, &["e", "*"], "Expand all below the row", "tree-open-below",
        |state, _| fold_below(&mut state.tree, FoldState::Open));
    COLLAPSE_BELOW = tab_row(CallTree, &["c"], "Collapse all below the row", "tree-close-below",
        |state, _| fold_below(&mut state.tree, FoldState::Closed));
    EXPAND_ALL = tab_row(CallTree, &["Shift+e"], "Expand all rows", "tree-open-all", |state, _| {
        let position = &mut state.tree.position;
        position.fold(position.focus.unwrap_or(0), FoldScope::Subtree, FoldState::Open);
    });
    COLLAPSE_ALL = tab_row(CallTree, &["Shift+c"], "Collapse all rows", "tree-close-all",
        |state, _| collapse_all(&mut state.tree));
    FOCUS = tab_row(CallTree, &["f"], "Focus on the row", "tree-focus", |state, out| focus(&mut state.tree, out));
    BACK = tab_row(CallTree, &["Backspace"], "Go back to the previous root", "tree-back",
        |state, _| state.tree.focus_back());
    SHOW_ALL = tab_row(CallTree, &["Shift+Backspace"], "Show the whole tree", "tree-whole",
        |state, _| state.tree.focus_on(None));
    INVERT = tab_row(CallTree, &["r"], "Invert the call tree", "tree-invert", |state, out| {
        out.intend(Intent::Arrange(state.views.arrangement.inverted()));
    });
    HIDE_INTERNAL = tab_row(CallTree, &["h"], "Hide or show internal frames", "tree-internal", |state, out| {
        out.intend(Intent::Arrange(state.views.arrangement.with_internal_toggled()));
    });
    NEXT_MERGE = tab_row(CallTree, &["m"], "Merge frames by line, function or file", "tree-merge", |state, out| {
        out.intend(Intent::Arrange(state.views.arrangement.with_next_merge()));
    });
    /// Selects or deselects the node of the row.
    SELECT = tab_row(CallTree, &["Enter"], "Select the allocations of the row", "tree-select", |state, out| {
        let node = state.tree.active_row().map(|row| row.node).filter(|&node| node > 0);
        out.intend(Intent::Node(node.filter(|_| state.views.node != node)));
    });
    SELECT_LARGEST = tab_row(CallTree, &["a"], "Select the largest allocation of the row", "tree-heaviest",
        |state, out| ask_largest(&mut state.tree, &state.shared, out));
    GO_TO_SELECTION = tab_row(CallTree, &["g"], "Go to the stack of the selected allocation", "tree-selection",
        |state, out| {
            match state.shared.selection.as_deref() {
                Some(selection) => state.tree.reveal(Reveal::Allocation(selection.allocation)),
                None => out.say("No allocation is selected."),
            }
        });
    NEXT_MATCH = tab_row(CallTree, &["n"], "Go to the next matching row", "tree-next-match",
        |state, out| go_to_match(&mut state.tree, &state.shared, Reveal::MatchAfter, out));
    PREVIOUS_MATCH = tab_row(CallTree, &["Shift+n"], "Go to the previous matching row", "tree-previous-match",
        |state, out| go_to_match(&mut state.tree, &state.shared, Reveal::MatchBefore, out));
    OPEN_SOURCE = tab_row(CallTree, &["s"], "Open the source of the row", "tree-source",
        |state, out| open_source(&state.tree, &state.shared, out));
}

/// Moves the active row down by this number of rows. Negative for up.
fn move_by(tree: &mut Tree, rows: i32) {
    tree.go_to(tree.active().saturating_add_signed(rows));
}

fn move_pages(tree: &mut Tree, pages: i32) {
    move_by(tree, pages.saturating_mul(i32::try_from(tree.scroll.rows_per_page()).unwrap_or(i32::MAX)));
}

/// Expands the row, or goes to its first child.
fn expand_or_child(tree: &mut Tree) {
    match tree.active_row().map(|row| (row.node, row.fold)) {
        Some((node, FoldState::Closed)) => tree.position.fold(node, FoldScope::Node, FoldState::Open),
        Some((_, FoldState::Open)) => move_by(tree, 1),
        _ => {}
    }
}

/// Collapses the row, or goes to its parent.
fn collapse_or_parent(tree: &mut Tree) {
    let row = tree.active();
    match tree.active_row().map(|row| (row.node, row.fold, row.depth, row.parent)) {
        Some((node, FoldState::Open, ..)) => tree.position.fold(node, FoldScope::Node, FoldState::Closed),
        Some((_, _, depth, parent)) if depth > 0 => {
            let known = (0..row).rev().map_while(|number| Some((number, tree.row(number)?.node)));
            let above = known.into_iter().find(|&(_, node)| node == parent);
            match above {
                Some((number, _)) => tree.go_to(number),
                None => tree.reveal(Reveal::Node(parent)),
            }
        }
        _ => {}
    }
}

/// Expands or collapses the row and all its descendants.
fn fold_below(tree: &mut Tree, fold: FoldState) {
    if let Some(node) = tree.active_row().map(|row| row.node) {
        tree.position.fold(node, FoldScope::Subtree, fold);
    }
}

fn collapse_all(tree: &mut Tree) {
    let top = tree.position.focus.unwrap_or(0);
    tree.position.fold(top, FoldScope::Subtree, FoldState::Closed);
    tree.position.fold(top, FoldScope::Node, FoldState::Open);
    tree.go_to(0);
}

fn focus(tree: &mut Tree, out: &mut Outbox) {
    match tree.active_row().map(|row| (row.node, row.fold, row.depth)) {
        Some((_, FoldState::Leaf, _)) => out.say("This row has no children."),
        Some((node, _, depth)) if depth > 0 => tree.focus_on(Some(node)),
        _ => {}
    }
}

/// Asks the worker for the largest allocation of the row. It is selected when the reply arrives.
fn ask_largest(tree: &mut Tree, shared: &Shared, out: &mut Outbox) {
    let device = shared.device().map(|device| device.device);
    if let (Some(node), Some(device)) = (tree.active_row().map(|row| row.node), device) {
        let (scope, arrangement) = (shared.views.scope, shared.views.arrangement);
        tree.pending_heaviest = Some(out.ask(device, Question::Heaviest { scope, arrangement, node }));
    }
}

/// Goes to another row that matches the search, or to the search field if nothing is searched.
fn go_to_match(tree: &mut Tree, shared: &Shared, reveal: fn(u32) -> Reveal, out: &mut Outbox) {
    match find::match_serial(shared) {
        Some(_) => tree.reveal(reveal(tree.position.node.unwrap_or(0))),
        None => out.push(Effect::FocusFind),
    }
}

fn open_source(tree: &Tree, shared: &Shared, out: &mut Outbox) {
    let label = tree.active_row().map(|row| (row.label.file.clone(), row.label.line.clone()));
    match label.map(|(file, line)| shared.settings.link(&file, &line)) {
        Some(Ok(_)) => out.push(Effect::FollowSource),
        Some(Err(error)) => out.say(error.to_string()),
        None => {}
    }
}
