//! The key table: one line a command. It drives the keyboard, fills the help dialog, and a test keeps it free of collisions.

use super::action::Command;
use super::binding::{Binding, Scope, line};
use super::cursor::CursorStep;
use super::features;
use super::plots::PlotStep;
use super::plots::line::Line;
use super::rows::{Extent, Go, RowsStep};
use super::stage::Letters;
use super::tab::Tab;
use engine::protocol::Direction;
use std::sync::LazyLock;

/// What the pointer moves, zooms and points at; it is the control of all keys that do the same.
const TIMELINE: &str = "timeline";
/// What rows are clicked in; it is the control of all keys that lead from row to row.
const GRID: &str = "table-grid";

/// Commands of what is shared, in the order of the help dialog.
const SHARED: &[Binding<Command>] = {
    use Command::*;
    use Scope::{Page, Timeline};
    const ROWS: Scope = Scope::Tab(Tab::Table);
    &[
        line(Page, &["o"], OpenFile, "Open a snapshot", "open"),
        line(Page, &["e"], OpenExample, "Open the example", "open-example"),
        line(Page, &["x"], CancelLoading, "Cancel loading", "cancel"),
        line(Page, &["u"], NextDevice, "Next device", "device"),
        line(Page, &["b"], PreviousDevice, "Device before", "device"),
        line(Page, &["l"], ToggleLanes, "All devices, or one", "lanes"),
        line(Page, &["/"], Find, "Find allocations", "find"),
        line(Page, &["Alt+c"], FindCapitals, "Heed capitals in the search, or not", "find-capitals"),
        line(Page, &["n"], FindNext, "Next match; in flame graph and table, of what they show", "find-next"),
        line(Page, &["Shift+n"], FindPrevious, "Match before, likewise", "find-previous"),
        line(Page, &["["], SelectPrevious, "Select the allocation born before", "select-previous"),
        line(Page, &["]"], SelectNext, "Select the allocation born after", "select-next"),
        line(Page, &["k"], ToggleSameStack, "Let all of the selection's stack stand out, or not", "same-stack"),
        line(Page, &["c"], CopyDetails, "Copy the selected allocation", "copy-details"),
        line(Page, &["Shift+j"], CopyLink, "Copy a link to what is seen", "copy-link"),
        line(Page, &["Escape"], ClearSelection, "Clear the selection, then the search", "clear-selection"),
        line(Page, &["y"], CopySnippet, "Copy the lines that record a snapshot", "copy-snippet"),
        line(Page, &["?"], ToggleHelp, "Show or hide this list", "help-open"),
        line(Page, &["F2"], ToggleLetters, "Single-letter keys on or off", "letters"),
        line(Page, &["Shift+v"], FoldViews, "Fold the views away, or back", "answer-fold"),
        line(Page, &["j"], ChangeFocus, "From the timeline to the view below, or back", TIMELINE),
        line(ROWS, &["ArrowUp"], Rows(RowsStep::Go(Go::Up, Extent::One)), "Row above", GRID),
        line(ROWS, &["ArrowDown"], Rows(RowsStep::Go(Go::Down, Extent::One)), "Row below", GRID),
        line(ROWS, &["PageUp"], Rows(RowsStep::Go(Go::PageUp, Extent::One)), "A screen up", GRID),
        line(ROWS, &["PageDown"], Rows(RowsStep::Go(Go::PageDown, Extent::One)), "A screen down", GRID),
        line(ROWS, &["Home"], Rows(RowsStep::Go(Go::First, Extent::One)), "First row", GRID),
        line(ROWS, &["End"], Rows(RowsStep::Go(Go::Last, Extent::One)), "Last row", GRID),
        line(ROWS, &["Shift+ArrowUp"], Rows(RowsStep::Go(Go::Up, Extent::Through)), "Choose up to the row above", GRID),
        line(
            ROWS,
            &["Shift+ArrowDown"],
            Rows(RowsStep::Go(Go::Down, Extent::Through)),
            "Choose down to the row below",
            GRID,
        ),
        line(ROWS, &["Shift+PageUp"], Rows(RowsStep::Go(Go::PageUp, Extent::Through)), "Choose a screen up", GRID),
        line(
            ROWS,
            &["Shift+PageDown"],
            Rows(RowsStep::Go(Go::PageDown, Extent::Through)),
            "Choose a screen down",
            GRID,
        ),
        line(ROWS, &["Shift+Home"], Rows(RowsStep::Go(Go::First, Extent::Through)), "Choose up to the first row", GRID),
        line(ROWS, &["Shift+End"], Rows(RowsStep::Go(Go::Last, Extent::Through)), "Choose down to the last row", GRID),
        line(ROWS, &["Ctrl+a"], Rows(RowsStep::ChooseAll), "Choose all rows", "choose-all"),
        line(ROWS, &["Ctrl+c"], Rows(RowsStep::Copy), "Copy the chosen rows, or all", "copy-rows"),
        line(ROWS, &["f"], Rows(RowsStep::Filter), "Filter the table", "table-filter"),
        line(ROWS, &["Delete", "Backspace"], Rows(RowsStep::Clear), "Clear the filter", "table-clear"),
        line(ROWS, &["s"], Rows(RowsStep::SortByNext), "Sort by the next column", "table-head"),
        line(ROWS, &["r"], Rows(RowsStep::SortOtherWay), "Sort the other way", "table-rows"),
        line(Timeline, &["a", "ArrowLeft"], MoveLeft, "Earlier events", TIMELINE),
        line(Timeline, &["d", "ArrowRight"], MoveRight, "Later events", TIMELINE),
        line(Timeline, &["w", "ArrowUp"], MoveUp, "More bytes", TIMELINE),
        line(Timeline, &["s", "ArrowDown"], MoveDown, "Fewer bytes", TIMELINE),
        line(Timeline, &["."], ZoomEventsIn, "Zoom the events in", TIMELINE),
        line(Timeline, &[","], ZoomEventsOut, "Zoom the events out", TIMELINE),
        line(Timeline, &["+", "="], ZoomBytesIn, "Zoom the bytes in", TIMELINE),
        line(Timeline, &["-", "_"], ZoomBytesOut, "Zoom the bytes out", TIMELINE),
        line(Timeline, &["0"], FitBoth, "Show everything", "fit-both"),
        line(Timeline, &["f"], ToggleFitBytes, "Fit the bytes to the window, or stop it", "fit-bytes"),
        line(Timeline, &["t"], ToggleAxis, "Events or wall-clock on the axis", "axis"),
        line(Timeline, &["Shift+y"], Plot(PlotStep::Next), "Stack, addresses, or what was reserved", "show"),
        line(Timeline, &["Shift+o"], Plot(PlotStep::NextPool), "Only the next pool, or all", "only-pool"),
        line(Timeline, &["Shift+u"], Plot(PlotStep::NextStream), "Only the next stream, or all", "only-stream"),
        line(Timeline, &["Shift+k"], Plot(PlotStep::OnlySegment), "Only the chosen segment, or all", "only-segment"),
        line(Timeline, &["1"], Plot(PlotStep::Toggle(Line::Reserved)), "Line: reserved", "line-reserved"),
        line(Timeline, &["2"], Plot(PlotStep::Toggle(Line::Rounded)), "Line: allocated (rounded)", "line-rounded"),
        line(Timeline, &["3"], Plot(PlotStep::Toggle(Line::Requested)), "Line: live", "line-requested"),
        line(Timeline, &["4"], Plot(PlotStep::Toggle(Line::Allocated)), "Line: in use", "line-allocated"),
        line(Timeline, &["5"], Plot(PlotStep::Toggle(Line::Pending)), "Line: awaiting free", "line-pending"),
        line(Timeline, &["6"], Plot(PlotStep::Toggle(Line::Free)), "Line: free share", "line-free"),
        line(Timeline, &["g"], NextStacking, "Stack by something else", "stacking"),
        line(Timeline, &["h"], NextColouring, "Colour by something else", "colouring"),
        line(Timeline, &["p"], GoToPeak, "Go to the peak, and ask about it", "headlines"),
        line(Timeline, &["Shift+p"], PinPeak, "Ask about the peak", "at-peak"),
        line(Timeline, &["End"], PinEnd, "Ask about the end", "at-end"),
        line(Page, &["@"], TypeMoment, "Type an event or a time", "at"),
        line(Timeline, &["q"], ToggleRange, "Begin a range at the cursor, or let it be", TIMELINE),
        line(Page, &["Shift+q"], NextAbout, "Show something else of the range", "scope"),
        line(Page, &["Shift+x"], PinRangePeak, "Ask about the range's own peak", "range-peak"),
        line(Scope::Export, &["h"], SaveHtml, "HTML: this page with the snapshot in it", "export-html"),
        line(Timeline, &["z"], WindowBack, "Back to the window before", "window-back"),
        line(Timeline, &["Shift+z"], WindowForward, "Forward again", "window-forward"),
        line(Timeline, &["Shift+ArrowLeft"], Cursor(CursorStep::Earlier), "Cursor one event earlier", TIMELINE),
        line(Timeline, &["Shift+ArrowRight"], Cursor(CursorStep::Later), "Cursor one event later", TIMELINE),
        line(Timeline, &["Ctrl+Shift+ArrowLeft"], Cursor(CursorStep::ColumnLeft), "Cursor one column left", TIMELINE),
        line(
            Timeline,
            &["Ctrl+Shift+ArrowRight"],
            Cursor(CursorStep::ColumnRight),
            "Cursor one column right",
            TIMELINE,
        ),
        line(Timeline, &["Shift+ArrowUp"], Cursor(CursorStep::Above), "Cursor onto the allocation above", TIMELINE),
        line(Timeline, &["Shift+ArrowDown"], Cursor(CursorStep::Below), "Cursor onto the allocation below", TIMELINE),
        line(
            Timeline,
            &["<"],
            Cursor(CursorStep::Before),
            "Cursor onto the allocation before, at its height",
            TIMELINE,
        ),
        line(Timeline, &[">"], Cursor(CursorStep::After), "Cursor onto the allocation after, at its height", TIMELINE),
        line(Timeline, &["{"], Cursor(CursorStep::ToBorn), "Cursor to the birth of the selected allocation", TIMELINE),
        line(Timeline, &["}"], Cursor(CursorStep::ToFreed), "Cursor to the free of the selected allocation", TIMELINE),
        line(Timeline, &["Enter"], Cursor(CursorStep::Select), "Select what is at the cursor", TIMELINE),
        line(Timeline, &["m"], PutMarker, "Put a marker at the cursor", TIMELINE),
        line(Timeline, &["Delete", "Backspace"], RemoveMarker, "Remove the nearest marker", "remove-marker"),
        line(Timeline, &["r"], ToggleRuler, "Measure from the cursor, or stop there", "ruler"),
        line(Timeline, &["Shift+r"], ZoomToRuler, "Zoom to what was measured", "zoom-to-ruler"),
        line(Timeline, &["v"], TypeCapacity, "Type the capacity of the GPU", "capacity"),
        line(Page, &["Shift+g"], ToggleRules, "Rules that tell categories", "rules-open"),
        line(Page, &["Ctrl+,"], ToggleSettings, "Settings: internal frames, links to the source", "settings-open"),
    ]
};

