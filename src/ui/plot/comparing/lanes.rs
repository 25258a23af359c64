//! Windows of the two lanes of a comparison. Both lanes have the same byte scale and show aligned moments.

use crate::state::shared::Shared;
use picture::timeline::{Axis, View};
use protocol::PairMap;

/// Returns a window for the compared device at `index` that shows the same moments and bytes as `view`, the focused
/// device's window. `current` is the device's present window. `None` if the device is not being compared.
pub(crate) fn aligned_window(state: &Shared, index: usize, view: View, current: View) -> Option<View> {
    let pair = state.comparing.pair.filter(|pair| pair.contains(&index))?;
    let same_bytes = View { bytes_per_px: view.bytes_per_px, bottom_px: view.bottom_px, ..current };
    let is_to_b = index == pair[1];
    let map = state.comparing.map.latest().filter(|map| view.axis == Axis::Events && map.moments.len() > 1);
    let Some(map) = map else {
        return Some(View { x_per_px: view.x_per_px, left_px: view.left_px, axis: view.axis, ..same_bytes });
    };
    let ends = [0.0, f64::from(view.width_px)].map(|px| map_position(map, view.x_from_column(px), is_to_b));
    // A window over which the other device has no events still gets the width of one event.
    let width = (ends[1] - ends[0]).max(1.0);
    let x_per_px = width / f64::from(view.width_px.max(1));
    Some(View { axis: view.axis, x_per_px, left_px: (ends[0] / x_per_px).round() as i64, ..same_bytes })
}

/// Maps a position `x` on the event axis of one compared device to that of the other device (to B if `is_to_b`).
/// Interpolates linearly between the aligned moments of `map`.
pub(crate) fn map_position(map: &PairMap, x: f64, is_to_b: bool) -> f64 {
    let oriented =
        |&(a, b): &(u32, u32)| if is_to_b { (f64::from(a), f64::from(b)) } else { (f64::from(b), f64::from(a)) };
    let after = map.moments.partition_point(|pair| oriented(pair).0 <= x);
    let before = after.checked_sub(1).and_then(|index| map.moments.get(index)).map(oriented);
    let after = map.moments.get(after).map(oriented);
    match (before, after) {
        (Some(before), Some(after)) if after.0 > before.0 => {
            before.1 + (x - before.0) / (after.0 - before.0) * (after.1 - before.1)
        }
        // Beyond its ends the map continues with slope 1: only the margin of the axis lies there.
        (Some(before), _) => before.1 + (x - before.0),
        (None, Some(after)) => after.1 - (after.0 - x),
        (None, None) => x,
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/comparing.rs"]
mod tests;
