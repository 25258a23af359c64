//! The key table, which has an entry for every command. It is used by the keyboard handler, the help dialog and the
//! command palette. A test rejects keys that are used twice.

use super::action::Command;
use super::binding::{Binding, KeyScope, bind};
use super::comparing::ComparingStep;
use super::crosshair::CrosshairStep;
use super::features;
use super::plots::PlotStep;
use super::plots::line::Line;
use super::range::ViewScope;
use super::rows::{RowMove, RowsStep, SelectMode};
use super::samples::Sample;
use super::settings::Theme;
use super::stage::Letters;
use super::tab::Tab;
use protocol::Direction;
use std::sync::LazyLock;

/// Id of the timeline, which is the control of commands that can also be given by pointer gestures.
const TIMELINE: &str = "timeline";
/// Id of the grid of rows, which is the control of keys that move between rows.
const GRID: &str = "table-grid";

/// Key table entries of the commands that change the shared state, in the order of the help dialog.
const SHARED: &[Binding<Command>] = {
    use Command::*;
    use KeyScope::{Page, Timeline};
    const ROWS: KeyScope = KeyScope::Tab(Tab::Allocations);
    &[
        bind(Page, &["o"], OpenFile, "Open a snapshot", "open"),
        bind(Page, &["e"], OpenSample(Sample::OutOfMemory), "Open the sample: out of memory", "open-example"),
        bind(Page, &[], OpenSample(Sample::Leak), "Open the sample: memory leak", "open-leak"),
        bind(Page, &[], OpenSample(Sample::Training), "Open the sample: training steps", "open-training"),
        bind(Page, &[], OpenSample(Sample::Graphs), "Open the sample: CUDA graphs", "open-graphs"),
        bind(Page, &["x"], CancelLoading, "Cancel loading", "cancel"),
        bind(Page, &[], OpenAll, "Load all events of the file", "open-all"),
        bind(Page, &[], ChooseEvents, "Load a range of the events…", "choose-events"),
        bind(Page, &["u"], NextDevice, "Show the next device", "device"),
        bind(Page, &["b"], PreviousDevice, "Show the previous device", "device"),
        bind(Page, &["l"], ToggleLanes, "Show all devices, or one", "lanes"),
        bind(Page, &["|"], Comparing(ComparingStep::Open), "Compare with another snapshot", "compare-open"),
        bind(Page, &["~"], Comparing(ComparingStep::Swap), "Swap A and B", "compare-swap"),
        bind(Page, &["^"], Comparing(ComparingStep::Overlay), "Draw B over A", "compare-overlay"),
        bind(Page, &["\\"], Comparing(ComparingStep::End), "Stop comparing", "compare-end"),
        bind(Page, &["/"], Find, "Find allocations", "find"),
        bind(Page, &["Alt+c"], ToggleMatchCase, "Match case in the search", "find-capitals"),
        bind(Page, &["n"], FindNext, "Go to the next match", "find-next"),
        bind(Page, &["Shift+n"], FindPrevious, "Go to the previous match", "find-previous"),
        bind(Page, &["["], SelectPrevious, "Select the previous allocation", "select-previous"),
        bind(Page, &["]"], SelectNext, "Select the next allocation", "select-next"),
        bind(Page, &["k"], ToggleSameStack, "Highlight allocations with the selected stack", "same-stack"),
        bind(Page, &["c"], CopyDetails, "Copy the selected allocation", "copy-details"),
        bind(Page, &["Shift+j"], CopyLink, "Copy a link to this view", "copy-link"),
        bind(Page, &["Escape"], ClearSelection, "Clear the selection, then the search", "clear-selection"),
        bind(Page, &["y"], CopySnippet, "Copy the code that records a snapshot", "copy-snippet"),
        bind(Page, &["?"], ToggleHelp, "Open help", "help-open"),
        bind(Page, &["F2"], ToggleLetters, "Turn single-letter keys on or off", "letters"),
        bind(Page, &["Shift+v"], FoldViews, "Collapse or expand the views", "answer-fold"),
        bind(Page, &["j"], ChangeFocus, "Switch focus between the timeline and the view", TIMELINE),
        bind(ROWS, &["ArrowUp"], Rows(RowsStep::Go(RowMove::Up, SelectMode::Only)), "Go to the previous row", GRID),
        bind(ROWS, &["ArrowDown"], Rows(RowsStep::Go(RowMove::Down, SelectMode::Only)), "Go to the next row", GRID),
        bind(ROWS, &["PageUp"], Rows(RowsStep::Go(RowMove::PageUp, SelectMode::Only)), "Go one page up", GRID),
        bind(ROWS, &["PageDown"], Rows(RowsStep::Go(RowMove::PageDown, SelectMode::Only)), "Go one page down", GRID),
        bind(ROWS, &["Home"], Rows(RowsStep::Go(RowMove::First, SelectMode::Only)), "Go to the first row", GRID),
        bind(ROWS, &["End"], Rows(RowsStep::Go(RowMove::Last, SelectMode::Only)), "Go to the last row", GRID),
        bind(
            ROWS,
            &["Shift+ArrowUp"],
            Rows(RowsStep::Go(RowMove::Up, SelectMode::Extend)),
            "Extend the selection to the previous row",
            GRID,
        ),
        bind(
            ROWS,
            &["Shift+ArrowDown"],
            Rows(RowsStep::Go(RowMove::Down, SelectMode::Extend)),
            "Extend the selection to the next row",
            GRID,
        ),
        bind(
            ROWS,
            &["Shift+PageUp"],
            Rows(RowsStep::Go(RowMove::PageUp, SelectMode::Extend)),
            "Extend the selection one page up",
            GRID,
        ),
        bind(
            ROWS,
            &["Shift+PageDown"],
            Rows(RowsStep::Go(RowMove::PageDown, SelectMode::Extend)),
            "Extend the selection one page down",
            GRID,
        ),
        bind(
            ROWS,
            &["Shift+Home"],
            Rows(RowsStep::Go(RowMove::First, SelectMode::Extend)),
            "Extend the selection to the first row",
            GRID,
        ),
        bind(
            ROWS,
            &["Shift+End"],
            Rows(RowsStep::Go(RowMove::Last, SelectMode::Extend)),
            "Extend the selection to the last row",
            GRID,
        ),
        bind(ROWS, &["Ctrl+a"], Rows(RowsStep::ChooseAll), "Select all rows", "choose-all"),
        bind(ROWS, &["Ctrl+c"], Rows(RowsStep::Copy), "Copy the selected rows, or all rows", "copy-rows"),
        bind(ROWS, &["f"], Rows(RowsStep::Filter), "Filter the rows", "table-filter"),
        bind(ROWS, &["Delete", "Backspace"], Rows(RowsStep::Clear), "Clear the filter", "table-clear"),
        bind(ROWS, &["s"], Rows(RowsStep::SortByNextColumn), "Sort by the next column", "table-head"),
        bind(ROWS, &["r"], Rows(RowsStep::ReverseSort), "Reverse the sort order", "table-rows"),
        bind(Timeline, &["a", "ArrowLeft"], MoveLeft, "Pan left", TIMELINE),
        bind(Timeline, &["d", "ArrowRight"], MoveRight, "Pan right", TIMELINE),
        bind(Timeline, &["w", "ArrowUp"], MoveUp, "Pan up", TIMELINE),
        bind(Timeline, &["s", "ArrowDown"], MoveDown, "Pan down", TIMELINE),
        bind(Timeline, &["."], ZoomEventsIn, "Zoom in horizontally", TIMELINE),
        bind(Timeline, &[","], ZoomEventsOut, "Zoom out horizontally", TIMELINE),
        bind(Timeline, &["+", "="], ZoomBytesIn, "Zoom in vertically", TIMELINE),
        bind(Timeline, &["-", "_"], ZoomBytesOut, "Zoom out vertically", TIMELINE),
        bind(Timeline, &["0"], FitBoth, "Fit the whole trace", "fit-both"),
        bind(Timeline, &["f"], ToggleFitBytes, "Fit the byte axis to the window", "fit-bytes"),
        bind(Timeline, &["t"], ToggleAxis, "Switch the axis between events and time", "axis"),
        bind(Timeline, &["Shift+y"], Plot(PlotStep::NextPlot), "Switch between live, addresses and reserved", "show"),
        bind(Timeline, &["Shift+o"], Plot(PlotStep::NextPool), "Show only the next pool, or all pools", "only-pool"),
        bind(
            Timeline,
            &["Shift+u"],
            Plot(PlotStep::NextStream),
            "Show only the next stream, or all streams",
            "only-stream",
        ),
        bind(
            Timeline,
            &["Shift+k"],
            Plot(PlotStep::OnlySegment),
            "Show only the selected segment, or all segments",
            "only-segment",
        ),
        bind(
            Timeline,
            &["1"],
            Plot(PlotStep::ToggleLine(Line::Reserved)),
            "Toggle the line: reserved",
            "line-reserved",
        ),
        bind(
            Timeline,
            &["2"],
            Plot(PlotStep::ToggleLine(Line::Rounded)),
            "Toggle the line: allocated (rounded)",
            "line-rounded",
        ),
        bind(Timeline, &["3"], Plot(PlotStep::ToggleLine(Line::Requested)), "Toggle the line: live", "line-requested"),
        bind(Timeline, &["4"], Plot(PlotStep::ToggleLine(Line::InUse)), "Toggle the line: in use", "line-allocated"),
        bind(
            Timeline,
            &["5"],
            Plot(PlotStep::ToggleLine(Line::AwaitingFree)),
            "Toggle the line: awaiting free",
            "line-pending",
        ),
        bind(Timeline, &["6"], Plot(PlotStep::ToggleLine(Line::Free)), "Toggle the line: free share", "line-free"),
        bind(
            Timeline,
            &["7"],
            Plot(PlotStep::ToggleLine(Line::Stranded)),
            "Toggle the line: stranded",
            "line-stranded",
        ),
        bind(Timeline, &["g"], NextStacking, "Stack by the next grouping", "stacking"),
        bind(Timeline, &["h"], NextColouring, "Colour by the next grouping", "colouring"),
        bind(Timeline, &["p"], GoToPeak, "Go to the peak", "headlines"),
        bind(Timeline, &["Shift+p"], CursorToPeak, "Move the cursor to the peak", "at-peak"),
        bind(Timeline, &["End"], CursorToEnd, "Move the cursor to the end", "at-end"),
        bind(Page, &["@"], FocusGoTo, "Go to an event or a time", "at"),
        bind(Timeline, &["q"], ToggleRange, "Start or finish a range at the cursor", TIMELINE),
        bind(Page, &["Shift+q"], NextRangeFilter, "Switch what the views show of the range", "scope"),
        bind(
            Page,
            &["Shift+i"],
            ChooseScope(ViewScope::Change),
            "Show what changed from A to B, the ends of the range",
            "scope-change",
        ),
        bind(Page, &["Shift+x"], CursorToRangePeak, "Go to the peak of the range", "range-peak"),
        bind(Timeline, &[")"], Annotation(Direction::Next), "Select the next annotation as the range", TIMELINE),
        bind(
            Timeline,
            &["("],
            Annotation(Direction::Previous),
            "Select the previous annotation as the range",
            TIMELINE,
        ),
        bind(Timeline, &["Shift+Enter"], ZoomToRange, "Zoom to the range", TIMELINE),
        bind(KeyScope::Export, &["h"], SaveHtml, "Save as HTML with the snapshot inside", "export-html"),
        bind(Timeline, &["z"], UndoView, "Undo the last pan or zoom", "window-back"),
        bind(Timeline, &["Shift+z"], RedoView, "Redo the last pan or zoom", "window-forward"),
        bind(
            Timeline,
            &["Shift+ArrowLeft"],
            MoveCrosshair(CrosshairStep::Earlier),
            "Move the cursor back one event",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["Shift+ArrowRight"],
            MoveCrosshair(CrosshairStep::Later),
            "Move the cursor forward one event",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["Ctrl+Shift+ArrowLeft"],
            MoveCrosshair(CrosshairStep::ColumnLeft),
            "Move the cursor left one pixel",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["Ctrl+Shift+ArrowRight"],
            MoveCrosshair(CrosshairStep::ColumnRight),
            "Move the cursor right one pixel",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["Shift+ArrowUp"],
            MoveCrosshair(CrosshairStep::Above),
            "Move the cursor to the allocation above",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["Shift+ArrowDown"],
            MoveCrosshair(CrosshairStep::Below),
            "Move the cursor to the allocation below",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["<"],
            MoveCrosshair(CrosshairStep::Before),
            "Move the cursor to the previous allocation at this height",
            TIMELINE,
        ),
        bind(
            Timeline,
            &[">"],
            MoveCrosshair(CrosshairStep::After),
            "Move the cursor to the next allocation at this height",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["{"],
            MoveCrosshair(CrosshairStep::ToAllocation),
            "Move the cursor to where the selection is allocated",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["}"],
            MoveCrosshair(CrosshairStep::ToFreed),
            "Move the cursor to where the selection is freed",
            TIMELINE,
        ),
        bind(
            Timeline,
            &["Enter"],
            MoveCrosshair(CrosshairStep::Select),
            "Select the allocation at the cursor",
            TIMELINE,
        ),
        bind(Timeline, &["m"], AddMarker, "Add a marker at the cursor", TIMELINE),
        bind(Timeline, &["Delete", "Backspace"], RemoveMarker, "Remove the nearest marker", "remove-marker"),
        bind(Timeline, &["r"], ToggleRuler, "Measure from the cursor", "ruler"),
        bind(Timeline, &["Shift+r"], ZoomToRuler, "Zoom to the measured range", "zoom-to-ruler"),
        bind(Timeline, &["v"], FocusCapacity, "Set the GPU capacity", "capacity"),
        bind(Page, &["Shift+g"], ToggleRules, "Edit category rules", "rules-open"),
        bind(Page, &["Ctrl+,"], ToggleSettings, "Open settings", "settings-open"),
        theme_entry(Theme::System, "Theme: system"),
        theme_entry(Theme::Light, "Theme: light"),
        theme_entry(Theme::Dark, "Theme: dark"),
    ]
};

