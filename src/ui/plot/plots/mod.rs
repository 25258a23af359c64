//! The plot on the vertical axis: the stack, addresses or reserved bytes, of all memory or a part. Also sends the
//! requests to the worker that the plots need.
//!
//! A change of the plot does not change the horizontal range. The vertical range is stored separately for each plot and
//! device.

use crate::state::line::CurvesRequest;
pub use crate::state::plots::{NAMES, PlotAction, Plots, name};
pub(crate) use crate::state::plots::{lookup, push_bounded, with_filter, with_heights_of, without_curves};
pub use crate::state::selected_segment::{SegmentView, SelectedSegment};

pub mod axis;
pub mod curves;
pub mod segment;
pub mod view;

use crate::plot::ruler;
use crate::state::change::AskPhase;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use picture::timeline::View;
use protocol::{Answer, Curves, MemoryFilter, Overview, Plot, Question};

use std::rc::Rc;

/// Returns the overview curve of the shown part of memory, once it is known. Without a filter, returns the overview
/// of the stack plot.
pub fn overview(state: &Shared) -> Option<&Rc<Overview>> {
    if state.partial().is_some() {
        return state.partial_overview();
    }
    let part = state.memory_part(state.device_index)?;
    if part.1 == MemoryFilter::default() {
        return state.surroundings.overview.answer_to(&state.axis);
    }
    lookup(&state.plots.overviews, (part, state.axis))
}

/// Returns the reason why the stacking order of the plot cannot be chosen. `None` if it can.
pub fn no_order_reason(state: &Shared) -> Option<&'static str> {
    match state.plot_settings.plot {
        Plot::Stack | Plot::Reserved(_) => None,
        Plot::Addresses(_) => Some("Only the Live and Reserved views have an order"),
    }
}

/// Shows another plot or another part of memory.
pub(crate) fn show_plot(state: &mut Shared, plot: Plot) {
    if plot == state.plot_settings.plot {
        return;
    }
    let windows: Vec<(i64, Plot, View)> = state
        .shown_lanes()
        .filter(|lane| state.plot_height(lane.device).is_some())
        .map(|lane| (lane.device.device, state.plot_of(lane.index), *lane.view))
        .collect();
    for window in windows {
        state.plots.windows.retain(|(device, plot, _)| (*device, *plot) != (window.0, window.1));
        push_bounded(&mut state.plots.windows, window);
    }
    let is_other_kind = name(plot) != name(state.plot_settings.plot);
    state.plot_settings.plot = plot;
    // Scenes, ruler and hover depend on the height, which has another meaning now.
    state.drop_scenes();
    reset_heights(state);
    if is_other_kind && plot == Plot::Stack {
        state.plots.selected_segment = None;
    }
    state.lane_indices().into_iter().for_each(|index| restore_heights(state, index));
}

/// Clears the ruler, the hover state and drags, because heights now have another meaning.
fn reset_heights(state: &mut Shared) {
    ruler::remove(state);
    state.tools.crosshair.follow_pointer();
    (state.hover, state.question, state.tools.kept_selection) = (None, None, None);
    state.tools.drag = crate::state::drag::Drag::None;
}

/// Clears the selected segment and the segment filter, which do not apply to another device.
pub(crate) fn clear_segment(state: &mut Shared) {
    state.plots.selected_segment = None;
    let only = state.plot_settings.plot.filter();
    if only.address.is_some() {
        show_plot(state, with_filter(state.plot_settings.plot, MemoryFilter { address: None, ..only }));
    }
}

/// Restores the vertical window that a lane last had with its current plot. Shows the full height if there is none.
fn restore_heights(state: &mut Shared, index: usize) {
    let Some(device) = state.device_at(index) else { return };
    let (plane, ordinal, plot) = (state.plane_of(device), device.device, state.plot_of(index));
    let kept = state.plots.windows.iter().find(|(device, of, _)| (*device, *of) == (ordinal, plot));
    let kept = kept.map(|(_, _, view)| *view);
    state.navigate_lane(index, |_, now| with_heights_of(plane, now, kept));
}

