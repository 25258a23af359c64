//! All commands, in the order of the help dialog and the command palette. A new command is a row in one of the tables.

mod cursor;
mod files;
mod page;
mod plot;
pub mod rows;
mod search;
mod window;

pub use self::page::*;
pub use crate::features::events::commands as events;
pub use crate::features::export::commands as export;
pub use crate::features::flame::commands as flame;
pub use crate::features::insights::commands as insights;
pub use crate::features::palette::commands as palette;
pub use crate::features::plan::commands as plan;
pub use crate::features::segments::commands as segments;
pub use crate::features::table::commands as histograms;
pub use crate::features::tree::commands as tree;
pub use crate::features::watch::commands as watch;
pub use cursor::*;
pub use files::*;
pub use plot::*;
pub use search::*;
pub use window::*;

use crate::features::State;
use crate::features::command::{Command, Run};
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::text::tab::Tab;

const TABLES: &[&[Command]] = &[
    files::OPENING,
    search::ROWS,
    self::page::HELP,
    rows::ROWS,
    window::ROWS,
    plot::PLOTS,
    plot::LINES,
    plot::GROUPINGS,
    cursor::CURSOR_AND_RANGE,
    files::SAVING,
    window::HISTORY,
    cursor::CROSSHAIR,
    self::page::SETTINGS,
    &self::page::SHOW,
    insights::ROWS,
    plan::ROWS,
    tree::ROWS,
    flame::ROWS,
    histograms::ROWS,
    events::ROWS,
    segments::ROWS,
    export::ROWS,
    &export::SAVE,
    export::FORMATS,
    watch::ROWS,
    palette::ROWS,
];

/// Returns all commands that the help dialog and the palette list.
pub fn all() -> impl Iterator<Item = Command> {
    TABLES.iter().copied().flatten().copied()
}

/// Runs a command that was given by a key, a control, or the palette.
pub(crate) fn run(state: &mut State, command: Command, out: &mut Outbox) {
    state.remark = None;
    state.commands = state.commands.wrapping_add(1);
    match command.run {
        Run::Call(call) => call(state, out),
        Run::Show(tab) => show_tab(state, tab, out),
        Run::Save(format) => crate::features::export::save(&mut state.export, &state.shared, format, out),
    }
}

/// Shows a tab and gives it the keyboard focus.
pub(crate) fn show_tab(state: &mut State, tab: Tab, out: &mut Outbox) {
    state.views.show(tab);
    out.push(Effect::FocusView);
}