/// Creates the entry of a theme. Themes have no keys. They can be chosen in the settings and in the command palette.
const fn theme_entry(theme: Theme, label: &'static str) -> Binding<Command> {
    bind(KeyScope::Page, &[], Command::ChooseTheme(theme), label, theme.control())
}

/// Gestures with the pointer and the wheel, as listed in the help dialog.
pub const GESTURES: &[(&str, &str)] = &[
    ("wheel", "Zoom horizontally at the pointer"),
    ("Ctrl + wheel", "Zoom vertically at the pointer"),
    ("Shift + wheel", "Pan horizontally"),
    ("drag", "Pan"),
    ("Shift + drag", "Zoom to a box; on the minimap, select a range"),
    ("Alt + drag", "Measure"),
    ("click", "Select an allocation and move the cursor"),
    ("drag the axis", "Select a range; drag the handle to move the cursor"),
    ("click an annotation", "Select its range; double-click zooms to it"),
    ("right-click", "Add a marker"),
    ("drag the divider", "Resize the views; ↑ and ↓ do the same"),
];

/// All entries of the key table: commands on the shared state, commands that show a tab, and commands of the features.
pub static BINDINGS: LazyLock<Vec<Binding<Command>>> = LazyLock::new(|| {
    let mut all = SHARED.to_vec();
    for tab in Tab::ALL {
        let entry = tab.entry();
        all.push(bind(KeyScope::Page, entry.key, Command::Show(tab), entry.label, entry.control));
    }
    all.extend(features::bindings().iter().map(|it| it.map(Command::Feature)));
    all
});

