//! Points of the timeline in a link: markers, the ends of the ruler, the crosshair if it was set by keys, and the
//! selected segment.

use crate::plot::{crosshair, hit_testing, plots, ruler};
use crate::shell::link::window::{X_SCALE, format_x, parse_x, x_from_millionths};
use crate::state::crosshair::Position;
use crate::state::link_value::{
    ValueReader, both, format_list, format_moment, format_optional, format_pool, hexadecimal, parse_moment, parse_pool,
    split_range,
};
use crate::state::markers::{Marker, Markers};
use crate::state::navigate::device_axis_end;
use crate::state::point::Point;
use crate::state::selected_segment::SelectedSegment;
use crate::state::shared::Shared;
use picture::timeline::Axis;
use protocol::{MemoryFilter, MomentSpec, Plot};

/// Formats the markers of all devices as `device:event:byte:kind`. The kind is the first letter of the plot. Plots that
/// are filtered by pool, stream or segment add `:pool:stream:segment`. Markers whose event is not known are omitted.
pub(super) fn marks(state: &Shared) -> String {
    let mark = |marker: &Marker| {
        let (only, point) = (marker.plot.filter(), marker.point);
        let kind = plots::name(marker.plot).get(..1)?.to_owned();
        let segment = only.address.map_or_else(String::new, hexadecimal);
        let (device, byte) = (marker.device.to_string(), point.byte.to_string());
        let parts = [
            device,
            format_moment(point.moment()?),
            byte,
            kind,
            format_pool(only),
            format_optional(only.stream),
            segment,
        ]
        .join(":");
        Some(parts.trim_end_matches(':').to_owned())
    };
    format_list(&mut state.tools.markers.all.iter().filter_map(mark))
}

pub(super) fn set_marks(state: &mut Shared, link: &mut ValueReader<'_>) {
    state.tools.markers = Markers::default();
    link.for_each_entry(&mut |entry| {
        let mut parts = entry.split(':');
        let mut part = || parts.next().unwrap_or_default();
        let (device, moment, byte, kind) = (part().parse().ok(), parse_moment(part())?, part().parse().ok()?, part());
        let [pool, stream, segment] = [part(), part(), part()];
        let only = MemoryFilter {
            pool: parse_pool(pool),
            stream: stream.parse().ok(),
            address: u64::from_str_radix(segment, 16).ok(),
        };
        let plot = match kind {
            "a" => Plot::Addresses(only),
            "r" => Plot::Reserved(only),
            "s" => Plot::Stack,
            _ => return None,
        };
        let devices = state.file().map_or(&[][..], |file| &file.devices);
        let device = devices.iter().find(|of| Some(of.device) == device)?;
        let is_valid = u64::from(moment) <= device.events && state.tools.markers.has_room();
        let device = device.device;
        is_valid.then(|| state.tools.markers.add(device, Point::new(MomentSpec::Moment(moment), byte), plot))
    });
}

/// Formats a point as `position:byte`. The position is an event index (`12` is the moment after event 12), or a
/// position on the event axis (`x12.5`) or the time axis (`t1500`).
fn format_point(point: &Point) -> Option<String> {
    let position = match point.at {
        MomentSpec::X(axis, x) => {
            let sign = if axis == Axis::Time { "t" } else { "x" };
            [sign, &format_x((x * X_SCALE as f64).round() as i64)].concat()
        }
        _ => format_moment(point.moment()?),
    };
    Some([&position, ":", &point.byte.to_string()].concat())
}

fn parse_point(state: &Shared, text: &str) -> Option<Point> {
    let (position, byte) = text.split_once(':')?;
    let device = state.device()?;
    let x = |axis: Axis, text: &str| {
        (axis == Axis::Events || device.time_us.is_some()).then_some(())?;
        Some(MomentSpec::X(axis, x_from_millionths(parse_x(text)?).clamp(0.0, device_axis_end(device, axis) as f64)))
    };
    let position = match position.split_at_checked(1) {
        Some(("x", text)) => x(Axis::Events, text)?,
        Some(("t", text)) => x(Axis::Time, text)?,
        _ => MomentSpec::Moment(parse_moment(position)?.min(state.end_moment())),
    };
    Some(Point::new(position, byte.parse().ok()?))
}

pub(super) fn ruler(state: &Shared) -> String {
    let ends = state.tools.ruler.ends.as_ref().and_then(|[from, to]| both([format_point(from), format_point(to)]));
    ends.map_or_else(String::new, |ends| ends.join(".."))
}

pub(super) fn set_ruler(state: &mut Shared, link: &mut ValueReader<'_>) {
    let points = split_range(link.text).and_then(|ends| both(ends.map(|end| parse_point(state, end))));
    ruler::remove(state);
    if let Some([from, to]) = link.check(points) {
        ruler::measure_from(state, from);
        ruler::measure_to(state, to);
    }
}

fn format_position(at: Position) -> String {
    [&format_moment(at.moment), ":", &at.byte.to_string()].concat()
}

fn parse_position(state: &Shared, link: &mut ValueReader<'_>) -> Option<Position> {
    let point = parse_point(state, link.text);
    let point = link.check(point)?;
    Some(Position { moment: point.moment()?.min(state.end_moment()), byte: point.byte })
}

/// Formats the position of the crosshair, if it was set by keys.
pub(super) fn crosshair(state: &Shared) -> String {
    state.tools.crosshair.by_keys.map_or_else(String::new, format_position)
}

pub(super) fn set_crosshair(state: &mut Shared, link: &mut ValueReader<'_>) {
    let to = parse_position(state, link);
    crosshair::fix_at(state, to);
}

/// Formats the position of the selected segment, if the order of the plot has not changed since it was selected.
pub(super) fn chosen(state: &Shared) -> String {
    let is_same_order = |chosen: &&SelectedSegment| chosen.plot == state.plot_settings.layout_key();
    plots::segment::selected_segment(state)
        .filter(is_same_order)
        .map_or_else(String::new, |chosen| format_position(chosen.position))
}

pub(super) fn set_chosen(state: &mut Shared, link: &mut ValueReader<'_>) {
    state.plots.selected_segment = None;
    if let Some(at) = parse_position(state, link) {
        hit_testing::select_segment_at(state, at, link.out);
    }
}
