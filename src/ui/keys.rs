//! The key table: one line a command. It drives the keyboard, fills the help dialog, and a test keeps it free of collisions.

use super::action::Command;
use super::drag::Held;
use super::events::EventStep;
use super::flame::FlameStep;
use super::memory::MemoryStep;
use super::picture_file::Format;
use super::plots::PlotStep;
use super::plots::curves::Line;
use super::shared::Letters;
use super::table::{Extent, Go};
use super::tree_keys::TreeCommand;
use super::views::Tab;
use super::why::WhyStep;
use engine::protocol::Direction;

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Anywhere but in a text field.
    Page,
    /// While the timeline has the focus.
    Timeline,
    /// While the call tree has the focus; its keys go before those of the page.
    Tree,
    /// While the table of allocations has the focus.
    Table,
    /// While the list of events has the focus: the keys of the table work as well, but for its order.
    Events,
    /// While the picture of the allocator's state has the focus.
    Memory,
    /// While the histograms have the focus.
    Histograms,
    /// While the view "Why" has the focus.
    Why,
    /// While the flame graph has the focus.
    Flame,
    /// While the formats of a picture are offered.
    Export,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where the keys work.
    pub scope: Scope,
    /// The keys, as [`chord`] writes them.
    pub keys: &'static [&'static str],
    /// What they do.
    pub command: Command,
    /// The same for people.
    pub label: &'static str,
    /// The id of the visible control that does the same.
    pub control: &'static str,
}

const fn line(
    scope: Scope,
    keys: &'static [&'static str],
    command: Command,
    label: &'static str,
    control: &'static str,
) -> Binding {
    Binding { scope, keys, command, label, control }
}

/// What rows are clicked in; it is the control of all keys that lead from row to row.
const GRID: &str = "table-grid";

/// What statements and rows of a report are clicked in.
const REPORT: &str = "why-report";