/// Returns the command that `key` runs while the focus is in `scope`. `key` is in the notation of
/// [`super::binding::chord`].
pub fn command_for_key(scope: KeyScope, key: &str, letters: Letters) -> Option<Command> {
    let last_key = key.rsplit_once('+').map_or(key, |(_, last_key)| if last_key.is_empty() { key } else { last_key });
    if last_key.chars().count() == 1 && letters == Letters::Off && !key.starts_with("Ctrl+") && !key.starts_with("Alt+")
    {
        return None;
    }
    let in_scope = |scope| BINDINGS.iter().find(|binding| binding.scope == scope && binding.keys.contains(&key));
    // Keys for rows work in the list of events as well.
    let rows_binding =
        || if scope == KeyScope::Tab(Tab::Events) { in_scope(KeyScope::Tab(Tab::Allocations)) } else { None };
    // Keys of the timeline work wherever the focus is, except keys that remove or select, which act on the focused
    // view.
    let timeline_binding = || {
        let is_global =
            |command| !matches!(command, Command::RemoveMarker | Command::MoveCrosshair(CrosshairStep::Select));
        if scope == KeyScope::Export {
            None
        } else {
            in_scope(KeyScope::Timeline).filter(|binding| is_global(binding.command))
        }
    };
    let found = in_scope(scope).or_else(rows_binding).or_else(|| in_scope(KeyScope::Page)).or_else(timeline_binding);
    let command = found.map(|binding| binding.command);
    Some(match (command?, scope) {
        (Command::FindNext, KeyScope::Tab(Tab::Flame) | KeyScope::Tab(Tab::Allocations)) => {
            Command::FindInScope(Direction::Next)
        }
        (Command::FindPrevious, KeyScope::Tab(Tab::Flame) | KeyScope::Tab(Tab::Allocations)) => {
            Command::FindInScope(Direction::Previous)
        }
        (command, _) => command,
    })
}

#[cfg(test)]
#[path = "../../tests/units/ui/keys.rs"]
mod tests;
