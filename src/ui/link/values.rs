//! Link values that are more than a word or a number.

use super::reading::{Reading, list, optional};
use crate::comparing::{self, Second, Wanted};
use crate::effect::Origin;
use crate::lanes::LaneLayout;
use crate::opening::show_device;
use crate::plots::{self, PlotAction, line::Line};
use crate::selecting::select;
use crate::shared::Shared;
use engine::protocol::{Only, own_ordinal};
use picture::timeline::Axis;

pub(super) fn device((): &(), state: &Shared) -> String {
    // When two files are compared, the device of the first one.
    let place = state.comparing.pair.map_or(state.device_place, |[a, _]| a);
    let device = state.device_at(place).map(|device| own_ordinal(device.device));
    let has_others = state.file().is_some_and(|file| file.devices.len() > 1);
    optional(device.filter(|(_, is_second)| has_others && !is_second).map(|(device, _)| device))
}

pub(super) fn with((): &(), state: &Shared) -> String {
    match &state.comparing.second {
        Second::Open(_, Origin::Link(url), _) => url.clone(),
        _ => String::new(),
    }
}

/// A file that is already being compared is not opened again.
pub(super) fn set_with((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let open = with(&(), state);
    if link.text != open {
        if open.is_empty() || !link.text.is_empty() {
            state.comparing.wanted = Some(Wanted::Link(link.text.to_owned())).filter(|_| !link.text.is_empty());
        } else {
            comparing::end(state, link.effects);
        }
    }
}

pub(super) fn set_device((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let devices = state.file().map_or(&[][..], |file| &file.devices);
    let wanted = link.text.parse().ok();
    let place = devices.iter().position(|device| Some(device.device) == wanted);
    if let Some(place) = link.take(place).filter(|place| *place != state.device_place) {
        show_device(state, place);
    }
}

pub(super) fn set_lanes((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let wanted = if link.is_second(["one", "all"]) { LaneLayout::Together } else { LaneLayout::Alone };
    if wanted != state.lanes.arrangement && state.device_count() > 1 {
        state.toggle_lanes();
    }
}

pub(super) fn set_axis((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let is_time = link.is_second(["events", "time"]);
    let state = &mut *state;
    let has_times = state.device().is_some_and(|device| device.time_us.is_some());
    let wanted = if is_time && has_times { Axis::Time } else { Axis::Events };
    if wanted != state.axis {
        (state.axis, state.view) = (wanted, None);
        state.tools.turning = None;
        state.drop_scenes();
        state.lanes.forget();
    }
}

pub(super) fn set_show((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let place = link.place(&plots::NAMES).unwrap_or(0);
    plots::act(state, PlotAction::Shown(place));
}

pub(super) fn set_only(state: &mut Shared, change: impl FnOnce(&mut Only)) {
    let mut only = state.looks.plot.only();
    change(&mut only);
    state.show_plot(plots::of(state.looks.plot, only));
}

/// Returns the hidden curves of the Reserved plot, by their numbers.
pub(super) fn lines((): &(), state: &Shared) -> String {
    let is_off = |(_, line): &(usize, Line)| state.plots.off.contains(line);
    list(&mut (1..).zip(Line::ALL).filter(is_off).map(|(number, _)| number.to_string()))
}

pub(super) fn set_lines((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    state.plots.off.clear();
    link.each(&mut |entry| {
        let line = entry.parse::<usize>().ok()?.checked_sub(1).and_then(|place| Line::ALL.get(place))?;
        if !state.plots.off.contains(line) {
            state.plots.off.push(*line);
        }
        Some(())
    });
}

/// Selects an allocation without moving the window, which has its own key.
pub(super) fn set_selection((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    (state.selection, state.selecting) = (None, None);
    if let Some(allocation) = link.number() {
        select(state, allocation, link.effects);
        state.linked.quiet = state.selecting;
    }
}
