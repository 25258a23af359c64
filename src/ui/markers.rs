//! Markers: positions that the user has marked, with the state of memory there.

mod data;

pub use data::{Marker, Markers};

use super::effect::Pointer;
use super::moment::{elapsed, event_name};
use super::shared::Shared;
use super::tools::Point;
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

impl Shared {
    /// Iterates over the markers of the shown device.
    pub fn markers(&self) -> impl Iterator<Item = &Marker> {
        let shown = self.device().map(|device| device.device);
        self.tools.markers.all.iter().filter(move |marker| Some(marker.device) == shown)
    }

    /// Builds the list of markers.
    pub fn marker_lines(&self) -> Vec<Line> {
        let line = |marker: &Marker| {
            let facts = marker.point.facts;
            let mut text = facts.map_or_else(|| "…".to_owned(), |facts| event_name(facts.moment));
            if let Some(facts) = facts {
                if let Some((time, (first, _))) = facts.time_us.zip(self.device().and_then(|device| device.time_us)) {
                    text.push_str(" · ");
                    text.push_str(&elapsed(time.saturating_sub(first)));
                }
                text.push_str(&format!("\n{} · {} B", Bytes(facts.requested), group_digits(facts.requested)));
                if self.device().is_some_and(|device| device.has_reserved()) {
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
        self.markers().map(line).collect()
    }

    /// Adds a marker at the pointer or, without a pointer, at the crosshair.
    pub(super) fn add_marker(&mut self, pointer: Option<Pointer>) {
        let keys = self.tools.crosshair.by_keys.filter(|_| pointer.is_none());
        let point = match keys {
            Some(keys) => Some(Point::new(MomentSpec::Moment(keys.moment), keys.byte)),
            None => pointer.or(self.pointer).and_then(|pointer| self.point_under(pointer)),
        };
        let (Some(point), Some(device)) = (point, self.device().map(|device| device.device)) else {
            self.remark =
                Some("Place the cursor first: point at the timeline, or press Shift and an arrow key.".to_owned());
            return;
        };
        let markers = &mut self.tools.markers;
        if !markers.has_room() {
            self.remark = Some("50 markers is the limit. Remove one first.".to_owned());
            return;
        }
        markers.add(device, point, self.plot_settings.plot);
    }

    pub(super) fn remove_marker(&mut self, number: u32) {
        self.tools.markers.all.retain(|marker| marker.number != number);
    }

    /// Removes the marker nearest to the crosshair, or the newest marker if there is no crosshair.
    pub(super) fn remove_nearest_marker(&mut self) {
        let crosshair_x = self.crosshair_px().zip(self.view).map(|(pointer, view)| view.x_from_column(pointer.x));
        let distance = |marker: &Marker| {
            let x = marker.point.x(self.axis);
            crosshair_x.zip(x).map_or(f64::from(u32::MAX - marker.number), |(crosshair_x, x)| (crosshair_x - x).abs())
        };
        let nearest = self.markers().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        match nearest.map(|marker| marker.number) {
            Some(number) => self.remove_marker(number),
            None => self.remark = Some("No markers.".to_owned()),
        }
    }

    /// Centres the window horizontally on a marker.
    pub(super) fn go_to_marker(&mut self, number: u32) {
        let axis = self.axis;
        let x = self.markers().find(|marker| marker.number == number).and_then(|marker| marker.point.x(axis));
        if let Some(x) = x {
            self.navigate(|plane, view| {
                let centre = view.column_from_x(x) - f64::from(view.width_px) / 2.0;
                plane.moved(view, centre, 0.0)
            });
        }
    }
}
