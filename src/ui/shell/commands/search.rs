//! Commands that search and select allocations, and copy what is selected.

use crate::features::State;
use crate::features::command::Trait::BrowserOnly;
use crate::features::command::{FILES, SEARCH, row, rows};
use crate::plot::drag;
use crate::scope::selecting::select;
use crate::scope::{details, find};
use crate::session::opening::cancel;
use crate::shell::link;
use crate::state::binding::KeyScope::Page;
use crate::state::effect::Effect;
use crate::state::find::{MatchScope, SameStack};
use crate::state::outbox::Outbox;
use crate::state::stage::Stage;
use crate::text::recording_snippet;
use protocol::Direction;

rows! {
    pub(super) ROWS:
    FIND = row(Page, SEARCH, &["/"], "Find allocations", "find", |_, out| out.push(Effect::FocusFind));
    TOGGLE_MATCH_CASE = row(Page, SEARCH, &["Alt+c"], "Match case in the search", "find-capitals",
        |state, _| find::toggle_match_case(state));
    FIND_NEXT = row(Page, SEARCH, &["n"], "Go to the next match", "find-next",
        |state, out| find::go_to_match(state, Direction::Next, MatchScope::All, out));
    FIND_PREVIOUS = row(Page, SEARCH, &["Shift+n"], "Go to the previous match", "find-previous",
        |state, out| find::go_to_match(state, Direction::Previous, MatchScope::All, out));
    /// Selects the allocation that was made before the selected one.
    SELECT_PREVIOUS = row(Page, SEARCH, &["["], "Select the previous allocation", "select-previous",
        |state, out| step_selection(state, -1, out));
    /// Selects the allocation that was made after the selected one.
    SELECT_NEXT = row(Page, SEARCH, &["]"], "Select the next allocation", "select-next",
        |state, out| step_selection(state, 1, out));
    TOGGLE_SAME_STACK = row(Page, SEARCH, &["k"], "Highlight allocations with the selected stack", "same-stack",
        |state, _| {
            state.same_stack = match state.same_stack {
                SameStack::Highlighted => SameStack::Plain,
                SameStack::Plain => SameStack::Highlighted,
            };
        });
    COPY_DETAILS = row(Page, SEARCH, &["c"], "Copy the selected allocation", "copy-details",
        |state, out| out.extend(state.selection.as_deref().map(details::text).map(Effect::Copy)));
    COPY_LINK = row(Page, FILES, &["Shift+j"], "Copy a link to this view", "copy-link",
        link::copy_link).with(&[BrowserOnly]);
    CLEAR_SELECTION = row(Page, SEARCH, &["Escape"], "Clear the selection, then the search", "clear-selection",
        escape);
    /// Copies the Python code that records a snapshot.
    COPY_SNIPPET = row(Page, FILES, &["y"], "Copy the code that records a snapshot", "copy-snippet",
        |_, out| out.push(Effect::Copy(recording_snippet::SNIPPET.to_owned())))
        .when(|state| matches!(state.stage, Stage::Empty | Stage::Failed(_))).with(&[BrowserOnly]);
}

// Variants of the commands above for keys pressed in a list.
rows! {
    _:
    /// Goes to the next match among the allocations that the views show.
    FIND_NEXT_IN_SCOPE = row(Page, SEARCH, &[], "Go to the next match", "find-next",
        |state, out| find::go_to_match(state, Direction::Next, MatchScope::Scope, out));
    /// Goes to the previous match among the allocations that the views show.
    FIND_PREVIOUS_IN_SCOPE = row(Page, SEARCH, &[], "Go to the previous match", "find-previous",
        |state, out| find::go_to_match(state, Direction::Previous, MatchScope::Scope, out));
}

/// Selects the allocation `by` places after the selected one, or the first if none is selected.
fn step_selection(state: &mut State, by: i32, out: &mut Outbox) {
    let wanted = state.selection.as_deref().map_or(Some(0), |now| now.allocation.checked_add_signed(by));
    if let Some(allocation) = wanted {
        select(state, allocation, out);
    }
}

/// Handles Escape: cancels loading, or closes the innermost thing that is open.
fn escape(state: &mut State, out: &mut Outbox) {
    if matches!(state.stage, Stage::Choosing(_) | Stage::Loading(_)) {
        return cancel(state, out);
    }
    if state.toast.take().is_some() {
        return;
    }
    state.side_is_expanded = false;
    if !drag::escape_drawing(state) && !state.escape() {
        drag::escape_selection(state);
    }
}
