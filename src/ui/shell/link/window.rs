//! Windows in a link. They are stored as edges on the axes, so that they do not depend on the canvas size.

use crate::state::drawing::BytesAxis;
use crate::state::link::LinkWindow;
use crate::state::link_value::{ValueReader, both, format_list, format_range, numbers, split_range};
use crate::state::navigate::Plane;
use crate::state::shared::Shared;
use picture::timeline::View;

/// Maximum number of decimals of a position on the horizontal axis.
const DECIMALS: usize = 6;
/// Resolution of horizontal positions: they are stored in millionths of a unit of the axis.
pub(super) const X_SCALE: i64 = 1_000_000;

impl LinkWindow {
    /// Returns the pending window, or else the current one.
    pub(super) fn current(state: &Shared) -> Option<LinkWindow> {
        if state.linked.pending_window.is_some() {
            return state.linked.pending_window;
        }
        let (view, plane) = (state.view()?, state.plane()?);
        let whole = plane.fit_like(view);
        // Enough decimals to distinguish fractions of a pixel, also far from the start of the axis.
        let mut step = X_SCALE;
        while step > 1 && step as f64 / X_SCALE as f64 > view.x_per_px / 64.0 {
            step /= 10;
        }
        let millionths =
            |column: f64| ((view.x_from_column(column) * (X_SCALE / step) as f64).round() as i64).saturating_mul(step);
        Some(LinkWindow {
            x: (!shows_all(view.x_per_px, whole.x_per_px)).then(|| [millionths(0.0), millionths(view.width_px.into())]),
            y: heights(state, plane, view),
        })
    }

    /// Returns the view that shows this window on the canvas of `view`.
    pub(super) fn to_view(self, plane: Plane, view: View) -> View {
        let whole = plane.fit_like(view);
        let view = match self.x {
            Some([from, to]) if from < to => {
                plane.view_between(view, [from, to].map(|millionths| millionths as f64 / X_SCALE as f64))
            }
            _ => View { x_per_px: whole.x_per_px, left_px: whole.left_px, ..view },
        };
        with_heights(plane, view, self.y)
    }

    pub(super) fn x(self) -> String {
        format_range(self.x.map(|x| x.map(format_x)))
    }

    pub(super) fn y(self) -> String {
        format_range(self.y)
    }
}

/// Formats a position that is given in millionths.
pub(super) fn format_x(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let (millionths, parts) = (millionths.unsigned_abs(), X_SCALE.unsigned_abs());
    let (whole, part) = ((millionths / parts).to_string(), format!(".{:0DECIMALS$}", millionths % parts));
    [sign, &whole, part.trim_end_matches('0').trim_end_matches('.')].concat()
}

/// Parses a position into millionths: `-1.5` is −1500000. Ignores further decimals.
pub(super) fn parse_x(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = part.chars().chain(['0'; DECIMALS]).take(DECIMALS).collect();
    let (whole, part): (i64, i64) = (whole.parse().ok()?, digits.parse().ok()?);
    let millionths = whole.checked_mul(X_SCALE)?.checked_add(part)?;
    (whole >= 0 && part >= 0).then_some(millionths * sign)
}

/// Returns true if a window at `scale` shows the whole axis. `whole` is the scale that fits the whole axis, with a
/// tolerance for rounding.
fn shows_all(scale: f64, whole: f64) -> bool {
    scale > whole * (1.0 - 1e-6)
}

/// Returns the lower and upper edge of a window in bytes of the plot's height. `None` for the full height.
fn heights(state: &Shared, plane: Plane, view: View) -> Option<[u64; 2]> {
    let is_automatic =
        state.bytes_axis == BytesAxis::FitsWindow || shows_all(view.bytes_per_px, plane.fit_like(view).bytes_per_px);
    let byte = |row: f64| view.bytes_from_row(row).max(0.0).round() as u64;
    (!is_automatic).then(|| [byte(0.0), byte(view.height_px.into())])
}

fn with_heights(plane: Plane, view: View, y: Option<[u64; 2]>) -> View {
    match y {
        Some([from, to]) if from < to => {
            let [from, to] = [from, to].map(|byte| byte as f64 / view.bytes_per_px);
            plane.view_of_rows(view, from - view.bottom_px as f64, to - from)
        }
        _ => plane.full_height(view),
    }
}

/// Formats the vertical windows of all lanes except the focused one as `device:from..to`. Lanes at full height are
/// omitted. Horizontally, all lanes follow the focused one.
pub(super) fn lane_heights(state: &Shared) -> String {
    let entry = |(device, y): (i64, [u64; 2])| [&device.to_string(), ":", &format_range(Some(y))].concat();
    if let Some(wanted) = &state.linked.pending_heights {
        return format_list(&mut wanted.iter().copied().map(entry));
    }
    let others = state.shown_lanes().filter(|lane| lane.index != state.device_index);
    let height = |lane: crate::state::lanes::ShownLane<'_>| {
        state.plot_height(lane.device)?;
        Some((lane.device.device, heights(state, state.plane_of(lane.device), *lane.view)?))
    };
    format_list(&mut others.filter_map(height).map(entry))
}

pub(super) fn set_lane_heights(state: &mut Shared, link: &mut ValueReader<'_>) {
    let mut heights = Vec::new();
    link.for_each_entry(&mut |entry| {
        let (device, y) = entry.split_once(':')?;
        heights.push((device.parse().ok()?, numbers(y)?));
        Some(())
    });
    state.linked.pending_heights = Some(heights);
}

/// Converts a position from millionths to axis units.
pub(super) fn x_from_millionths(millionths: i64) -> f64 {
    millionths as f64 / X_SCALE as f64
}

/// Sets the horizontal edges of the window.
pub(super) fn set_x(state: &mut Shared, link: &mut ValueReader<'_>) {
    let x = split_range(link.text).and_then(|ends| both(ends.map(parse_x)));
    state.linked.pending_window.get_or_insert_default().x = link.check(x);
}

/// Applies the pending windows of a link, once the heights of the plots are known.
pub(crate) fn apply_windows(state: &mut Shared) {
    let is_known = state.shown_lanes().all(|lane| state.plot_height(lane.device).is_some());
    if let Some(window) = state.linked.pending_window
        && state.view().is_some()
        && state.device().is_some_and(|device| state.plot_height(device).is_some())
    {
        state.linked.pending_window = None;
        state.navigate(|plane, view| window.to_view(plane, view));
    }
    if let Some(wanted) = state.linked.pending_heights.take_if(|_| is_known) {
        let focused = state.device_index;
        for index in state.lane_indices().into_iter().filter(|index| *index != focused) {
            let device = state.device_at(index).map(|device| device.device);
            let y = wanted.iter().find(|(of, _)| Some(*of) == device).map(|(_, y)| *y);
            state.navigate_lane(index, |plane, view| with_heights(plane, view, y));
        }
    }
}
