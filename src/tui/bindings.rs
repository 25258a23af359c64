//! Key bindings of the terminal interface. They take precedence over the page's key bindings.

use ui::features::command::{Command, Trait};
use ui::shell::{commands, keys};
use ui::state::binding::KeyScope;
use ui::state::stage::Letters;
use ui::text::tab::Tab;

/// Commands that exist only in the terminal interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalCommand {
    Quit,
    /// Moves the focus to the timeline, or quits if the timeline has the focus.
    Back,
    NextPane,
    PreviousPane,
    /// Copies the selection, or all rows of the view if nothing is selected.
    Copy,
    /// Shows a link to the current view, and commands that open it.
    Link,
    /// Toggles between exact and rounded byte counts.
    Exact,
    Braille,
    Suspend,
    Redraw,
    /// Makes the view taller and the timeline shorter.
    Taller,
    /// Makes the view shorter and the timeline taller.
    Shorter,
    ZoomIn,
    ZoomOut,
    First,
    OpenPath,
    ComparePath,
    PreviousTopic,
    NextTopic,
    MoreRows,
    FoldTable,
    PageUp,
    PageDown,
    NextSide,
    PreviousSide,
    Up,
    Down,
    Toggle,
    Only,
}

/// A command that a key triggers: one of the page, or one of the terminal interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeyCommand {
    Page(Command),
    Terminal(TerminalCommand),
}

/// Scope of a key binding: one of the page's scopes, or the side pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingScope {
    Page(KeyScope),
    Side,
}

/// An entry of [`TERMINAL_BINDINGS`].
pub(crate) struct TerminalBinding {
    pub(crate) at: BindingScope,
    pub(crate) keys: &'static [&'static str],
    pub(crate) does: KeyCommand,
    pub(crate) label: &'static str,
}

const fn own(
    at: BindingScope,
    keys: &'static [&'static str],
    command: TerminalCommand,
    label: &'static str,
) -> TerminalBinding {
    TerminalBinding { at, keys, does: KeyCommand::Terminal(command), label }
}

const fn page(
    at: BindingScope,
    keys: &'static [&'static str],
    command: Command,
    label: &'static str,
) -> TerminalBinding {
    TerminalBinding { at, keys, does: KeyCommand::Page(command), label }
}

/// Bindings that extend or override the page's bindings.
pub(crate) const TERMINAL_BINDINGS: &[TerminalBinding] = {
    const ALL: BindingScope = BindingScope::Page(KeyScope::Page);
    const TIMELINE: BindingScope = BindingScope::Page(KeyScope::Timeline);
    const WHY: BindingScope = BindingScope::Page(KeyScope::Tab(Tab::Insights));
    const TREE: BindingScope = BindingScope::Page(KeyScope::Tab(Tab::CallTree));
    &[
        own(ALL, &["q"], TerminalCommand::Back, "Back to the timeline; there, quit"),
        own(ALL, &["Shift+q", "Ctrl+c"], TerminalCommand::Quit, "Quit"),
        own(ALL, &["Tab"], TerminalCommand::NextPane, "Go to the next pane: timeline, view, side"),
        own(ALL, &["Shift+Tab"], TerminalCommand::PreviousPane, "Go to the previous pane"),
        page(ALL, &[":"], commands::palette::TOGGLE, "Open the command palette"),
        own(ALL, &["y"], TerminalCommand::Copy, "Copy the selection or the rows (OSC 52)"),
        own(ALL, &["o"], TerminalCommand::Link, "Show the link and the command for this view"),
        own(ALL, &["Ctrl+o"], TerminalCommand::OpenPath, "Open another file"),
        own(ALL, &["|"], TerminalCommand::ComparePath, "Compare with another file"),
        own(ALL, &["Ctrl+e"], TerminalCommand::Exact, "Show bytes exactly, or short"),
        own(ALL, &["Ctrl+b"], TerminalCommand::Braille, "Draw in braille, or in half blocks"),
        own(ALL, &["Ctrl+ArrowUp"], TerminalCommand::Taller, "Give the view more rows"),
        own(ALL, &["Ctrl+ArrowDown"], TerminalCommand::Shorter, "Give the timeline more rows"),
        own(ALL, &["Ctrl+z"], TerminalCommand::Suspend, "Suspend; fg brings it back"),
        own(ALL, &["Ctrl+l"], TerminalCommand::Redraw, "Redraw the screen"),
        page(ALL, &["F5"], commands::SCOPE_CURSOR, "Show what is live at the cursor"),
        page(ALL, &["F6"], commands::SCOPE_RANGE, "Show what happens in the range"),
        page(ALL, &["F7"], commands::SCOPE_WHOLE_TRACE, "Show the whole trace"),
        page(ALL, &["F8"], commands::SCOPE_CHANGE, "Show what changed from A to B"),
        page(ALL, &["F9"], commands::NEXT_RANGE_FILTER, "Switch what the views show of the range"),
        page(TIMELINE, &["ArrowLeft"], commands::CURSOR_COLUMN_LEFT, "Move the cursor left one column"),
        page(TIMELINE, &["ArrowRight"], commands::CURSOR_COLUMN_RIGHT, "Move the cursor right one column"),
        page(TIMELINE, &["x"], commands::TOGGLE_RANGE, "Start or finish a range at the cursor"),
        own(TIMELINE, &["+", "=", "."], TerminalCommand::ZoomIn, "Zoom in at the cursor"),
        own(TIMELINE, &["-", "_", ","], TerminalCommand::ZoomOut, "Zoom out at the cursor"),
        own(TIMELINE, &["Home"], TerminalCommand::First, "Move the cursor to the first event"),
        page(TIMELINE, &["Alt+ArrowUp"], commands::ZOOM_BYTES_IN, "Zoom in vertically"),
        page(TIMELINE, &["Alt+ArrowDown"], commands::ZOOM_BYTES_OUT, "Zoom out vertically"),
        own(WHY, &["ArrowLeft"], TerminalCommand::PreviousTopic, "Show the previous insight"),
        own(WHY, &["ArrowRight"], TerminalCommand::NextTopic, "Show the next insight"),
        own(WHY, &["PageUp"], TerminalCommand::PageUp, "Go ten rows up"),
        own(WHY, &["PageDown"], TerminalCommand::PageDown, "Go ten rows down"),
        own(WHY, &["m"], TerminalCommand::MoreRows, "Show more rows of the table"),
        own(WHY, &["f"], TerminalCommand::FoldTable, "Fold the table, or unfold it"),
        page(TREE, &["Shift+r"], commands::tree::FIRST, "Go to the first row"),
        own(BindingScope::Side, &["ArrowUp"], TerminalCommand::Up, "Go up"),
        own(BindingScope::Side, &["ArrowDown"], TerminalCommand::Down, "Go down"),
        own(BindingScope::Side, &["PageUp"], TerminalCommand::PageUp, "Go one page up"),
        own(BindingScope::Side, &["PageDown"], TerminalCommand::PageDown, "Go one page down"),
        own(
            BindingScope::Side,
            &["ArrowLeft"],
            TerminalCommand::PreviousSide,
            "Show the previous tab of the side pane",
        ),
        own(BindingScope::Side, &["ArrowRight"], TerminalCommand::NextSide, "Show the next tab of the side pane"),
        own(
            BindingScope::Side,
            &["Enter", "Space"],
            TerminalCommand::Toggle,
            "Fade the entry of the legend, or bring it back",
        ),
        own(BindingScope::Side, &["i"], TerminalCommand::Only, "Fade all other entries"),
    ]
};