/// Every command, in the order of the help dialog.
pub const BINDINGS: &[Binding] = {
    use Command::*;
    use Scope::{Page, Table, Timeline};
    const fn plot(step: PlotStep) -> Command {
        Command::Plot(step)
    }
    const fn tree(
        keys: &'static [&'static str],
        command: TreeCommand,
        label: &'static str,
        control: &'static str,
    ) -> Binding {
        line(Scope::Tree, keys, Command::Tree(command), label, control)
    }
    const fn memory(
        keys: &'static [&'static str],
        step: MemoryStep,
        label: &'static str,
        control: &'static str,
    ) -> Binding {
        line(Scope::Memory, keys, Command::Memory(step), label, control)
    }
    &[
        line(Page, &["o"], OpenFile, "Open a snapshot", "open"),
        line(Page, &["e"], OpenExample, "Open the example", "open-example"),
        line(Page, &["x"], CancelLoading, "Cancel loading", "cancel"),
        line(Page, &["u"], NextDevice, "Next device", "next-device"),
        line(Page, &["b"], PreviousDevice, "Device before", "previous-device"),
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
        line(Page, &["Shift+w"], Show(Tab::Why), "Why: what an expert would say", "tab-why"),
        line(Page, &["Shift+t"], Show(Tab::Tree), "Call tree", "tab-tree"),
        line(Page, &["Shift+f"], Show(Tab::Flame), "Flame graph", "tab-flame"),
        line(Page, &["Shift+l"], Show(Tab::Table), "Table of allocations", "tab-table"),
        line(Page, &["Shift+h"], Show(Tab::Histograms), "Histograms of sizes and lives", "tab-histograms"),
        line(Page, &["Shift+s"], Show(Tab::Sources), "Files and lines of your own code", "tab-sources"),
        line(Page, &["Shift+m"], Show(Tab::Memory), "Memory: segments, blocks, what is free", "tab-state"),
        line(Page, &["Shift+a"], Show(Tab::Events), "Events: all that the allocator did", "tab-events"),
        line(Page, &["Shift+b"], Event(EventStep::ToBorn), "To the event that made the selection", "details-born"),
        line(Page, &["Shift+d"], Event(EventStep::ToFreed), "To the event that ended it", "details-freed"),
        line(Page, &["Shift+v"], FoldViews, "Fold the views away, or back", "answer-fold"),
        line(Page, &["j"], ChangeFocus, "From the timeline to the view below, or back", "timeline"),
        line(Scope::Why, &["ArrowUp"], Command::Why(WhyStep::Up), "Statement or row above", REPORT),
        line(Scope::Why, &["ArrowDown"], Command::Why(WhyStep::Down), "Statement or row below", REPORT),
        line(Scope::Why, &["Home"], Command::Why(WhyStep::First), "First statement", REPORT),
        line(Scope::Why, &["End"], Command::Why(WhyStep::Last), "Last row", REPORT),
        line(Scope::Why, &["Enter"], Command::Why(WhyStep::Follow), "Show what it rests on", REPORT),
        line(Scope::Why, &["Space"], Command::Why(WhyStep::Unfold), "Show its stack, or hide it", REPORT),
        line(Scope::Why, &["Shift+c"], Command::Why(WhyStep::Copy), "Copy the report as Markdown", "why-copy"),
        line(Table, &["ArrowUp"], Row(Go::Up, Extent::One), "Row above", GRID),
        line(Table, &["ArrowDown"], Row(Go::Down, Extent::One), "Row below", GRID),
        line(Table, &["PageUp"], Row(Go::PageUp, Extent::One), "A screen up", GRID),
        line(Table, &["PageDown"], Row(Go::PageDown, Extent::One), "A screen down", GRID),
        line(Table, &["Home"], Row(Go::First, Extent::One), "First row", GRID),
        line(Table, &["End"], Row(Go::Last, Extent::One), "Last row", GRID),
        line(Table, &["Shift+ArrowUp"], Row(Go::Up, Extent::Through), "Choose up to the row above", GRID),
        line(Table, &["Shift+ArrowDown"], Row(Go::Down, Extent::Through), "Choose down to the row below", GRID),
        line(Table, &["Shift+PageUp"], Row(Go::PageUp, Extent::Through), "Choose a screen up", GRID),
        line(Table, &["Shift+PageDown"], Row(Go::PageDown, Extent::Through), "Choose a screen down", GRID),
        line(Table, &["Shift+Home"], Row(Go::First, Extent::Through), "Choose up to the first row", GRID),
        line(Table, &["Shift+End"], Row(Go::Last, Extent::Through), "Choose down to the last row", GRID),
        line(Table, &["Ctrl+a"], ChooseAllRows, "Choose all rows", "choose-all"),
        line(Table, &["Ctrl+c"], CopyRows, "Copy the chosen rows, or all", "copy-rows"),
        line(Table, &["f"], FilterTable, "Filter the table", "table-filter"),
        line(Table, &["Delete", "Backspace"], ClearFilters, "List everything again", "table-clear"),
        line(Table, &["s"], SortByNext, "Sort by the next column", "table-head"),
        line(Table, &["r"], SortOtherWay, "Sort the other way", "table-rows"),
        line(Scope::Events, &["Enter"], Event(EventStep::Select), "Select the event's allocation", "events-grid"),
        memory(&["ArrowLeft"], MemoryStep::Before, "Block before", "memory-before"),
        memory(&["ArrowRight"], MemoryStep::After, "Block after", "memory-after"),
        memory(&["ArrowUp"], MemoryStep::SegmentBefore, "Segment before", "memory-segment-before"),
        memory(&["ArrowDown"], MemoryStep::SegmentAfter, "Segment after", "memory-segment-after"),
        memory(&["Home"], MemoryStep::First, "First block", "memory-first"),
        memory(&["End"], MemoryStep::Last, "Last block", "memory-last"),
        memory(&["Enter"], MemoryStep::Select, "Select the block", "memory-select"),
        memory(&["+", "="], MemoryStep::ZoomIn, "Fewer bytes a pixel", "memory-in"),
        memory(&["-", "_"], MemoryStep::ZoomOut, "More bytes a pixel", "memory-out"),
        memory(&["0"], MemoryStep::Fit, "All of it", "memory-fit"),
        memory(&["s"], MemoryStep::NextSort, "Segments in another order", "memory-sort"),
        memory(&["p"], MemoryStep::NextPool, "The next pool alone, or all", "memory-pool"),
        memory(&["t"], MemoryStep::NextStream, "The next stream alone, or all", "memory-stream"),
        memory(&["r"], MemoryStep::TypeRequest, "Type a request: where would it go?", "memory-request"),
        memory(&["Shift+ArrowLeft"], MemoryStep::Earlier, "The moment one event earlier", "memory-earlier"),
        memory(&["Shift+ArrowRight"], MemoryStep::Later, "The moment one event later", "memory-later"),
        line(Scope::Histograms, &["m"], ToggleMeasure, "Bars of bytes, or of counts", "measure"),
        line(Scope::Histograms, &["Delete", "Backspace"], ClearBars, "List everything again", "histograms-clear"),
        line(Timeline, &["a", "ArrowLeft"], MoveLeft, "Earlier events", "move-left"),
        line(Timeline, &["d", "ArrowRight"], MoveRight, "Later events", "move-right"),
        line(Timeline, &["w", "ArrowUp"], MoveUp, "More bytes", "move-up"),
        line(Timeline, &["s", "ArrowDown"], MoveDown, "Fewer bytes", "move-down"),
        line(Timeline, &["."], ZoomEventsIn, "Zoom the events in", "zoom-events-in"),
        line(Timeline, &[","], ZoomEventsOut, "Zoom the events out", "zoom-events-out"),
        line(Timeline, &["+", "="], ZoomBytesIn, "Zoom the bytes in", "zoom-bytes-in"),
        line(Timeline, &["-", "_"], ZoomBytesOut, "Zoom the bytes out", "zoom-bytes-out"),
        line(Timeline, &["0"], FitBoth, "Show everything", "fit-both"),
        line(Timeline, &["f"], ToggleFitBytes, "Fit the bytes to the window, or stop it", "fit-bytes"),
        line(Timeline, &["t"], ToggleAxis, "Events or wall-clock on the axis", "axis"),
        line(Timeline, &["Shift+y"], plot(PlotStep::Next), "Stack, addresses, or what was reserved", "show"),
        line(Timeline, &["Shift+o"], plot(PlotStep::NextPool), "Only the next pool, or all", "only-pool"),
        line(Timeline, &["Shift+u"], plot(PlotStep::NextStream), "Only the next stream, or all", "only-stream"),
        line(Timeline, &["Shift+k"], plot(PlotStep::OnlySegment), "Only the chosen segment, or all", "only-segment"),
        line(Timeline, &["1"], plot(PlotStep::Toggle(Line::Reserved)), "Line: reserved", "line-reserved"),
        line(Timeline, &["2"], plot(PlotStep::Toggle(Line::Rounded)), "Line: active, rounded", "line-rounded"),
        line(Timeline, &["3"], plot(PlotStep::Toggle(Line::Requested)), "Line: active, requested", "line-requested"),
        line(Timeline, &["4"], plot(PlotStep::Toggle(Line::Allocated)), "Line: allocated", "line-allocated"),
        line(Timeline, &["5"], plot(PlotStep::Toggle(Line::Pending)), "Line: pending", "line-pending"),
        line(Timeline, &["6"], plot(PlotStep::Toggle(Line::Free)), "Line: free share", "line-free"),
        line(Timeline, &["g"], NextStacking, "Stack by something else", "stacking"),
        line(Timeline, &["h"], NextColouring, "Colour by something else", "colouring"),
        line(Timeline, &["p"], GoToPeak, "Go to the peak, and ask about it", "go-to-peak"),
        line(Timeline, &["Shift+p"], PinPeak, "Ask about the peak", "at-peak"),
        line(Timeline, &["End"], PinEnd, "Ask about the end", "at-end"),
        line(Page, &["@"], TypeMoment, "Type an event or a time", "at"),
        line(Timeline, &["q"], ToggleRange, "Begin a range at the cursor, or let it be", "range-begin"),
        line(Page, &["Shift+q"], NextAbout, "Show something else of the range", "scope"),
        line(Page, &["Shift+x"], PinRangePeak, "Ask about the range's own peak", "range-peak"),
        line(Scope::Flame, &["ArrowUp"], Command::Flame(FlameStep::Up), "To the box above", "flame-up"),
        line(
            Scope::Flame,
            &["ArrowDown"],
            Command::Flame(FlameStep::Down),
            "To the box below, the heaviest",
            "flame-down",
        ),
        line(Scope::Flame, &["ArrowLeft"], Command::Flame(FlameStep::Left), "To the box at the left", "flame-left"),
        line(Scope::Flame, &["ArrowRight"], Command::Flame(FlameStep::Right), "To the box at the right", "flame-right"),
        line(Scope::Flame, &["Enter", "+"], Command::Flame(FlameStep::ZoomIn), "Zoom to the selected box", "flame-in"),
        line(Scope::Flame, &["Backspace", "-"], Command::Flame(FlameStep::ZoomOut), "Zoom out by a box", "flame-out"),
        line(Scope::Flame, &["0"], Command::Flame(FlameStep::ZoomOutFully), "Show everything", "flame-all"),
        line(Scope::Flame, &["f"], Command::Flame(FlameStep::Turn), "Root at the top or at the bottom", "flame-turn"),
        line(
            Scope::Flame,
            &["r"],
            Command::Flame(FlameStep::Invert),
            "Innermost or outermost frames at the root",
            "flame-invert",
        ),
        line(
            Scope::Flame,
            &["h"],
            Command::Flame(FlameStep::HideInternal),
            "Leave out internal frames, or not",
            "flame-internal",
        ),
        line(
            Scope::Flame,
            &["m"],
            Command::Flame(FlameStep::MergeOther),
            "Merge frames by line, function or file",
            "flame-merge",
        ),
        line(Page, &["i"], ToggleExport, "Save the picture, or the page…", "export-open"),
        line(Scope::Export, &["1"], Command::Export(Format::Png1), "PNG, as on the screen", "export-png-1"),
        line(Scope::Export, &["2"], Command::Export(Format::Png2), "PNG, twice as many pixels", "export-png-2"),
        line(Scope::Export, &["4"], Command::Export(Format::Png4), "PNG, four times as many", "export-png-4"),
        line(Scope::Export, &["s"], Command::Export(Format::Svg), "SVG", "export-svg"),
        line(Scope::Export, &["h"], SaveHtml, "HTML: this page with the snapshot in it", "export-html"),
        line(Timeline, &["z"], WindowBack, "Back to the window before", "window-back"),
        line(Timeline, &["Shift+z"], WindowForward, "Forward again", "window-forward"),
        line(Timeline, &["Shift+ArrowLeft"], CursorEarlier, "Cursor one event earlier", "cursor-earlier"),
        line(Timeline, &["Shift+ArrowRight"], CursorLater, "Cursor one event later", "cursor-later"),
        line(Timeline, &["Ctrl+Shift+ArrowLeft"], CursorColumnLeft, "Cursor one column left", "cursor-column-left"),
        line(Timeline, &["Ctrl+Shift+ArrowRight"], CursorColumnRight, "Cursor one column right", "cursor-column-right"),
        line(Timeline, &["Shift+ArrowUp"], CursorAbove, "Cursor onto the allocation above", "cursor-above"),
        line(Timeline, &["Shift+ArrowDown"], CursorBelow, "Cursor onto the allocation below", "cursor-below"),
        line(Timeline, &["<"], CursorBefore, "Cursor onto the allocation before, at its height", "cursor-before"),
        line(Timeline, &[">"], CursorAfter, "Cursor onto the allocation after, at its height", "cursor-after"),
        line(Timeline, &["{"], CursorToBorn, "Cursor to the birth of the selected allocation", "cursor-to-born"),
        line(Timeline, &["}"], CursorToFreed, "Cursor to the free of the selected allocation", "cursor-to-freed"),
        line(Timeline, &["Enter"], SelectAtCursor, "Select what is at the cursor", "select-at-cursor"),
        line(Timeline, &["m"], PutMarker, "Put a marker at the cursor", "put-marker"),
        line(Timeline, &["Delete", "Backspace"], RemoveMarker, "Remove the nearest marker", "remove-marker"),
        line(Timeline, &["r"], ToggleRuler, "Measure from the cursor, or stop there", "ruler"),
        line(Timeline, &["Shift+r"], ZoomToRuler, "Zoom to what was measured", "zoom-to-ruler"),
        line(Timeline, &["v"], TypeCapacity, "Type the capacity of the GPU", "capacity"),
        line(Page, &["Shift+g"], ToggleRules, "Rules that tell categories", "rules-open"),
        line(Page, &["Ctrl+,"], ToggleSettings, "Settings: internal frames, links to the source", "settings-open"),
        tree(&["ArrowUp"], TreeCommand::Up, "Row above", ROWS),
        tree(&["ArrowDown"], TreeCommand::Down, "Row below", ROWS),
        tree(&["ArrowRight"], TreeCommand::In, "Open the row, or go to its first child", ROWS),
        tree(&["ArrowLeft"], TreeCommand::Out, "Close the row, or go to its parent", ROWS),
        tree(&["Space"], TreeCommand::Toggle, "Open the row, or close it", ROWS),
        tree(&["PageUp"], TreeCommand::PageUp, "Page up", ROWS),
        tree(&["PageDown"], TreeCommand::PageDown, "Page down", ROWS),
        tree(&["Home"], TreeCommand::First, "First row", ROWS),
        tree(&["End"], TreeCommand::Last, "Last row", ROWS),
        tree(&["e", "*"], TreeCommand::OpenBelow, "Open all below the row", "tree-open-below"),
        tree(&["c"], TreeCommand::CloseBelow, "Close all below the row", "tree-close-below"),
        tree(&["Shift+e"], TreeCommand::OpenAll, "Open all rows", "tree-open-all"),
        tree(&["Shift+c"], TreeCommand::CloseAll, "Close all rows", "tree-close-all"),
        tree(&["f"], TreeCommand::Focus, "Only the row and what is below it", "tree-focus"),
        tree(&["Backspace"], TreeCommand::Back, "Back to what stood at the top before", "tree-back"),
        tree(&["Shift+Backspace"], TreeCommand::Whole, "The whole tree again", "tree-whole"),
        tree(&["r"], TreeCommand::Invert, "Innermost frames at the root, or outermost", "tree-invert"),
        tree(&["h"], TreeCommand::HideInternal, "Leave internal frames out, or show them", "tree-internal"),
        tree(&["m"], TreeCommand::NextMerge, "Merge frames by line, function or file", "tree-merge"),
        tree(&["Enter"], TreeCommand::Select, "Select the row: its allocations stand out", "tree-select"),
        tree(&["a"], TreeCommand::Heaviest, "Select the heaviest allocation of the row", "tree-heaviest"),
        tree(&["g"], TreeCommand::Selection, "To the stack of the selected allocation", "tree-selection"),
        tree(&["n"], TreeCommand::NextMatch, "Next row that the search looks for", "tree-next-match"),
        tree(&["Shift+n"], TreeCommand::PreviousMatch, "Row before that it looks for", "tree-previous-match"),
        tree(&["s"], TreeCommand::Source, "Open the row's source", "tree-source"),
    ]
};

