//! What is drawn over the picture: crosshair, ruler, box, markers, the capacity line. In device pixels of the plot, y upwards.

use super::drag::Drag;
use super::effect::Pointer;
use super::moment::{elapsed, event_name};
use super::range::ViewScope;
use super::shared::Shared;
use base::units::{BYTE_UNITS, Bytes, grouped};
use engine::protocol::Plot;
use picture::timeline::{Axis, View};

/// Everything over the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    pub crosshair: Option<Crosshair>,
    /// The column of the pointer over another lane.
    pub column: Option<f64>,
    /// Two ends, and what lies between them.
    pub ruler: Option<([Pointer; 2], String)>,
    /// Two corners of the box to zoom into.
    pub rubber: Option<[Pointer; 2]>,
    pub flags: Vec<Flag>,
    /// The slice of the annotation tracks that is pointed at: its edges, and its lane.
    pub slice: Option<([f64; 2], u32)>,
    /// The cursor: where it is, and its event or, on an axis of time, its time.
    pub pin: Option<(f64, String)>,
    /// Of two devices that are compared the other's aligned moment: where it is, its event, and the upper edge of its lane in pixels below
    /// the canvas' upper edge.
    pub other_pin: Option<(f64, String, f64)>,
    /// The range: its ends, which may be outside.
    pub range: Option<[f64; 2]>,
    /// Whether its ends are named A and B, because the views show what changed between them.
    pub names_ends: bool,
    /// The height of the capacity line, and what stands there.
    pub capacity: Option<(f64, String)>,
}

/// The cursor, and what stands on the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Crosshair {
    /// Where.
    pub at: Pointer,
    /// On the horizontal axis: event and time.
    pub when: String,
    /// On the vertical axis: the bytes, or the address, at this height.
    pub bytes: String,
}

/// A marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// Where.
    pub at: Pointer,
    /// Its number.
    pub number: String,
    /// The requested bytes then.
    pub text: String,
}

impl Overlay {
    /// What is over the picture now.
    pub fn of(state: &Shared) -> Overlay {
        let Some(view) = state.view else { return Overlay::default() };
        let (width, height) = (f64::from(view.width_px), f64::from(view.height_px));
        let row = |byte: u64| (byte as f64 + 0.5) / view.bytes_per_px - view.bottom_px as f64;
        let place = |point: &super::tools::Point| {
            Some(Pointer { x: view.column_from_x(point.x(state.axis)?), y: row(point.byte) })
        };
        let inside = |at: &Pointer| (0.0..=width).contains(&at.x) && (0.0..=height).contains(&at.y);
        let ruler = state.tools.ruler.ends.as_ref().and_then(|[from, to]| {
            let text = state.measured()?.text();
            Some(([place(from)?, place(to)?], text))
        });
        let flags = state.markers().filter_map(|marker| {
            let mut at = place(&marker.point).filter(|at| (0.0..=width).contains(&at.x))?;
            if marker.plot != state.looks.plot {
                // Its height is one of another plot.
                at.y = f64::NEG_INFINITY;
            }
            let text = marker.point.facts.map_or_else(String::new, |facts| Bytes(facts.requested).to_string());
            Some(Flag { at, number: marker.number.to_string(), text })
        });
        let elsewhere = state.has_lanes() && state.pointer.is_none() && state.tools.cursor.keys.is_none();
        let capacity = state.capacity_line().map(|bytes| {
            let y = view.row_from_bytes(bytes) as f64;
            (y, format!("GPU capacity {}", Bytes(bytes)))
        });
        Overlay {
            crosshair: state.cursor_px().filter(inside).and_then(|at| crosshair(state, &view, at)),
            column: state.lanes.pointer.filter(|_| elsewhere).map(|pointer| pointer.x),
            ruler,
            rubber: if let Drag::Box(corners) = state.tools.drag { Some(corners) } else { None },
            flags: flags.collect(),
            slice: state.slices.hovered.as_ref().map(|(slice, _)| (slice.x, slice.lane)),
            pin: state
                .pin_px()
                .filter(|(x, _)| (0.0..=width).contains(x))
                .map(|(x, at)| (x, pin_text(state, &view, x, at))),
            other_pin: other_pin(state).filter(|(x, ..)| (0.0..=width).contains(x)),
            names_ends: state.view_scope() == ViewScope::Change,
            range: state.range_px().filter(|[from, to]| *to >= 0.0 && *from <= width),
            capacity: capacity.filter(|(y, _)| (0.0..=height).contains(y)),
        }
    }
}

/// The aligned moment in the lane of the other device.
fn other_pin(state: &Shared) -> Option<(f64, String, f64)> {
    let moments = state.aligned_cursor().filter(|_| state.axis == Axis::Events)?.0;
    let lane = state.shown_lanes().find(|lane| lane.place != state.device_place)?;
    let moment = moments[usize::from(!state.is_b_shown())];
    let x = lane.view.column_from_x(f64::from(moment) + 0.5);
    let top = state.canvas?.height_px.saturating_sub(lane.bottom_px).saturating_sub(lane.view.height_px);
    Some((x, event_name(moment), f64::from(top)))
}

/// Where the cursor is, as its axis has it.
fn pin_text(state: &Shared, view: &View, x: f64, moment: u32) -> String {
    let device = state.device().filter(|_| state.axis == Axis::Time && moment > 0);
    let zero = device.map(|device| state.shared_axis().zero_on(device) as f64);
    zero.map_or_else(|| event_name(moment), |zero| elapsed((view.x_from_column(x) - zero).round() as i64))
}

fn crosshair(state: &Shared, view: &View, at: Pointer) -> Option<Crosshair> {
    let cursor = state.cursor()?;
    let mut when = event_name(cursor.moment);
    let facts = state.cursor_facts().filter(|facts| facts.moment == cursor.moment);
    let time = match (state.axis, state.tools.cursor.keys, state.device()?.time_us) {
        // Under the pointer, the axis itself tells the time.
        (Axis::Time, None, Some(_)) => {
            let zero = state.shared_axis().zero_on(state.device()?);
            Some((view.x_from_column(at.x) - zero as f64).round() as i64)
        }
        (_, _, Some((first, _))) => facts.and_then(|facts| facts.time_us).map(|us| us.saturating_sub(first)),
        _ => None,
    };
    if let Some(time) = time {
        when.push_str(" · ");
        when.push_str(&elapsed(time));
    }
    let bytes = match state.looks.plot {
        Plot::Addresses(_) => state.address_at(cursor.byte).map_or("not mapped".to_owned(), |at| format!("0x{at:x}")),
        _ => bytes_text(cursor.byte, view.bytes_per_px),
    };
    Some(Crosshair { at, when, bytes })
}

/// Bytes in the largest unit, with as many decimals, up to three, as a pixel is worth.
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
        return format!("{} {name}", grouped(bytes >> (10 * unit)));
    }
    format!("{:.digits$} {name}", bytes as f64 / scale)
}

#[cfg(test)]
#[path = "../../tests/units/ui/overlay.rs"]
mod tests;
