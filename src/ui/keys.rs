//! The key table: one entry per command. It drives the keyboard and fills the help dialog, and a test rejects
//! collisions.

use super::action::Command;
use super::binding::{Binding, Scope, line};
use super::comparing::ComparingStep;
use super::cursor::CursorStep;
use super::features;
use super::plots::PlotStep;
use super::plots::line::Line;
use super::range::ViewScope;
use super::rows::{Extent, Go, RowsStep};
use super::samples::Sample;
use super::settings::Theme;
use super::stage::Letters;
use super::tab::Tab;
use engine::protocol::Direction;
use std::sync::LazyLock;

/// Element that pointer gestures act on. Listed as the control of the keys that do the same.
const TIMELINE: &str = "timeline";
/// Element whose rows can be clicked. Listed as the control of the keys that move between rows.
const GRID: &str = "table-grid";

/// Commands on the shared state, in the order of the help dialog.
const SHARED: &[Binding<Command>] = {
    use Command::*;
    use Scope::{Page, Timeline};
    const ROWS: Scope = Scope::Tab(Tab::Table);
    &[
        line(Page, &["o"], OpenFile, "Open a snapshot", "open"),
        line(Page, &["e"], OpenSample(Sample::OutOfMemory), "Open the sample: out of memory", "open-example"),
        line(Page, &[], OpenSample(Sample::Leak), "Open the sample: memory leak", "open-leak"),
        line(Page, &[], OpenSample(Sample::Training), "Open the sample: training steps", "open-training"),
        line(Page, &[], OpenSample(Sample::Graphs), "Open the sample: CUDA graphs", "open-graphs"),
        line(Page, &["x"], CancelLoading, "Cancel loading", "cancel"),
        line(Page, &[], OpenAll, "Load all events of the file", "open-all"),
        line(Page, &[], ChooseEvents, "Load a range of the events…", "choose-events"),
        line(Page, &["u"], NextDevice, "Show the next device", "device"),
        line(Page, &["b"], PreviousDevice, "Show the previous device", "device"),
        line(Page, &["l"], ToggleLanes, "Show all devices, or one", "lanes"),
        line(Page, &["|"], Comparing(ComparingStep::Open), "Compare with another snapshot", "compare-open"),
        line(Page, &["~"], Comparing(ComparingStep::Swap), "Swap A and B", "compare-swap"),
        line(Page, &["^"], Comparing(ComparingStep::Overlay), "Draw B over A", "compare-overlay"),
        line(Page, &["\\"], Comparing(ComparingStep::End), "Stop comparing", "compare-end"),
        line(Page, &["/"], Find, "Find allocations", "find"),
        line(Page, &["Alt+c"], FindCapitals, "Match case in the search", "find-capitals"),
        line(Page, &["n"], FindNext, "Go to the next match", "find-next"),
        line(Page, &["Shift+n"], FindPrevious, "Go to the previous match", "find-previous"),
        line(Page, &["["], SelectPrevious, "Select the previous allocation", "select-previous"),
        line(Page, &["]"], SelectNext, "Select the next allocation", "select-next"),
        line(Page, &["k"], ToggleSameStack, "Highlight allocations with the selected stack", "same-stack"),
        line(Page, &["c"], CopyDetails, "Copy the selected allocation", "copy-details"),
        line(Page, &["Shift+j"], CopyLink, "Copy a link to this view", "copy-link"),
        line(Page, &["Escape"], ClearSelection, "Clear the selection, then the search", "clear-selection"),
        line(Page, &["y"], CopySnippet, "Copy the code that records a snapshot", "copy-snippet"),
        line(Page, &["?"], ToggleHelp, "Open help", "help-open"),
        line(Page, &["F2"], ToggleLetters, "Turn single-letter keys on or off", "letters"),
        line(Page, &["Shift+v"], FoldViews, "Collapse or expand the views", "answer-fold"),
        line(Page, &["j"], ChangeFocus, "Switch focus between the timeline and the view", TIMELINE),
        line(ROWS, &["ArrowUp"], Rows(RowsStep::Go(Go::Up, Extent::One)), "Go to the previous row", GRID),
        line(ROWS, &["ArrowDown"], Rows(RowsStep::Go(Go::Down, Extent::One)), "Go to the next row", GRID),
        line(ROWS, &["PageUp"], Rows(RowsStep::Go(Go::PageUp, Extent::One)), "Go one page up", GRID),
        line(ROWS, &["PageDown"], Rows(RowsStep::Go(Go::PageDown, Extent::One)), "Go one page down", GRID),
        line(ROWS, &["Home"], Rows(RowsStep::Go(Go::First, Extent::One)), "Go to the first row", GRID),
        line(ROWS, &["End"], Rows(RowsStep::Go(Go::Last, Extent::One)), "Go to the last row", GRID),
        line(
            ROWS,
            &["Shift+ArrowUp"],
            Rows(RowsStep::Go(Go::Up, Extent::Through)),
            "Extend the selection to the previous row",
            GRID,
        ),
        line(
            ROWS,
            &["Shift+ArrowDown"],
            Rows(RowsStep::Go(Go::Down, Extent::Through)),
            "Extend the selection to the next row",
            GRID,
        ),
        line(
            ROWS,
            &["Shift+PageUp"],
            Rows(RowsStep::Go(Go::PageUp, Extent::Through)),
            "Extend the selection one page up",
            GRID,
        ),
        line(
            ROWS,
            &["Shift+PageDown"],
            Rows(RowsStep::Go(Go::PageDown, Extent::Through)),
            "Extend the selection one page down",
            GRID,
        ),
        line(
            ROWS,
            &["Shift+Home"],
            Rows(RowsStep::Go(Go::First, Extent::Through)),
            "Extend the selection to the first row",
            GRID,
        ),
        line(
            ROWS,
            &["Shift+End"],
            Rows(RowsStep::Go(Go::Last, Extent::Through)),
            "Extend the selection to the last row",
            GRID,
        ),
        line(ROWS, &["Ctrl+a"], Rows(RowsStep::ChooseAll), "Select all rows", "choose-all"),
        line(ROWS, &["Ctrl+c"], Rows(RowsStep::Copy), "Copy the selected rows, or all rows", "copy-rows"),
        line(ROWS, &["f"], Rows(RowsStep::Filter), "Filter the rows", "table-filter"),
        line(ROWS, &["Delete", "Backspace"], Rows(RowsStep::Clear), "Clear the filter", "table-clear"),
        line(ROWS, &["s"], Rows(RowsStep::SortByNext), "Sort by the next column", "table-head"),
        line(ROWS, &["r"], Rows(RowsStep::SortOtherWay), "Reverse the sort order", "table-rows"),
        line(Timeline, &["a", "ArrowLeft"], MoveLeft, "Pan left", TIMELINE),
        line(Timeline, &["d", "ArrowRight"], MoveRight, "Pan right", TIMELINE),
        line(Timeline, &["w", "ArrowUp"], MoveUp, "Pan up", TIMELINE),
        line(Timeline, &["s", "ArrowDown"], MoveDown, "Pan down", TIMELINE),
        line(Timeline, &["."], ZoomEventsIn, "Zoom in horizontally", TIMELINE),
        line(Timeline, &[","], ZoomEventsOut, "Zoom out horizontally", TIMELINE),
        line(Timeline, &["+", "="], ZoomBytesIn, "Zoom in vertically", TIMELINE),
        line(Timeline, &["-", "_"], ZoomBytesOut, "Zoom out vertically", TIMELINE),
        line(Timeline, &["0"], FitBoth, "Fit the whole trace", "fit-both"),
        line(Timeline, &["f"], ToggleFitBytes, "Fit the byte axis to the window", "fit-bytes"),
        line(Timeline, &["t"], ToggleAxis, "Switch the axis between events and time", "axis"),
        line(Timeline, &["Shift+y"], Plot(PlotStep::Next), "Switch between live, addresses and reserved", "show"),
        line(Timeline, &["Shift+o"], Plot(PlotStep::NextPool), "Show only the next pool, or all pools", "only-pool"),
        line(
            Timeline,
            &["Shift+u"],
            Plot(PlotStep::NextStream),
            "Show only the next stream, or all streams",
            "only-stream",
        ),
        line(
            Timeline,
            &["Shift+k"],
            Plot(PlotStep::OnlySegment),
            "Show only the selected segment, or all segments",
            "only-segment",
        ),
        line(Timeline, &["1"], Plot(PlotStep::Toggle(Line::Reserved)), "Toggle the line: reserved", "line-reserved"),
        line(
            Timeline,
            &["2"],
            Plot(PlotStep::Toggle(Line::Rounded)),
            "Toggle the line: allocated (rounded)",
            "line-rounded",
        ),
        line(Timeline, &["3"], Plot(PlotStep::Toggle(Line::Requested)), "Toggle the line: live", "line-requested"),
        line(Timeline, &["4"], Plot(PlotStep::Toggle(Line::Allocated)), "Toggle the line: in use", "line-allocated"),
        line(Timeline, &["5"], Plot(PlotStep::Toggle(Line::Pending)), "Toggle the line: awaiting free", "line-pending"),
        line(Timeline, &["6"], Plot(PlotStep::Toggle(Line::Free)), "Toggle the line: free share", "line-free"),
        line(Timeline, &["g"], NextStacking, "Stack by the next grouping", "stacking"),
        line(Timeline, &["h"], NextColouring, "Colour by the next grouping", "colouring"),
        line(Timeline, &["p"], GoToPeak, "Go to the peak", "headlines"),
        line(Timeline, &["Shift+p"], PinPeak, "Move the cursor to the peak", "at-peak"),
        line(Timeline, &["End"], PinEnd, "Move the cursor to the end", "at-end"),
        line(Page, &["@"], TypeMoment, "Go to an event or a time", "at"),
        line(Timeline, &["q"], ToggleRange, "Start or finish a range at the cursor", TIMELINE),
        line(Page, &["Shift+q"], NextAbout, "Switch what the views show of the range", "scope"),
        line(
            Page,
            &["Shift+i"],
            ChooseScope(ViewScope::Change),
            "Show what changed from A to B, the ends of the range",
            "scope-change",
        ),
        line(Page, &["Shift+x"], PinRangePeak, "Go to the peak of the range", "range-peak"),
        line(Timeline, &[")"], Annotation(Direction::Next), "Select the next annotation as the range", TIMELINE),
        line(
            Timeline,
            &["("],
            Annotation(Direction::Previous),
            "Select the previous annotation as the range",
            TIMELINE,
        ),
        line(Timeline, &["Shift+Enter"], ZoomToRange, "Zoom to the range", TIMELINE),
        line(Scope::Export, &["h"], SaveHtml, "Save as HTML with the snapshot inside", "export-html"),
        line(Timeline, &["z"], WindowBack, "Undo the last pan or zoom", "window-back"),
        line(Timeline, &["Shift+z"], WindowForward, "Redo the last pan or zoom", "window-forward"),
        line(Timeline, &["Shift+ArrowLeft"], Cursor(CursorStep::Earlier), "Move the cursor back one event", TIMELINE),
        line(Timeline, &["Shift+ArrowRight"], Cursor(CursorStep::Later), "Move the cursor forward one event", TIMELINE),
        line(
            Timeline,
            &["Ctrl+Shift+ArrowLeft"],
            Cursor(CursorStep::ColumnLeft),
            "Move the cursor left one pixel",
            TIMELINE,
        ),
        line(
            Timeline,
            &["Ctrl+Shift+ArrowRight"],
            Cursor(CursorStep::ColumnRight),
            "Move the cursor right one pixel",
            TIMELINE,
        ),
        line(
            Timeline,
            &["Shift+ArrowUp"],
            Cursor(CursorStep::Above),
            "Move the cursor to the allocation above",
            TIMELINE,
        ),
        line(
            Timeline,
            &["Shift+ArrowDown"],
            Cursor(CursorStep::Below),
            "Move the cursor to the allocation below",
            TIMELINE,
        ),
        line(
            Timeline,
            &["<"],
            Cursor(CursorStep::Before),
            "Move the cursor to the previous allocation at this height",
            TIMELINE,
        ),
        line(
            Timeline,
            &[">"],
            Cursor(CursorStep::After),
            "Move the cursor to the next allocation at this height",
            TIMELINE,
        ),
        line(
            Timeline,
            &["{"],
            Cursor(CursorStep::ToBorn),
            "Move the cursor to where the selection is allocated",
            TIMELINE,
        ),
        line(
            Timeline,
            &["}"],
            Cursor(CursorStep::ToFreed),
            "Move the cursor to where the selection is freed",
            TIMELINE,
        ),
        line(Timeline, &["Enter"], Cursor(CursorStep::Select), "Select the allocation at the cursor", TIMELINE),
        line(Timeline, &["m"], PutMarker, "Add a marker at the cursor", TIMELINE),
        line(Timeline, &["Delete", "Backspace"], RemoveMarker, "Remove the nearest marker", "remove-marker"),
        line(Timeline, &["r"], ToggleRuler, "Measure from the cursor", "ruler"),
        line(Timeline, &["Shift+r"], ZoomToRuler, "Zoom to the measured range", "zoom-to-ruler"),
        line(Timeline, &["v"], TypeCapacity, "Set the GPU capacity", "capacity"),
        line(Page, &["Shift+g"], ToggleRules, "Edit category rules", "rules-open"),
        line(Page, &["Ctrl+,"], ToggleSettings, "Open settings", "settings-open"),
        theme(Theme::System, "Theme: system"),
        theme(Theme::Light, "Theme: light"),
        theme(Theme::Dark, "Theme: dark"),
    ]
};

