//! Markers: positions that the user has marked, with the state of memory there.

pub use crate::state::markers::{Marker, Markers};

use crate::plot::{crosshair, tools};
use crate::state::effect::Pointer;
use crate::state::point::Point;
use crate::state::shared::Shared;
use crate::text::amount::{elapsed, event_name};
use base::units::{Bytes, group_digits};
use protocol::MomentSpec;

/// Line of a marker in the list of markers.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub number: u32,
    /// Text of the line: event, time and bytes.
    pub text: String,
    /// Live bytes at the marker. `None` until the worker has responded.
    pub requested: Option<u64>,
    /// Index of the last event before the marker, or −1 if the marker is before the first event.
    pub event: Option<i64>,
}

/// Iterates over the markers of the shown device.
pub fn drawn(state: &Shared) -> impl Iterator<Item = &Marker> {
    let shown = state.device().map(|device| device.device);
    state.tools.markers.all.iter().filter(move |marker| Some(marker.device) == shown)
}

/// Builds the list of markers.
pub fn lines(state: &Shared) -> Vec<Line> {
    let line = |marker: &Marker| {
        let facts = marker.point.facts;
        let mut text = facts.map_or_else(|| "…".to_owned(), |facts| event_name(facts.moment));
        if let Some(facts) = facts {
            if let Some((time, (first, _))) = facts.time_us.zip(state.device().and_then(|device| device.time_us)) {
                text.push_str(" · ");
                text.push_str(&elapsed(time.saturating_sub(first)));
            }
            text.push_str(&format!("\n{} · {} B", Bytes(facts.requested), group_digits(facts.requested)));
            if state.device().is_some_and(|device| device.has_reserved()) {
                text.push_str(&format!(", {} reserved", Bytes(facts.reserved)));
            }
        }
        Line {
            number: marker.number,
            text,
            requested: facts.map(|facts| facts.requested),
            event: facts.map(|facts| i64::from(facts.moment) - 1),
        }
    };
    drawn(state).map(line).collect()
}

/// Adds a marker at the pointer or, without a pointer, at the crosshair.
pub(crate) fn add(state: &mut Shared, pointer: Option<Pointer>) {
    let keys = state.tools.crosshair.by_keys.filter(|_| pointer.is_none());
    let point = match keys {
        Some(keys) => Some(Point::new(MomentSpec::Moment(keys.moment), keys.byte)),
        None => pointer.or(state.pointer).and_then(|pointer| tools::point_under(state, pointer)),
    };
    let (Some(point), Some(device)) = (point, state.device().map(|device| device.device)) else {
        state.remark =
            Some("Place the cursor first: point at the timeline, or press Shift and an arrow key.".to_owned());
        return;
    };
    let markers = &mut state.tools.markers;
    if !markers.has_room() {
        state.remark = Some("50 markers is the limit. Remove one first.".to_owned());
        return;
    }
    markers.add(device, point, state.plot_settings.plot);
}

pub(crate) fn remove(state: &mut Shared, number: u32) {
    state.tools.markers.all.retain(|marker| marker.number != number);
}

/// Removes the marker nearest to the crosshair, or the newest marker if there is no crosshair.
pub(crate) fn remove_nearest(state: &mut Shared) {
    let crosshair_x = crosshair::px(state).zip(state.view()).map(|(pointer, view)| view.x_from_column(pointer.x));
    let distance = |marker: &Marker| {
        let x = marker.point.x(state.axis);
        crosshair_x.zip(x).map_or(f64::from(u32::MAX - marker.number), |(crosshair_x, x)| (crosshair_x - x).abs())
    };
    let nearest = drawn(state).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    match nearest.map(|marker| marker.number) {
        Some(number) => remove(state, number),
        None => state.remark = Some("No markers.".to_owned()),
    }
}

/// Centres the window horizontally on a marker.
pub(crate) fn go_to(state: &mut Shared, number: u32) {
    let axis = state.axis;
    let x = drawn(state).find(|marker| marker.number == number).and_then(|marker| marker.point.x(axis));
    if let Some(x) = x {
        state.navigate(|plane, view| {
            let centre = view.column_from_x(x) - f64::from(view.width_px) / 2.0;
            plane.moved(view, centre, 0.0)
        });
    }
}
