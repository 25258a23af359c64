//! Key bindings of the terminal: a table of its own bindings, which take precedence over those of the page.

use ui::binding::{Binding, Scope};
use ui::cursor::CursorStep;
use ui::features::FeatureCommand;
use ui::keys::BINDINGS;
use ui::palette::PaletteStep;
use ui::range::ViewScope;
use ui::stage::Letters;
use ui::tab::Tab;
use ui::{Command, keys};

/// Commands that only the terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    Quit,
    /// Returns to the timeline, or quits if it has the focus.
    Back,
    NextPane,
    PreviousPane,
    /// Copies the selection, or the rows of the view.
    Copy,
    /// Shows the link and the commands for the current view.
    Link,
    /// Switches between exact and short byte counts.
    Exact,
    Braille,
    Suspend,
    Redraw,
    /// Gives more rows to the views, or to the timeline.
    Taller,
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

/// The command that a key triggers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Does {
    Page(Command),
    Own(Own),
}

/// The place where a binding applies: a scope of the page, or the side pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Page(Scope),
    Side,
}

/// An entry of the terminal's table of bindings.
pub(crate) struct Line {
    pub(crate) at: At,
    pub(crate) keys: &'static [&'static str],
    pub(crate) does: Does,
    pub(crate) label: &'static str,
}

const fn own(at: At, keys: &'static [&'static str], own: Own, label: &'static str) -> Line {
    Line { at, keys, does: Does::Own(own), label }
}

const fn page(at: At, keys: &'static [&'static str], command: Command, label: &'static str) -> Line {
    Line { at, keys, does: Does::Page(command), label }
}

/// Bindings that extend or override those of the page.
pub(crate) const LINES: &[Line] = {
    const ALL: At = At::Page(Scope::Page);
    const TIMELINE: At = At::Page(Scope::Timeline);
    const WHY: At = At::Page(Scope::Tab(Tab::Why));
    const TREE: At = At::Page(Scope::Tab(Tab::Tree));
    &[
        own(ALL, &["q"], Own::Back, "Back to the timeline; there, quit"),
        own(ALL, &["Shift+q", "Ctrl+c"], Own::Quit, "Quit"),
        own(ALL, &["Tab"], Own::NextPane, "Go to the next pane: timeline, view, side"),
        own(ALL, &["Shift+Tab"], Own::PreviousPane, "Go to the previous pane"),
        page(ALL, &[":"], Command::Feature(FeatureCommand::Palette(PaletteStep::Toggle)), "Open the command palette"),
        own(ALL, &["y"], Own::Copy, "Copy the selection or the rows (OSC 52)"),
        own(ALL, &["o"], Own::Link, "Show the link and the command for this view"),
        own(ALL, &["Ctrl+o"], Own::OpenPath, "Open another file"),
        own(ALL, &["|"], Own::ComparePath, "Compare with another file"),
        own(ALL, &["Ctrl+e"], Own::Exact, "Show bytes exactly, or short"),
        own(ALL, &["Ctrl+b"], Own::Braille, "Draw in braille, or in half blocks"),
        own(ALL, &["Ctrl+ArrowUp"], Own::Taller, "Give the view more rows"),
        own(ALL, &["Ctrl+ArrowDown"], Own::Shorter, "Give the timeline more rows"),
        own(ALL, &["Ctrl+z"], Own::Suspend, "Suspend; fg brings it back"),
        own(ALL, &["Ctrl+l"], Own::Redraw, "Redraw the screen"),
        page(ALL, &["F5"], Command::ChooseScope(ViewScope::Cursor), "Show what is live at the cursor"),
        page(ALL, &["F6"], Command::ChooseScope(ViewScope::Range), "Show what happens in the range"),
        page(ALL, &["F7"], Command::ChooseScope(ViewScope::WholeTrace), "Show the whole trace"),
        page(ALL, &["F8"], Command::ChooseScope(ViewScope::Change), "Show what changed from A to B"),
        page(ALL, &["F9"], Command::NextAbout, "Switch what the views show of the range"),
        page(TIMELINE, &["ArrowLeft"], Command::Cursor(CursorStep::ColumnLeft), "Move the cursor left one column"),
        page(TIMELINE, &["ArrowRight"], Command::Cursor(CursorStep::ColumnRight), "Move the cursor right one column"),
        page(TIMELINE, &["x"], Command::ToggleRange, "Start or finish a range at the cursor"),
        own(TIMELINE, &["+", "=", "."], Own::ZoomIn, "Zoom in at the cursor"),
        own(TIMELINE, &["-", "_", ","], Own::ZoomOut, "Zoom out at the cursor"),
        own(TIMELINE, &["Home"], Own::First, "Move the cursor to the first event"),
        page(TIMELINE, &["Alt+ArrowUp"], Command::ZoomBytesIn, "Zoom in vertically"),
        page(TIMELINE, &["Alt+ArrowDown"], Command::ZoomBytesOut, "Zoom out vertically"),
        own(WHY, &["ArrowLeft"], Own::PreviousTopic, "Show the previous insight"),
        own(WHY, &["ArrowRight"], Own::NextTopic, "Show the next insight"),
        own(WHY, &["PageUp"], Own::PageUp, "Go ten rows up"),
        own(WHY, &["PageDown"], Own::PageDown, "Go ten rows down"),
        own(WHY, &["m"], Own::MoreRows, "Show more rows of the table"),
        own(WHY, &["f"], Own::FoldTable, "Fold the table, or unfold it"),
        page(
            TREE,
            &["Shift+r"],
            Command::Feature(FeatureCommand::Tree(ui::tree_keys::TreeCommand::First)),
            "Go to the first row",
        ),
        own(At::Side, &["ArrowUp"], Own::Up, "Go up"),
        own(At::Side, &["ArrowDown"], Own::Down, "Go down"),
        own(At::Side, &["PageUp"], Own::PageUp, "Go one page up"),
        own(At::Side, &["PageDown"], Own::PageDown, "Go one page down"),
        own(At::Side, &["ArrowLeft"], Own::PreviousSide, "Show the previous tab of the side pane"),
        own(At::Side, &["ArrowRight"], Own::NextSide, "Show the next tab of the side pane"),
        own(At::Side, &["Enter", "Space"], Own::Toggle, "Fade the entry of the legend, or bring it back"),
        own(At::Side, &["i"], Own::Only, "Fade all other entries"),
    ]
};

