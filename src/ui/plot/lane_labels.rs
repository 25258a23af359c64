//! Labels and byte axes of the lanes, and the button that shows all devices.

use crate::plot::comparing::view::side;
use crate::plot::plots;
use crate::state::lanes::LaneLayout;
use crate::state::shared::Shared;
use crate::text::summary::device_name;
use base::units::group_digits;
use picture::timeline::{Axis, Tick};

/// Label beside a lane, which names the device.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneLabel {
    /// Ordinal of the device.
    pub device: i64,
    pub name: String,
    /// Peak of the device, or the reason why its timeline is not drawn.
    pub note: String,
    pub is_focused: bool,
    /// Distance from the top of the timeline to the top of the lane, and height of the lane, in CSS pixels.
    pub top_and_height: [f64; 2],
}

/// Returns the labels of the lanes, from top to bottom. Empty if only one device is shown.
pub fn lane_labels(state: &Shared) -> Vec<LaneLabel> {
    let Some(canvas) = state.canvas.filter(|_| state.has_lanes()) else { return Vec::new() };
    let lanes = state.shown_lanes().map(|lane| {
        let top_px = canvas.height_px.saturating_sub(lane.bottom_px).saturating_sub(lane.view.height_px);
        let without_time = state.axis == Axis::Time && lane.device.time_us.is_none();
        LaneLabel {
            device: lane.device.device,
            name: match state.comparing.pair {
                Some([a, _]) => [if lane.index == a { "A · " } else { "B · " }, &side(state, lane.index)].concat(),
                None => device_name(lane.device),
            },
            note: if without_time {
                "no timestamps recorded".to_owned()
            } else {
                plots::axis::peak_label(state, lane.index, lane.device)
            },
            is_focused: lane.index == state.device_index,
            top_and_height: [top_px, lane.view.height_px].map(|px| f64::from(px) / canvas.scale),
        }
    });
    lanes.collect()
}

/// Factor applied to the distance between axis ticks while several lanes are shown, because lanes are low.
const TICK_SPACING: f64 = 0.55;

/// Returns the ticks of all byte axes, in pixels from the bottom of the canvas.
///
/// `min_distance` is the minimum distance between ticks while one device is shown, in pixels. `font` is the height of
/// the labels, in pixels. If several lanes are shown, ticks that would touch the label of the lane above are omitted.
pub fn lane_ticks(state: &Shared, min_distance: f64, font: f64) -> Vec<Tick> {
    let min_distance = if state.has_lanes() { min_distance * TICK_SPACING } else { min_distance };
    let lanes = state.shown_lanes().flat_map(|lane| {
        let bottom = i64::from(lane.bottom_px);
        let room = if state.has_lanes() { f64::from(lane.view.height_px) - 1.2 * font } else { f64::INFINITY };
        plots::axis::height_ticks(state, lane.index, lane.view, min_distance)
            .into_iter()
            .filter(move |tick| tick.value == 0 || (tick.at_px as f64) < room)
            .map(move |tick| Tick { at_px: tick.at_px + bottom, ..tick })
    });
    lanes.collect()
}

/// State of the button that shows all devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesToggle {
    pub is_possible: bool,
    pub is_on: bool,
    /// Text such as `16 of 1,000 devices` if not all devices fit. Otherwise empty.
    pub note: String,
}

/// Builds the state of the button that shows all devices.
pub fn lanes_toggle(state: &Shared) -> LanesToggle {
    // The lanes of a comparison cannot be toggled.
    let devices = if state.comparing.pair.is_some() { 0 } else { state.device_count() };
    let shown = state.lane_indices().len();
    let is_on = state.lanes.layout == LaneLayout::All && devices > 1;
    let is_truncated = is_on && state.canvas.is_some() && shown < devices;
    let note = if is_truncated {
        format!("{} of {} devices", group_digits(shown as u64), group_digits(devices as u64))
    } else {
        String::new()
    };
    LanesToggle { is_possible: devices > 1, is_on, note }
}
