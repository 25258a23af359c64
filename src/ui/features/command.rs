//! A command is one row: its keys, title, control, conditions and function. The keyboard handlers, the help dialog, the
//! command palette and the terminal UI read the rows, which [`crate::shell::commands`] lists.

use crate::features::State;
use crate::state::binding::KeyScope;
use crate::state::outbox::Outbox;
use crate::state::picture_file::Format;
use crate::text::tab::Tab;
use std::fmt;
use std::ops::Deref;

/// Titles of the help dialog's groups that do not belong to a tab.
pub(crate) const MOVE: &str = "Move and zoom";
pub(crate) const CURSOR: &str = "Cursor, range and markers";
pub(crate) const PLOT: &str = "What the timeline shows";
pub(crate) const SEARCH: &str = "Search and selection";
pub(crate) const VIEWS: &str = "Views";
pub(crate) const FILES: &str = "Files and devices";
pub(crate) const PAGE: &str = "Help and settings";
pub(crate) const EXPORT: &str = "Export dialog";

/// Id of the timeline, which is the control of commands that can also be given by pointer gestures.
pub(crate) const TIMELINE: &str = "timeline";

/// The static properties of a command.
#[derive(Clone, Copy)]
pub struct Row {
    pub scope: KeyScope,
    /// Title of the group in the help dialog. The palette shows it next to the command.
    pub group: &'static str,
    /// Keys in the notation of [`crate::state::binding::chord`].
    pub keys: &'static [&'static str],
    pub title: &'static str,
    /// Id of the page's control that runs the same command.
    pub control: &'static str,
    /// Returns false if the command would have no effect. The palette then omits it.
    pub(crate) is_possible: fn(&State) -> bool,
    pub(crate) run: Run,
    pub(crate) traits: &'static [Trait],
}

/// Title, or id of a control.
pub(crate) type Name = &'static str;

/// Keys in the notation of [`crate::state::binding::chord`].
pub(crate) type Keys = &'static [&'static str];

/// Runs a command.
pub(crate) type Call = fn(&mut State, &mut Outbox);

/// Function of a command.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Call(Call),
    /// Shows a tab and gives it the keyboard focus.
    Show(Tab),
    /// Saves the picture in a format.
    Save(Format),
}

/// Properties of a command that code outside its row depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Needs a browser, or a view that the terminal UI does not have.
    BrowserOnly,
    /// May open another file.
    OpensFile,
    /// Needs the whole file, so it is ignored while the file is loading.
    NeedsWholeFile,
    /// Moves through the history of windows, and adds no step to it.
    WalksHistory,
}

impl Row {
    /// Replaces the condition under which the command is possible. The default is [`has_file`].
    pub(crate) const fn when(self, is_possible: fn(&State) -> bool) -> Row {
        Row { is_possible, ..self }
    }

    /// Replaces the traits of the command. The default is none.
    pub(crate) const fn with(self, traits: &'static [Trait]) -> Row {
        Row { traits, ..self }
    }

    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }
}

/// Creates a row. The parameters are the fields of [`Row`].
pub(crate) const fn row(scope: KeyScope, group: Name, keys: Keys, title: Name, control: Name, call: Call) -> Row {
    Row { scope, group, keys, title, control, is_possible: has_file, run: Run::Call(call), traits: &[] }
}

/// Creates the row of a command that works while `tab` has the focus.
pub(crate) const fn tab_row(tab: Tab, keys: Keys, title: Name, control: Name, call: Call) -> Row {
    let group = if let Some(heading) = tab.entry().heading { heading } else { "" };
    row(KeyScope::Tab(tab), group, keys, title, control, call)
}

/// Condition of most commands: a file is open.
pub(crate) fn has_file(state: &State) -> bool {
    state.file().is_some()
}

pub(crate) fn always(_: &State) -> bool {
    true
}

/// A command that can be given by its keys, by its control, and from the palette. It refers to its row.
#[derive(Clone, Copy)]
pub struct Command(&'static Row);

impl Command {
    pub(crate) const fn new(row: &'static Row) -> Command {
        Command(row)
    }

    /// Returns the commands of a table of rows.
    pub(crate) const fn table<const N: usize>(rows: &'static [Row; N]) -> [Command; N] {
        let mut commands = [Command(&rows[0]); N];
        let mut index = 0;
        while index < N {
            commands[index] = Command(&rows[index]);
            index += 1;
        }
        commands
    }

    /// Returns whether the command shows a tab.
    pub(crate) fn is_view(self) -> bool {
        matches!(self.run, Run::Show(_))
    }
}

impl Deref for Command {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.0
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Command {}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title)
    }
}

/// Defines a constant of type [`Command`] for each row, and a table of the commands. The table is named `_` if neither
/// the palette nor the help dialog lists its commands.
macro_rules! rows {
    (_: $($(#[$of:meta])* $NAME:ident = $row:expr;)*) => {
        $($(#[$of])* pub const $NAME: $crate::features::command::Command = {
            static ROW: $crate::features::command::Row = $row;
            $crate::features::command::Command::new(&ROW)
        };)*
    };
    ($(#[$doc:meta])* $vis:vis $TABLE:ident: $($(#[$of:meta])* $NAME:ident = $row:expr;)*) => {
        $crate::features::command::rows! { _: $($(#[$of])* $NAME = $row;)* }

        $(#[$doc])*
        $vis const $TABLE: &[$crate::features::command::Command] = &[$($NAME),*];
    };
}

pub(crate) use rows;