/// The list of rows is itself the control of what leads through it.
const ROWS: &str = "tree-rows";

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

/// A key as the table has it, from `KeyboardEvent.key` and what is held beside it: `Ctrl+Shift+ArrowLeft`, `Shift+z`. Letters are
/// in lower case; other signs stand for themselves, whatever it takes to type them.
pub fn chord(key: &str, held: Held) -> String {
    let key = if key == " " { "Space" } else { key };
    let is_sign = key.chars().count() == 1;
    let lower = if is_sign { key.to_ascii_lowercase() } else { key.to_owned() };
    // What other signs take to be typed is the keyboard's affair.
    let is_letter = !is_sign || key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let shift = if held.shift && is_letter { "Shift+" } else { "" };
    [if held.ctrl { "Ctrl+" } else { "" }, if held.alt { "Alt+" } else { "" }, shift, &lower].concat()
}

/// The command of a key, as [`chord`] writes it, while the focus is in `scope`.
pub fn command(scope: Scope, key: &str, letters: Letters) -> Option<Command> {
    let last = key.rsplit_once('+').map_or(key, |(_, last)| if last.is_empty() { key } else { last });
    if last.chars().count() == 1 && letters == Letters::Off && !key.starts_with("Ctrl+") && !key.starts_with("Alt+") {
        return None;
    }
    let in_scope = |scope| BINDINGS.iter().find(|binding| binding.scope == scope && binding.keys.contains(&key));
    // Rows are rows, whatever they tell.
    let of_rows = || if scope == Scope::Events { in_scope(Scope::Table) } else { None };
    let command = in_scope(scope).or_else(of_rows).or_else(|| in_scope(Scope::Page)).map(|binding| binding.command);
    Some(match (command?, scope) {
        (Command::FindNext, Scope::Flame | Scope::Table) => Command::FindHere(Direction::Next),
        (Command::FindPrevious, Scope::Flame | Scope::Table) => Command::FindHere(Direction::Previous),
        (command, _) => command,
    })
}

