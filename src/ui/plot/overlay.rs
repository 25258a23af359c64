//! Shapes drawn over the timeline as data: crosshair, ruler, zoom box, markers and capacity line. Coordinates are in
//! device pixels of the plot, with y upwards.

use crate::plot::{comparing, crosshair, markers, plots, ruler};
use crate::scope::{cursor, range};
use crate::state::drag::Drag;
use crate::state::effect::Pointer;
use crate::state::range::ViewScope;
use crate::state::shared::Shared;
use crate::text::amount::{elapsed, event_name};
use base::units::{BYTE_UNITS, Bytes, group_digits};
use picture::timeline::{Axis, View};
use protocol::Plot;

/// Shapes drawn over the timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    pub crosshair: Option<Crosshair>,
    /// Column of the pointer, if the pointer is over a lane that is not focused.
    pub other_lane_pointer: Option<f64>,
    /// The two ends of the ruler, and the ruler's label.
    pub ruler: Option<([Pointer; 2], String)>,
    /// Two opposite corners of the box to zoom into.
    pub zoom_box: Option<[Pointer; 2]>,
    pub markers: Vec<MarkerFlag>,
    /// Hovered slice of the annotation tracks: left and right edge, and index of the track.
    pub slice: Option<([f64; 2], u32)>,
    /// Column and label of the cursor. The label is the event, or the time on the time axis.
    pub cursor: Option<(f64, String)>,
    /// Cursor in the lane of the other device of a comparison: column and label of the event aligned with the cursor,
    /// and top of the lane in pixels from the canvas's upper edge.
    pub other_cursor: Option<(f64, String, f64)>,
    /// Left and right edge of the range. They may be outside the window.
    pub range: Option<[f64; 2]>,
    /// True if the ends of the range are labelled A and B because the views show the change between them.
    pub labels_ends: bool,
    /// Height and label of the capacity line.
    pub capacity: Option<(f64, String)>,
}

/// The crosshair and its labels on both axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Crosshair {
    pub at: Pointer,
    /// Label on the horizontal axis: event and time.
    pub x_label: String,
    /// Label on the vertical axis: bytes, or the address in the address plot.
    pub y_label: String,
}

/// Position and labels of a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerFlag {
    pub at: Pointer,
    /// Number shown on the marker.
    pub number: String,
    /// Label of the marker: the requested bytes.
    pub text: String,
}

impl Overlay {
    /// Builds the overlay for the current state.
    pub fn from_state(state: &Shared) -> Overlay {
        let Some(view) = state.view else { return Overlay::default() };
        let (width, height) = (f64::from(view.width_px), f64::from(view.height_px));
        let row = |byte: u64| (byte as f64 + 0.5) / view.bytes_per_px - view.bottom_px as f64;
        let position_px = |point: &crate::state::point::Point| {
            Some(Pointer { x: view.column_from_x(point.x(state.axis)?), y: row(point.byte) })
        };
        let inside = |at: &Pointer| (0.0..=width).contains(&at.x) && (0.0..=height).contains(&at.y);
        let ruler = state.tools.ruler.ends.as_ref().and_then(|[from, to]| {
            let text = ruler::measured(state)?.text();
            Some(([position_px(from)?, position_px(to)?], text))
        });
        let flags = markers::drawn(state).filter_map(|marker| {
            let mut at = position_px(&marker.point).filter(|at| (0.0..=width).contains(&at.x))?;
            if marker.plot != state.plot_settings.plot {
                // The marker was set in another plot, so its height has no meaning here.
                at.y = f64::NEG_INFINITY;
            }
            let text = marker.point.facts.map_or_else(String::new, |facts| Bytes(facts.requested).to_string());
            Some(MarkerFlag { at, number: marker.number.to_string(), text })
        });
        let is_over_other_lane =
            state.has_lanes() && state.pointer.is_none() && state.tools.crosshair.by_keys.is_none();
        let capacity = state.capacity_line().map(|bytes| {
            let y = view.row_from_bytes(bytes) as f64;
            (y, format!("Device capacity {}", Bytes(bytes)))
        });
        Overlay {
            crosshair: crosshair::px(state).filter(inside).and_then(|at| crosshair(state, &view, at)),
            other_lane_pointer: state.lanes.pointer.filter(|_| is_over_other_lane).map(|pointer| pointer.x),
            ruler,
            zoom_box: if let Drag::Box(corners) = state.tools.drag { Some(corners) } else { None },
            markers: flags.collect(),
            slice: state.slices.hovered.as_ref().map(|(slice, _)| (slice.x, slice.lane)),
            cursor: cursor::x_px(state)
                .filter(|(x, _)| (0.0..=width).contains(x))
                .map(|(x, at)| (x, cursor_label(state, &view, x, at))),
            other_cursor: other_cursor(state).filter(|(x, ..)| (0.0..=width).contains(x)),
            labels_ends: cursor::view_scope(state) == ViewScope::Change,
            range: range::px(state).filter(|[from, to]| *to >= 0.0 && *from <= width),
            capacity: capacity.filter(|(y, _)| (0.0..=height).contains(y)),
        }
    }
}