/// Returns the command of a key, written as by [`ui::binding::chord`], while the focus is at `at`.
pub(crate) fn does(at: At, key: &str, letters: Letters) -> Option<Does> {
    let own = |at: At| LINES.iter().find(|line| line.at == at && line.keys.contains(&key)).map(|line| line.does);
    let is_letter = key.strip_prefix("Shift+").unwrap_or(key).chars().count() == 1;
    let rests = is_letter && letters == Letters::Off && key != "q" && key != ":";
    if let Some(found) = own(at).filter(|_| !rests) {
        return Some(found);
    }
    let scope = if let At::Page(scope) = at { scope } else { Scope::Page };
    // Bindings of a view take precedence over global ones.
    let of_view = BINDINGS.iter().find(|line| line.scope == scope && line.keys.contains(&key) && is_here(line));
    if let (Some(line), At::Page(Scope::Tab(_)), false) = (of_view, at, rests) {
        return Some(Does::Page(keys::command(scope, key, letters).unwrap_or(line.command)));
    }
    if let Some(found) = own(At::Page(Scope::Page)).filter(|_| !rests) {
        return Some(found);
    }
    let found = keys::command(scope, key, letters).map(Does::Page).filter(|does| is_possible(*does));
    // Timeline commands also work when another pane has the focus. The terminal's bindings take precedence.
    let is_timelines =
        |command: Command| BINDINGS.iter().any(|it| it.command == command && it.scope == Scope::Timeline);
    match found {
        Some(Does::Page(command)) if is_timelines(command) => own(At::Page(Scope::Timeline)).or(found),
        None if at != At::Page(Scope::Timeline) => own(At::Page(Scope::Timeline)).filter(|_| !rests),
        found => found,
    }
}

fn is_possible(does: Does) -> bool {
    match does {
        Does::Page(command) => is_page_command(command),
        Does::Own(_) => true,
    }
}

/// Returns true if a binding of the page works in the terminal.
pub(crate) fn is_here(line: &Binding<Command>) -> bool {
    is_page_command(line.command) && line.scope != Scope::Export
}

/// Returns false for commands that need a browser, or a view that the terminal does not have.
fn is_page_command(command: Command) -> bool {
    use Command::*;
    !matches!(
        command,
        OpenSample(_)
            | CopySnippet
            | ChooseTheme(_)
            | ToggleRules
            | ToggleSettings
            | SaveHtml
            | OpenFile
            | CopyLink
            | Comparing(ui::comparing::ComparingStep::Open)
            | Show(Tab::Sql | Tab::Sources | Tab::Histograms)
            | Feature(FeatureCommand::Export(_) | FeatureCommand::Plan(_))
    )
}

/// Returns the keys that trigger the command of a page binding in the terminal.
pub(crate) fn keys_here(line: &Binding<Command>) -> Vec<&'static str> {
    let at = At::Page(line.scope);
    let same = |key: &&&'static str| does(at, key, Letters::On) == Some(Does::Page(line.command));
    let mut here: Vec<&'static str> = line.keys.iter().filter(same).copied().collect();
    for own in LINES.iter().filter(|own| own.does == Does::Page(line.command)) {
        here.extend(own.keys.iter().filter(|key| !here.contains(key)).copied().collect::<Vec<_>>());
    }
    here
}

#[cfg(test)]
#[path = "../../tests/units/tui/bindings.rs"]
mod tests;