/// Returns the command that a key triggers while the focus is in scope `at`. `key` is a chord in the format of
/// [`ui::state::binding::chord`].
pub(crate) fn command_for(at: BindingScope, key: &str, letters: Letters) -> Option<KeyCommand> {
    let terminal_command = |at: BindingScope| {
        TERMINAL_BINDINGS.iter().find(|line| line.at == at && line.keys.contains(&key)).map(|line| line.does)
    };
    let is_letter = key.strip_prefix("Shift+").unwrap_or(key).chars().count() == 1;
    let rests = is_letter && letters == Letters::Off && key != "q" && key != ":";
    if let Some(found) = terminal_command(at).filter(|_| !rests) {
        return Some(found);
    }
    let scope = if let BindingScope::Page(scope) = at { scope } else { KeyScope::Page };
    // Bindings of a view take precedence over global ones.
    let mut here = commands::all().filter(|command| command.scope == scope && works_here(*command));
    let view_command = here.find(|command| command.keys.contains(&key));
    if let (Some(command), BindingScope::Page(KeyScope::Tab(_)), false) = (view_command, at, rests) {
        return Some(KeyCommand::Page(keys::command_for_key(scope, key, letters).unwrap_or(command)));
    }
    if let Some(found) = terminal_command(BindingScope::Page(KeyScope::Page)).filter(|_| !rests) {
        return Some(found);
    }
    let found = keys::command_for_key(scope, key, letters).filter(|command| works_here(*command)).map(KeyCommand::Page);
    // Timeline commands also work when another pane has the focus. The terminal's bindings take precedence.
    match found {
        Some(KeyCommand::Page(command)) if command.scope == KeyScope::Timeline => {
            terminal_command(BindingScope::Page(KeyScope::Timeline)).or(found)
        }
        None if at != BindingScope::Page(KeyScope::Timeline) => {
            terminal_command(BindingScope::Page(KeyScope::Timeline)).filter(|_| !rests)
        }
        found => found,
    }
}

/// Tabs of the page that the terminal interface does not have.
const NO_VIEW: [Tab; 3] = [Tab::Sql, Tab::Sources, Tab::Histograms];

/// Returns true if a command of the page works in the terminal interface.
pub(crate) fn works_here(command: Command) -> bool {
    !command.has(Trait::BrowserOnly) && !NO_VIEW.map(commands::show).contains(&command)
}

/// Returns the keys that trigger a command of the page in the terminal interface.
pub(crate) fn keys_here(command: Command) -> Vec<&'static str> {
    let at = BindingScope::Page(command.scope);
    let same = |key: &&&'static str| command_for(at, key, Letters::On) == Some(KeyCommand::Page(command));
    let mut here: Vec<&'static str> = command.keys.iter().filter(same).copied().collect();
    for binding in TERMINAL_BINDINGS.iter().filter(|binding| binding.does == KeyCommand::Page(command)) {
        here.extend(binding.keys.iter().filter(|key| !here.contains(key)).copied().collect::<Vec<_>>());
    }
    here
}

#[cfg(test)]
#[path = "../../tests/units/tui/bindings.rs"]
mod tests;