/// How a key is written for people.
pub fn key_text(key: &str) -> String {
    for (held, text) in [("Ctrl+", "Ctrl + "), ("Alt+", "Alt + "), ("Shift+", "Shift + ")] {
        if let Some(key) = key.strip_prefix(held) {
            return text.to_owned() + &key_text(key);
        }
    }
    match key {
        "ArrowLeft" => "←".into(),
        "ArrowRight" => "→".into(),
        "ArrowUp" => "↑".into(),
        "ArrowDown" => "↓".into(),
        "PageUp" => "Page ↑".into(),
        "PageDown" => "Page ↓".into(),
        "Escape" => "Esc".into(),
        "Enter" | "Delete" | "Backspace" | "Space" | "Home" | "End" => key.into(),
        "-" => "−".into(),
        other => other.to_ascii_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        for (at, a) in BINDINGS.iter().enumerate() {
            for b in &BINDINGS[at + 1..] {
                assert_ne!(a.command, b.command, "a command stands in the table once");
                assert!(a.control != b.control || [ROWS, GRID, REPORT].contains(&a.control), "{}", a.control);
                // A page key works in every scope, so it must differ from all but those of the tree, which go before it.
                let near = [a.scope, b.scope].contains(&Scope::Page) && ![a.scope, b.scope].contains(&Scope::Tree);
                let rows = [a.scope, b.scope].iter().all(|it| [Scope::Events, Scope::Table].contains(it));
                if a.scope == b.scope || near || rows {
                    let shared = a.keys.iter().find(|key| b.keys.contains(key));
                    assert_eq!(shared, None, "{:?} and {:?}", a.command, b.command);
                }
            }
        }
    }

    #[test]
    fn the_tree_takes_only_these_keys_from_the_page() {
        let of = |scope| BINDINGS.iter().filter(move |it| it.scope == scope).flat_map(|it| it.keys);
        let taken: Vec<&str> = of(Scope::Tree).filter(|key| of(Scope::Page).any(|it| it == *key)).copied().collect();
        assert_eq!(taken, ["e", "c", "n", "Shift+n"], "the keys of ptmem, and the way from match to match");
        let typed = |scope, key| command(scope, key, Letters::On);
        assert_eq!(typed(Scope::Tree, "c"), Some(Command::Tree(TreeCommand::CloseBelow)));
        assert_eq!(
            (typed(Scope::Timeline, "c"), typed(Scope::Tree, "o")),
            (Some(Command::CopyDetails), Some(Command::OpenFile))
        );
        assert_eq!(typed(Scope::Tree, &chord(" ", Held::default())), Some(Command::Tree(TreeCommand::Toggle)));
        assert_eq!(command(Scope::Page, "Ctrl+,", Letters::Off), Some(Command::ToggleSettings), "no single letter");
    }

    #[test]
    fn keys_work_in_their_scope() {
        use Letters::On;
        assert_eq!(command(Scope::Timeline, "a", On), Some(Command::MoveLeft));
        let typed = |key: &str, held: Held| command(Scope::Timeline, &chord(key, held), On);
        let (alone, shift) = (Held::default(), Held { shift: true, ..Held::default() });
        assert_eq!(typed("A", alone), Some(Command::MoveLeft), "caps lock is not a trap");
        assert_eq!((typed("z", alone), typed("Z", shift)), (Some(Command::WindowBack), Some(Command::WindowForward)));
        assert_eq!(typed("?", shift), Some(Command::ToggleHelp), "a sign that takes Shift to type");
        assert_eq!(typed("ArrowLeft", shift), Some(Command::CursorEarlier));
        let both = Held { ctrl: true, ..shift };
        assert_eq!(typed("ArrowLeft", both), Some(Command::CursorColumnLeft));
        assert_eq!(typed("c", Held { ctrl: true, ..alone }), None, "that copies what is marked");
        assert_eq!(command(Scope::Page, "a", On), None);
        assert_eq!(command(Scope::Timeline, "?", On), Some(Command::ToggleHelp));
        assert_eq!((typed("n", alone), typed("N", shift)), (Some(Command::FindNext), Some(Command::FindPrevious)));
        assert_eq!(command(Scope::Table, "n", On), Some(Command::FindHere(Direction::Next)), "of what it shows");
    }

    #[test]
    fn letters_can_be_switched_off_and_on_again() {
        for key in ["a", "o", "+", "0", "?", "Shift+z"] {
            assert_eq!(command(Scope::Timeline, key, Letters::Off), None);
        }
        assert_eq!(command(Scope::Timeline, "ArrowLeft", Letters::Off), Some(Command::MoveLeft));
        assert_eq!(command(Scope::Page, "F2", Letters::Off), Some(Command::ToggleLetters));
    }
}