/// Creates the entry of a theme. Themes have no key: they are listed in the settings and in the command palette.
const fn theme(theme: Theme, label: &'static str) -> Binding<Command> {
    line(Scope::Page, &[], Command::ChooseTheme(theme), label, theme.control())
}

/// Gestures of the pointer and the wheel, for the help dialog.
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

/// All entries: those on the shared state, those that show a tab, and those of the features.
pub static BINDINGS: LazyLock<Vec<Binding<Command>>> = LazyLock::new(|| {
    let mut all = SHARED.to_vec();
    for tab in Tab::ALL {
        let entry = tab.entry();
        all.push(line(Scope::Page, entry.key, Command::Show(tab), entry.label, entry.control));
    }
    all.extend(features::bindings().iter().map(|it| it.of(Command::Feature)));
    all
});

/// Returns the command of a key, in the notation of [`super::binding::chord`], while the focus is in `scope`.
pub fn command(scope: Scope, key: &str, letters: Letters) -> Option<Command> {
    let last = key.rsplit_once('+').map_or(key, |(_, last)| if last.is_empty() { key } else { last });
    if last.chars().count() == 1 && letters == Letters::Off && !key.starts_with("Ctrl+") && !key.starts_with("Alt+") {
        return None;
    }
    let in_scope = |scope| BINDINGS.iter().find(|binding| binding.scope == scope && binding.keys.contains(&key));
    // Keys for rows work in the list of events as well.
    let of_rows = || if scope == Scope::Tab(Tab::Events) { in_scope(Scope::Tab(Tab::Table)) } else { None };
    // Keys of the timeline work wherever the focus is, except those that remove or select: these act on the focused
    // view.
    let of_timeline = || {
        let moves = |command| !matches!(command, Command::RemoveMarker | Command::Cursor(CursorStep::Select));
        if scope == Scope::Export { None } else { in_scope(Scope::Timeline).filter(|binding| moves(binding.command)) }
    };
    let found = in_scope(scope).or_else(of_rows).or_else(|| in_scope(Scope::Page)).or_else(of_timeline);
    let command = found.map(|binding| binding.command);
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
