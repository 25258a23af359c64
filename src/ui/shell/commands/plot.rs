//! Commands that choose the plot, the part of memory that it shows, its lines, and its order and colours.

use crate::features::State;
use crate::features::command::Trait::NeedsWholeFile;
use crate::features::command::{Call, Command, Keys, Name, PLOT, Row, row, rows};
use crate::plot::plots::handle_action;
use crate::plot::{axis_switch, capacity, plots};
use crate::state::binding::KeyScope::Timeline;
use crate::state::line::Line;
use crate::state::plots::{NAMES, PlotAction, name, with_filter};
use protocol::{Grouping, MemoryFilter, Plot};

rows! {
    pub(super) PLOTS:
    NEXT_PLOT = plot(&["Shift+y"], "Switch between live, addresses and reserved", "show", |state, _| {
        let now = name(state.plot_settings.plot);
        let index = NAMES.iter().position(|of| *of == now).map_or(0, |index| (index + 1) % NAMES.len());
        handle_action(state, PlotAction::KindChosen(index));
    });
    NEXT_POOL = plot(&["Shift+o"], "Show only the next pool, or all pools", "only-pool", |state, _| {
        if has_parts(state) {
            let next = next_or_all(plots::pools_and_streams(state).0, state.plot_settings.plot.filter().pool);
            handle_action(state, PlotAction::Pool(next));
        }
    });
    NEXT_STREAM = plot(&["Shift+u"], "Show only the next stream, or all streams", "only-stream", |state, _| {
        if has_parts(state) {
            let next = next_or_all(plots::pools_and_streams(state).1, state.plot_settings.plot.filter().stream);
            handle_action(state, PlotAction::Stream(next));
        }
    });
    ONLY_SEGMENT = plot(&["Shift+k"], "Show only the selected segment, or all segments", "only-segment",
        |state, _| toggle_segment(state));
}

rows! {
    /// Commands that show or hide a line, in the order of [`Line::ALL`].
    pub(super) LINES:
    TOGGLE_LINE_RESERVED = plot(&["1"], "Toggle the line: reserved", "line-reserved",
        |state, _| toggle_line(state, Line::Reserved));
    TOGGLE_LINE_ROUNDED = plot(&["2"], "Toggle the line: allocated (rounded)", "line-rounded",
        |state, _| toggle_line(state, Line::Rounded));
    TOGGLE_LINE_REQUESTED = plot(&["3"], "Toggle the line: live", "line-requested",
        |state, _| toggle_line(state, Line::Requested));
    TOGGLE_LINE_NOT_AWAITING_FREE = plot(&["4"], "Toggle the line: live, not awaiting free", "line-allocated",
        |state, _| toggle_line(state, Line::NotAwaitingFree));
    TOGGLE_LINE_AWAITING_FREE = plot(&["5"], "Toggle the line: awaiting free", "line-pending",
        |state, _| toggle_line(state, Line::AwaitingFree));
    TOGGLE_LINE_FREE = plot(&["6"], "Toggle the line: free share", "line-free",
        |state, _| toggle_line(state, Line::Free));
    TOGGLE_LINE_STRANDED = plot(&["7"], "Toggle the line: stranded", "line-stranded",
        |state, _| toggle_line(state, Line::Stranded));
    TOGGLE_LINE_OUTSIDE = plot(&["8"], "Toggle the line: outside the allocator", "line-outside",
        |state, _| toggle_line(state, Line::Outside));
    TOGGLE_LINE_RESIDENT = plot(&["9"], "Toggle the line: resident memory of the host", "line-resident",
        |state, _| toggle_line(state, Line::Resident));
    TOGGLE_LINE_PINNED = plot(&[], "Toggle the line: pinned memory of the host", "line-pinned",
        |state, _| toggle_line(state, Line::Pinned));
}

rows! {
    pub(super) GROUPINGS:
    NEXT_STACKING = row(Timeline, PLOT, &["g"], "Stack by the next grouping", "stacking",
        |state, _| next_stacking(state));
    NEXT_COLOURING = row(Timeline, PLOT, &["h"], "Colour by the next grouping", "colouring", |state, _| {
        let colouring = next_of(&Grouping::ALL, state.plot_settings.colouring);
        axis_switch::colour_by(state, colouring);
    });
}

/// Returns the command that shows or hides a line of the Reserved plot.
pub fn toggle_line_command(line: Line) -> Option<Command> {
    LINES.get(Line::ALL.iter().position(|one| *one == line)?).copied()
}

const fn plot(keys: Keys, title: Name, control: Name, call: Call) -> Row {
    row(Timeline, PLOT, keys, title, control, call).with(&[NeedsWholeFile])
}

/// Returns whether the plot can show a part of memory. If not, asks the user to choose another plot.
fn has_parts(state: &mut State) -> bool {
    let has_parts = state.plot_settings.plot != Plot::Stack;
    if !has_parts {
        state.remark =
            Some("The Live view shows all pools and streams. Choose the Addresses or Reserved view.".to_owned());
    }
    has_parts
}

/// Returns the index of the entry after `shown`: the first if none is shown, and none after the last, which shows all.
fn next_or_all<T: PartialEq>(all: &[T], shown: Option<T>) -> Option<usize> {
    let shown = shown.and_then(|shown| all.iter().position(|one| *one == shown));
    Some(shown.map_or(0, |shown| shown + 1)).filter(|next| *next < all.len())
}

fn toggle_segment(state: &mut State) {
    let plot = state.plot_settings.plot;
    let selected = state.plots.selected_segment.as_ref().map(|chosen| chosen.segment.address);
    match (plot.filter(), selected) {
        (only @ MemoryFilter { address: Some(_), .. }, _) => {
            plots::show_plot(state, with_filter(plot, MemoryFilter { address: None, ..only }));
        }
        (_, Some(_)) => {
            plots::show_plot(state, Plot::Addresses(MemoryFilter { address: selected, ..MemoryFilter::default() }));
        }
        (_, None) => state.remark = Some("Select a segment first.".to_owned()),
    }
}

fn toggle_line(state: &mut State, line: Line) {
    match state.plot_settings.plot {
        Plot::Reserved(_) => capacity::change_height(state, |state| state.plots.toggle_line(line)),
        _ => state.remark = Some("Lines are shown in the Reserved view.".to_owned()),
    }
}

fn next_stacking(state: &mut State) {
    if let Some(why) = plots::no_order_reason(state) {
        state.remark = Some([why, "."].concat());
        return;
    }
    let kinds: Vec<_> = Grouping::ALL.iter().copied().map(Some).chain([None]).collect();
    let stacking = next_of(&kinds, state.plot_settings.stacking);
    axis_switch::stack_by(state, stacking);
}

/// Returns the element after `now` in `all`, wrapping around to the first.
fn next_of<T: PartialEq + Copy>(all: &[T], now: T) -> T {
    let index = all.iter().position(|one| *one == now).map_or(0, |index| index + 1);
    all.get(index).or(all.first()).copied().unwrap_or(now)
}
