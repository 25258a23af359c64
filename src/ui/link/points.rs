//! Points of the picture in a link: markers, the ruler's ends, the crosshair as moved by keys, the selected segment.

use super::reading::{Reading, ends, event, hexadecimal, list, moment, optional, pool, pool_of, two};
use super::window::{PARTS, millionths, place, x_of};
use crate::cursor::Standing;
use crate::markers::{Marker, Markers};
use crate::navigate::own_end;
use crate::plots::{self, Chosen};
use crate::pointing;
use crate::shared::Shared;
use crate::tools::Point;
use engine::protocol::{At, Only, Plot};
use picture::timeline::Axis;

/// Returns the markers of all devices as `device:event:byte:kind`. The kind is the first letter of the plot. Plots of
/// a part of memory add `:pool:stream:segment`. Markers without a known event are left out.
pub(super) fn marks((): &(), state: &Shared) -> String {
    let mark = |marker: &Marker| {
        let (only, point) = (marker.plot.only(), marker.point);
        let kind = plots::name(marker.plot).get(..1)?.to_owned();
        let segment = only.address.map_or_else(String::new, hexadecimal);
        let (device, byte) = (marker.device.to_string(), point.byte.to_string());
        let parts = [device, event(point.moment()?), byte, kind, pool(only), optional(only.stream), segment].join(":");
        Some(parts.trim_end_matches(':').to_owned())
    };
    list(&mut state.tools.markers.all.iter().filter_map(mark))
}

pub(super) fn set_marks((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    state.tools.markers = Markers::default();
    link.each(&mut |entry| {
        let mut parts = entry.split(':');
        let mut part = || parts.next().unwrap_or_default();
        let (device, moment, byte, kind) = (part().parse().ok(), moment(part())?, part().parse().ok()?, part());
        let [pool, stream, segment] = [part(), part(), part()];
        let only =
            Only { pool: pool_of(pool), stream: stream.parse().ok(), address: u64::from_str_radix(segment, 16).ok() };
        let plot = match kind {
            "a" => Plot::Addresses(only),
            "r" => Plot::Reserved(only),
            "s" => Plot::Stack,
            _ => return None,
        };
        let devices = state.file().map_or(&[][..], |file| &file.devices);
        let device = devices.iter().find(|of| Some(of.device) == device)?;
        let is_there = u64::from(moment) <= device.events && state.tools.markers.has_room();
        let device = device.device;
        is_there.then(|| state.tools.markers.put(device, Point::new(At::Moment(moment), byte), plot))
    });
}

/// Formats a point as a position and a byte of the height. `12` is after event 12, `x12.5` and `t1500` are positions
/// on the event axis and the time axis.
fn point(point: &Point) -> Option<String> {
    let at = match point.at {
        At::X(axis, x) => {
            let sign = if axis == Axis::Time { "t" } else { "x" };
            [sign, &place((x * PARTS as f64).round() as i64)].concat()
        }
        _ => event(point.moment()?),
    };
    Some([&at, ":", &point.byte.to_string()].concat())
}

fn point_of(state: &Shared, text: &str) -> Option<Point> {
    let (at, byte) = text.split_once(':')?;
    let device = state.device()?;
    let x = |axis: Axis, text: &str| {
        (axis == Axis::Events || device.time_us.is_some()).then_some(())?;
        Some(At::X(axis, x_of(millionths(text)?).clamp(0.0, own_end(device, axis) as f64)))
    };
    let at = match at.split_at_checked(1) {
        Some(("x", text)) => x(Axis::Events, text)?,
        Some(("t", text)) => x(Axis::Time, text)?,
        _ => At::Moment(moment(at)?.min(state.end_moment())),
    };
    Some(Point::new(at, byte.parse().ok()?))
}

pub(super) fn ruler((): &(), state: &Shared) -> String {
    let ends = state.tools.ruler.ends.as_ref().and_then(|[from, to]| two([point(from), point(to)]));
    ends.map_or_else(String::new, |ends| ends.join(".."))
}

pub(super) fn set_ruler((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let points = ends(link.text).and_then(|ends| two(ends.map(|end| point_of(state, end))));
    state.remove_ruler();
    if let Some([from, to]) = link.take(points) {
        state.measure_from(from);
        state.measure_to(to);
    }
}

fn standing(at: Standing) -> String {
    [&event(at.moment), ":", &at.byte.to_string()].concat()
}

fn standing_of(state: &Shared, link: &mut Reading<'_>) -> Option<Standing> {
    let point = point_of(state, link.text);
    let point = link.take(point)?;
    Some(Standing { moment: point.moment()?.min(state.end_moment()), byte: point.byte })
}

/// Returns the position of the crosshair, if it was moved by keys.
pub(super) fn cursor((): &(), state: &Shared) -> String {
    state.tools.cursor.keys.map_or_else(String::new, standing)
}

pub(super) fn set_cursor((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    let to = standing_of(state, link);
    state.put_cursor(to);
}

/// Returns the position of the selected segment, if the picture's order has not changed since it was selected.
pub(super) fn chosen((): &(), state: &Shared) -> String {
    let is_there = |chosen: &&Chosen| chosen.seen_in == state.looks.order();
    state.chosen_segment().filter(is_there).map_or_else(String::new, |chosen| standing(chosen.at))
}

pub(super) fn set_chosen((): &mut (), state: &mut Shared, link: &mut Reading<'_>) {
    state.plots.chosen = None;
    if let Some(at) = standing_of(state, link) {
        pointing::choose_at(state, at, link.effects);
    }
}