/// Returns the column, label and lane top of the cursor in the lane of the other device of a comparison.
fn other_cursor(state: &Shared) -> Option<(f64, String, f64)> {
    let moments = comparing::part::aligned_cursor(state).filter(|_| state.axis == Axis::Events)?.0;
    let lane = state.shown_lanes().find(|lane| lane.index != state.device_index)?;
    let moment = moments[usize::from(!comparing::part::is_b_shown(state))];
    let x = lane.view.column_from_x(f64::from(moment) + 0.5);
    let top = state.canvas?.height_px.saturating_sub(lane.bottom_px).saturating_sub(lane.view.height_px);
    Some((x, event_name(moment), f64::from(top)))
}

/// Returns the label of the cursor: its time on the time axis, otherwise its event.
fn cursor_label(state: &Shared, view: &View, x: f64, moment: u32) -> String {
    let device = state.device().filter(|_| state.axis == Axis::Time && moment > 0);
    let zero = device.map(|device| state.shared_axis().zero_on(device) as f64);
    zero.map_or_else(|| event_name(moment), |zero| elapsed((view.x_from_column(x) - zero).round() as i64))
}

fn crosshair(state: &Shared, view: &View, at: Pointer) -> Option<Crosshair> {
    let position = crosshair::position(state)?;
    let mut x_label = event_name(position.moment);
    let facts = state.crosshair_facts().filter(|facts| facts.moment == position.moment);
    let time = match (state.axis, state.tools.crosshair.by_keys, state.device()?.time_us) {
        // With the pointer on a time axis, the time follows from the position.
        (Axis::Time, None, Some(_)) => {
            let zero = state.shared_axis().zero_on(state.device()?);
            Some((view.x_from_column(at.x) - zero as f64).round() as i64)
        }
        (_, _, Some((first, _))) => facts.and_then(|facts| facts.time_us).map(|us| us.saturating_sub(first)),
        _ => None,
    };
    if let Some(time) = time {
        x_label.push_str(" · ");
        x_label.push_str(&elapsed(time));
    }
    let y_label = match state.plot_settings.plot {
        Plot::Addresses(_) => {
            plots::axis::address_at(state, position.byte).map_or("not mapped".to_owned(), |at| format!("0x{at:x}"))
        }
        _ => bytes_text(position.byte, view.bytes_per_px),
    };
    Some(Crosshair { at, x_label, y_label })
}

/// Formats bytes in the largest suitable unit, with up to three decimals. The more bytes a pixel covers, the fewer
/// decimals are shown.
fn bytes_text(bytes: u64, bytes_per_px: f64) -> String {
    let mut unit = 0;
    while unit + 1 < BYTE_UNITS.len() && bytes >> (10 * (unit + 1)) > 0 {
        unit += 1;
    }
    let name = BYTE_UNITS.get(unit).unwrap_or(&"B");
    let scale = (1u64 << (10 * unit)) as f64;
    let digits =
        if unit == 0 { 0 } else { [1.0, 10.0, 100.0].iter().filter(|&&part| scale > bytes_per_px * part).count() };
    if digits == 0 {
        return format!("{} {name}", group_digits(bytes >> (10 * unit)));
    }
    format!("{:.digits$} {name}", bytes as f64 / scale)
}

#[cfg(test)]
#[path = "../../../tests/units/ui/overlay.rs"]
mod tests;