/// Returns the pools and streams to choose from. Empty until the worker has replied.
pub fn pools_and_streams(state: &Shared) -> (&[(u64, u64)], &[u64]) {
    state.address_map(state.device_index).map_or((&[], &[]), |map| (&map.pools, &map.streams))
}

/// Handles a choice in the pickers.
pub(crate) fn handle_action(state: &mut Shared, action: PlotAction) {
    let plot = state.plot_settings.plot;
    let (pools, streams) = pools_and_streams(state);
    let only = plot.filter();
    let wanted = match action {
        PlotAction::KindChosen(index) => match index {
            0 => Plot::Stack,
            1 => Plot::Addresses(only),
            _ => Plot::Reserved(only),
        },
        PlotAction::Pool(index) => {
            let pool = index.and_then(|index| pools.get(index)).copied();
            with_filter(plot, MemoryFilter { pool, address: None, ..only })
        }
        PlotAction::Stream(index) => {
            let stream = index.and_then(|index| streams.get(index)).copied();
            with_filter(plot, MemoryFilter { stream, address: None, ..only })
        }
    };
    show_plot(state, wanted);
}

/// Requests data that the plot needs, with at most one pending request of each kind.
fn ask(state: &mut Shared, _: i64, out: &mut Outbox) {
    if state.plot_settings.plot == Plot::Stack {
        return;
    }
    if state.plots.pending_map.is_none() {
        let mut shown = state.lane_indices().into_iter().filter_map(|place| state.memory_part(place));
        let missing = shown.find(|part| lookup(&state.plots.maps, *part).is_none());
        if let Some(part) = missing {
            state.plots.pending_map = Some((out.ask(part.0, Question::Map(part.1)), part));
        }
    }
    if state.plots.pending_curves.is_none()
        && let Some(wanted) = curves::missing_curves(state)
    {
        let (device, query) = wanted.query();
        state.plots.pending_curves = Some((out.ask(device, query), wanted));
    }
}

/// Registration of the plots: callbacks for changes, requests and replies.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::BeforeScene, ask)], take };

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Map(map) => {
            if let Some((_, part)) = state.plots.pending_map.take_if(|(asked, _)| *asked == serial) {
                apply_reply(state, |plots| push_bounded(&mut plots.maps, (part, Rc::from(map))));
            }
        }
        Answer::Curves(curves) => on_curves(state, serial, *curves),
        other => return Some(other),
    }
    None
}

/// Stores a reply with curve values.
fn on_curves(state: &mut Shared, serial: u32, curves: Curves) {
    let Some((_, wanted)) = state.plots.pending_curves.take_if(|(asked, _)| *asked == serial) else { return };
    match wanted {
        CurvesRequest::Window(key) => {
            state.plots.curves.store(key, Rc::new(curves));
        }
        CurvesRequest::WholeAxis(part, axis, _) => {
            let overview = Rc::new(Overview { axis, total: curves.requested, reserved: curves.reserved });
            apply_reply(state, |plots: &mut Plots| push_bounded(&mut plots.overviews, ((part, axis), overview)));
        }
    }
}

/// Applies a reply that may determine the heights of plots. Then restores the vertical window of each lane whose
/// height became known.
fn apply_reply(state: &mut Shared, take: impl FnOnce(&mut Plots)) {
    let unknown = |state: &Shared| -> Vec<usize> {
        let is_unknown = |index: &usize| state.device_at(*index).is_some_and(|it| state.plot_height(it).is_none());
        state.lane_indices().into_iter().filter(is_unknown).collect()
    };
    let before = unknown(state);
    take(&mut state.plots);
    let after = unknown(state);
    before.into_iter().filter(|index| !after.contains(index)).for_each(|index| restore_heights(state, index));
}
