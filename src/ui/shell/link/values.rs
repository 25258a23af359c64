//! Getters and setters of link values that are more than a word or a number.

use crate::plot::lane_focus::show_device;
use crate::plot::{comparing, lane_focus, plots};
use crate::scope::selecting::select;
use crate::state::comparing::{SecondFile, SecondSource};
use crate::state::effect::Origin;
use crate::state::lanes::LaneLayout;
use crate::state::line::Line;
use crate::state::link_value::{ValueReader, format_list, format_optional};
use crate::state::plots::PlotAction;
use crate::state::shared::Shared;
use picture::timeline::Axis;
use protocol::{MemoryFilter, split_ordinal};

pub(super) fn device(state: &Shared) -> String {
    // When two files are compared, the device of the first one.
    let index = state.comparing.pair.map_or(state.device_index, |[a, _]| a);
    let device = state.device_at(index).map(|device| split_ordinal(device.device));
    let has_others = state.file().is_some_and(|file| file.devices.len() > 1);
    format_optional(device.filter(|(_, is_second)| has_others && !is_second).map(|(device, _)| device))
}

pub(super) fn compared_file(state: &Shared) -> String {
    match &state.comparing.second {
        SecondFile::Open(_, Origin::Link(url), _) => url.clone(),
        _ => String::new(),
    }
}

/// Sets the file to compare with. A file that is already being compared is not opened again.
pub(super) fn set_compared_file(state: &mut Shared, link: &mut ValueReader<'_>) {
    let open = compared_file(state);
    if link.text != open {
        if open.is_empty() || !link.text.is_empty() {
            state.comparing.pending_second =
                Some(SecondSource::Link(link.text.to_owned())).filter(|_| !link.text.is_empty());
        } else {
            comparing::end(state, link.out);
        }
    }
}

pub(super) fn set_device(state: &mut Shared, link: &mut ValueReader<'_>) {
    let devices = state.file().map_or(&[][..], |file| &file.devices);
    let wanted = link.text.parse().ok();
    let index = devices.iter().position(|device| Some(device.device) == wanted);
    if let Some(index) = link.check(index).filter(|index| *index != state.device_index) {
        show_device(state, index);
    }
}

pub(super) fn set_lanes(state: &mut Shared, link: &mut ValueReader<'_>) {
    let wanted = if link.is_second_word(["one", "all"]) { LaneLayout::All } else { LaneLayout::Single };
    if wanted != state.lanes.layout && state.device_count() > 1 {
        lane_focus::toggle_lanes(state);
    }
}

pub(super) fn set_axis(state: &mut Shared, link: &mut ValueReader<'_>) {
    let is_time = link.is_second_word(["events", "time"]);
    let state = &mut *state;
    let has_times = state.device().is_some_and(|device| device.time_us.is_some());
    let wanted = if is_time && has_times { Axis::Time } else { Axis::Events };
    if wanted != state.axis {
        state.axis = wanted;
        state.tools.axis_switch = None;
        state.lanes.reset();
    }
}

pub(super) fn set_plot(state: &mut Shared, link: &mut ValueReader<'_>) {
    let index = link.index(&plots::NAMES).unwrap_or(0);
    plots::handle_action(state, PlotAction::KindChosen(index));
}

pub(super) fn set_filter(state: &mut Shared, change: impl FnOnce(&mut MemoryFilter)) {
    let mut only = state.plot_settings.plot.filter();
    change(&mut only);
    plots::show_plot(state, plots::with_filter(state.plot_settings.plot, only));
}

/// Formats the curves of the Reserved plot that the user has hidden or shown, as their positions in [`Line::ALL`], from
/// 1.
pub(super) fn hidden_curves(state: &Shared) -> String {
    let is_changed =
        |(_, line): &(usize, Line)| state.plots.hidden_lines.contains(line) != Line::HIDDEN_BY_DEFAULT.contains(line);
    format_list(&mut (1..).zip(Line::ALL).filter(is_changed).map(|(number, _)| number.to_string()))
}

pub(super) fn set_hidden_curves(state: &mut Shared, link: &mut ValueReader<'_>) {
    state.plots.hidden_lines = Line::HIDDEN_BY_DEFAULT.to_vec();
    let mut changed = Vec::new();
    link.for_each_entry(&mut |entry| {
        let line = entry.parse::<usize>().ok()?.checked_sub(1).and_then(|index| Line::ALL.get(index))?;
        if !changed.contains(line) {
            changed.push(*line);
            state.plots.toggle_line(*line);
        }
        Some(())
    });
}

/// Selects an allocation without moving the window, because the window has a link key of its own.
pub(super) fn set_selection(state: &mut Shared, link: &mut ValueReader<'_>) {
    (state.selection, state.selecting) = (None, None);
    if let Some(allocation) = link.number() {
        select(state, allocation, link.out);
        state.linked.select_without_move = state.selecting;
    }
}
