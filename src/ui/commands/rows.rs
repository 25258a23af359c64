//! Commands on the rows of the Allocations and Events tabs.

use crate::binding::KeyScope;
use crate::command::{Call, Keys, Name, Row, rows, tab_row};
use crate::effect::Effect;
use crate::features::{State, events, table};
use crate::rows::RowMove::{Down, First, Last, PageDown, PageUp, Up};
use crate::rows::SelectMode::{Extend, Only};
use crate::rows::{RowMove, RowsStep, SelectMode};
use crate::tab::Tab;

/// Id of the grid of rows, which is the control of keys that move between rows.
const GRID: &str = "table-grid";

rows! {
    pub(super) ROWS:
    UP = at(&["ArrowUp"], "Go to the previous row", GRID, |state, _, effects| go(state, Up, Only, effects));
    DOWN = at(&["ArrowDown"], "Go to the next row", GRID, |state, _, effects| go(state, Down, Only, effects));
    PAGE_UP = at(&["PageUp"], "Go one page up", GRID, |state, _, effects| go(state, PageUp, Only, effects));
    PAGE_DOWN = at(&["PageDown"], "Go one page down", GRID, |state, _, effects| go(state, PageDown, Only, effects));
    FIRST = at(&["Home"], "Go to the first row", GRID, |state, _, effects| go(state, First, Only, effects));
    LAST = at(&["End"], "Go to the last row", GRID, |state, _, effects| go(state, Last, Only, effects));
    EXTEND_UP = at(&["Shift+ArrowUp"], "Extend the selection to the previous row", GRID,
        |state, _, effects| go(state, Up, Extend, effects));
    EXTEND_DOWN = at(&["Shift+ArrowDown"], "Extend the selection to the next row", GRID,
        |state, _, effects| go(state, Down, Extend, effects));
    EXTEND_PAGE_UP = at(&["Shift+PageUp"], "Extend the selection one page up", GRID,
        |state, _, effects| go(state, PageUp, Extend, effects));
    EXTEND_PAGE_DOWN = at(&["Shift+PageDown"], "Extend the selection one page down", GRID,
        |state, _, effects| go(state, PageDown, Extend, effects));
    EXTEND_FIRST = at(&["Shift+Home"], "Extend the selection to the first row", GRID,
        |state, _, effects| go(state, First, Extend, effects));
    EXTEND_LAST = at(&["Shift+End"], "Extend the selection to the last row", GRID,
        |state, _, effects| go(state, Last, Extend, effects));
    SELECT_ALL = at(&["Ctrl+a"], "Select all rows", "choose-all",
        |state, _, effects| step(state, RowsStep::ChooseAll, effects));
    COPY = at(&["Ctrl+c"], "Copy the selected rows, or all rows", "copy-rows",
        |state, _, effects| step(state, RowsStep::Copy, effects));
    FILTER = at(&["f"], "Filter the rows", "table-filter", |_, _, effects| effects.push(Effect::FocusFilter));
    CLEAR = at(&["Delete", "Backspace"], "Clear the filter", "table-clear",
        |state, _, effects| step(state, RowsStep::Clear, effects));
    SORT_BY_NEXT_COLUMN = at(&["s"], "Sort by the next column", "table-head",
        |state, _, effects| step(state, RowsStep::SortByNextColumn, effects));
    REVERSE_SORT = at(&["r"], "Reverse the sort order", "table-rows",
        |state, _, effects| step(state, RowsStep::ReverseSort, effects));
}

/// Scope of these commands. They also work in the Events tab.
pub(crate) const SCOPE: KeyScope = KeyScope::Tab(Tab::Allocations);

const fn at(keys: Keys, title: Name, control: Name, call: Call) -> Row {
    tab_row(Tab::Allocations, keys, title, control, call)
}

fn go(state: &mut State, to: RowMove, mode: SelectMode, effects: &mut Vec<Effect>) {
    step(state, RowsStep::Go(to, mode), effects);
}

/// Runs a step in the visible list.
fn step(state: &mut State, step: RowsStep, effects: &mut Vec<Effect>) {
    if state.views.tab == Tab::Events {
        events::on_rows_step(&mut state.events, &mut state.shared, step, effects);
    } else {
        table::on_rows_step(&mut state.table, &mut state.shared, step, effects);
    }
}
