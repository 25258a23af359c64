//! Commands on the rows of the Allocations and Events tabs.

use crate::features::command::{Call, Keys, Name, Row, rows, tab_row};
use crate::features::rows::RowMove::{Down, First, Last, PageDown, PageUp, Up};
use crate::features::rows::SelectMode::{Extend, Only};
use crate::features::rows::{RowMove, RowsStep, SelectMode};
use crate::features::{State, events, table};
use crate::state::binding::KeyScope;
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::text::tab::Tab;

/// Id of the grid of rows, which is the control of keys that move between rows.
const GRID: &str = "table-grid";

rows! {
    pub(super) ROWS:
    UP = at(&["ArrowUp"], "Go to the previous row", GRID, |state, out| go(state, Up, Only, out));
    DOWN = at(&["ArrowDown"], "Go to the next row", GRID, |state, out| go(state, Down, Only, out));
    PAGE_UP = at(&["PageUp"], "Go one page up", GRID, |state, out| go(state, PageUp, Only, out));
    PAGE_DOWN = at(&["PageDown"], "Go one page down", GRID, |state, out| go(state, PageDown, Only, out));
    FIRST = at(&["Home"], "Go to the first row", GRID, |state, out| go(state, First, Only, out));
    LAST = at(&["End"], "Go to the last row", GRID, |state, out| go(state, Last, Only, out));
    EXTEND_UP = at(&["Shift+ArrowUp"], "Extend the selection to the previous row", GRID,
        |state, out| go(state, Up, Extend, out));
    EXTEND_DOWN = at(&["Shift+ArrowDown"], "Extend the selection to the next row", GRID,
        |state, out| go(state, Down, Extend, out));
    EXTEND_PAGE_UP = at(&["Shift+PageUp"], "Extend the selection one page up", GRID,
        |state, out| go(state, PageUp, Extend, out));
    EXTEND_PAGE_DOWN = at(&["Shift+PageDown"], "Extend the selection one page down", GRID,
        |state, out| go(state, PageDown, Extend, out));
    EXTEND_FIRST = at(&["Shift+Home"], "Extend the selection to the first row", GRID,
        |state, out| go(state, First, Extend, out));
    EXTEND_LAST = at(&["Shift+End"], "Extend the selection to the last row", GRID,
        |state, out| go(state, Last, Extend, out));
    SELECT_ALL = at(&["Ctrl+a"], "Select all rows", "choose-all", |state, out| step(state, RowsStep::ChooseAll, out));
    COPY = at(&["Ctrl+c"], "Copy the selected rows, or all rows", "copy-rows",
        |state, out| step(state, RowsStep::Copy, out));
    FILTER = at(&["f"], "Filter the rows", "table-filter", |_, out| out.push(Effect::FocusFilter));
    CLEAR = at(&["Delete", "Backspace"], "Clear the filter", "table-clear",
        |state, out| step(state, RowsStep::Clear, out));
    SORT_BY_NEXT_COLUMN = at(&["s"], "Sort by the next column", "table-head",
        |state, out| step(state, RowsStep::SortByNextColumn, out));
    REVERSE_SORT = at(&["r"], "Reverse the sort order", "table-rows",
        |state, out| step(state, RowsStep::ReverseSort, out));
}

/// Scope of these commands. They also work in the Events tab.
pub(crate) const SCOPE: KeyScope = KeyScope::Tab(Tab::Allocations);

const fn at(keys: Keys, title: Name, control: Name, call: Call) -> Row {
    tab_row(Tab::Allocations, keys, title, control, call)
}

fn go(state: &mut State, to: RowMove, mode: SelectMode, out: &mut Outbox) {
    step(state, RowsStep::Go(to, mode), out);
}

/// Runs a step in the visible list.
fn step(state: &mut State, step: RowsStep, out: &mut Outbox) {
    if state.views.tab == Tab::Events {
        events::on_rows_step(&mut state.events, &state.shared, step, out);
    } else {
        table::on_rows_step(&mut state.table, &state.shared, step, out);
    }
}