/// What a wheel or a pointer does; for the help dialog.
pub const GESTURES: &[(&str, &str)] = &[
    ("wheel", "Zoom the events at the cursor"),
    ("Ctrl + wheel", "Zoom the bytes at the cursor"),
    ("Shift + wheel", "Move along the events"),
    ("drag", "Move"),
    ("Shift + drag", "Zoom to a box"),
    ("Alt + drag", "Measure"),
    ("click", "Select an allocation, and ask about the moment"),
    ("drag on the axis", "Select a range; at its foot, move the line of the moment"),
    ("Shift + drag in the small picture", "Select a range"),
    ("right click", "Put a marker"),
    ("↑ ↓ on the line above the views", "Higher or lower views; dragging it does the same"),
];

/// Every command: those of what is shared, those that show a tab, those of the features.
pub static BINDINGS: LazyLock<Vec<Binding<Command>>> = LazyLock::new(|| {
    let tabs = Tab::ALL.into_iter().map(|tab| {
        let entry = tab.entry();
        line(Scope::Page, entry.key, Command::Show(tab), entry.label, entry.control)
    });
    SHARED.iter().copied().chain(tabs).chain(features::bindings().map(|it| it.of(Command::Feature))).collect()
});

/// The command of a key, as [`super::binding::chord`] writes it, while the focus is in `scope`.
pub fn command(scope: Scope, key: &str, letters: Letters) -> Option<Command> {
    let last = key.rsplit_once('+').map_or(key, |(_, last)| if last.is_empty() { key } else { last });
    if last.chars().count() == 1 && letters == Letters::Off && !key.starts_with("Ctrl+") && !key.starts_with("Alt+") {
        return None;
    }
    let in_scope = |scope| BINDINGS.iter().find(|binding| binding.scope == scope && binding.keys.contains(&key));
    // Rows are rows, whatever they tell.
    let of_rows = || if scope == Scope::Tab(Tab::Events) { in_scope(Scope::Tab(Tab::Table)) } else { None };
    let command = in_scope(scope).or_else(of_rows).or_else(|| in_scope(Scope::Page)).map(|binding| binding.command);
    Some(match (command?, scope) {
        (Command::FindNext, Scope::Tab(Tab::Flame) | Scope::Tab(Tab::Table)) => Command::FindHere(Direction::Next),
        (Command::FindPrevious, Scope::Tab(Tab::Flame) | Scope::Tab(Tab::Table)) => {
            Command::FindHere(Direction::Previous)
        }
        (command, _) => command,
    })
}

#[cfg(test)]
#[path = "../../tests/units/ui/keys.rs"]
mod tests;
