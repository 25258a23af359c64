//! The vertical axis: ticks, title, gaps in the address axis, and conversion between heights and addresses.

use crate::state::shared::Shared;
use base::units::Bytes;
use picture::timeline::{Tick, View, byte_ticks};
use protocol::{AddressMap, DeviceSummary, Plot};

/// Maximum number of address ranges that are considered for ticks. Larger than the number of pixel rows in any window.
const MAX_RANGES: usize = 20_000;
/// Minimum distance between two address ticks, as a fraction of the minimum distance between two byte ticks. It is
/// smaller, because a window has only a few address ticks.
const ADDRESS_TICK_FRACTION: f64 = 0.4;

/// Width of a digit of an address, in CSS pixels.
const DIGIT_PX: u32 = 7;
/// Width of the space beside an address, in CSS pixels.
const GUTTER_PADDING_PX: u32 = 14;
/// Minimum width of the gutter, in CSS pixels. It is enough for GPU addresses, so that the plot does not shift when
/// they arrive.
const MIN_GUTTER_PX: u32 = 112;

/// Width of the label `100 %` and its tick, in CSS pixels.
const RIGHT_GUTTER_PX: f64 = 46.0;

/// A gap between mapped address ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// Lower and upper edge, in pixels from the bottom of the window.
    pub y: [f64; 2],
    pub text: String,
}

/// Returns the title of a plot's vertical axis.
pub fn axis_title(plot: Plot) -> &'static str {
    match plot {
        Plot::Stack => "requested",
        Plot::Addresses(_) => "address",
        Plot::Reserved(_) => "reserved",
    }
}

/// Returns the ticks of the vertical axis for a window of the device at `index`, at least `min_distance` pixels
/// from each other.
pub fn height_ticks(state: &Shared, index: usize, view: &View, min_distance: f64) -> Vec<Tick> {
    match state.plot_settings.plot {
        Plot::Addresses(_) => {
            state.address_map(index).map_or_else(Vec::new, |map| address_ticks(map, view, min_distance))
        }
        _ => byte_ticks(view, min_distance),
    }
}

/// Returns the gaps of the address axis in a window of the device at `index`.
pub fn gaps(state: &Shared, index: usize, view: &View) -> Vec<Gap> {
    match state.plot_settings.plot {
        Plot::Addresses(_) => state.address_map(index).map_or_else(Vec::new, |map| gaps_of(map, view)),
        _ => Vec::new(),
    }
}

/// Returns the width of the gutter, where the vertical axis is drawn, in CSS pixels. It fits the longest address of
/// all lanes.
pub(super) fn gutter_px(state: &Shared) -> u32 {
    let last = |index| state.address_map(index).and_then(|map| map.ranges.last());
    let highest = state.lane_indices().into_iter().filter_map(last).map(|range| range.address).max().unwrap_or(0);
    // Four bits per digit, and the prefix "0x".
    let digits = 2 + (u64::BITS - highest.leading_zeros()).div_ceil(4);
    (digits * DIGIT_PX + GUTTER_PADDING_PX).max(MIN_GUTTER_PX)
}

/// Returns the width of the right axis (free share) in CSS pixels. 0 for plots without a right axis.
pub fn right_axis_px(state: &Shared) -> f64 {
    if matches!(state.plot_settings.plot, Plot::Reserved(_)) { RIGHT_GUTTER_PX } else { 0.0 }
}

/// Converts a height of the shown device's plot to an address. `None` in a gap, and for plots of bytes.
pub fn address_at(state: &Shared, height: u64) -> Option<u64> {
    matches!(state.plot_settings.plot, Plot::Addresses(_)).then_some(())?;
    state.address_map(state.device_index)?.address_at(height)
}

/// Returns the signed distance between two heights in bytes. In a plot of addresses, it is the distance between the
/// two addresses. A height in a gap counts as the last mapped address below it.
pub(crate) fn height_between(state: &Shared, from: u64, to: u64) -> i64 {
    let map = state.address_map(state.device_index).filter(|_| matches!(state.plot_settings.plot, Plot::Addresses(_)));
    let at = |height: u64| map.map_or(height, |map| address_or_last_mapped(map, height));
    at(to).wrapping_sub(at(from)) as i64
}

/// Returns the peak of the plot, or the size of its address ranges, as text for the label of the lane.
pub(crate) fn peak_label(state: &Shared, index: usize, device: &DeviceSummary) -> String {
    let peak = |bytes: i64| Bytes(u64::try_from(bytes).unwrap_or(0)).to_string();
    match state.plot_settings.plot {
        Plot::Stack => ["peak ", &peak(device.peak_requested)].concat(),
        Plot::Reserved(_) => match state.plot_height(device) {
            Some(height) => ["peak ", &Bytes(height).to_string(), " reserved"].concat(),
            None => "…".to_owned(),
        },
        Plot::Addresses(_) => match state.address_map(index) {
            Some(map) => {
                let bytes = map.ranges.iter().fold(0u64, |sum, range| sum.saturating_add(range.bytes));
                ["addresses of ", &Bytes(bytes).to_string()].concat()
            }
            None => "…".to_owned(),
        },
    }
}

/// Returns the address at a height. In a gap, returns the last mapped address below it.
fn address_or_last_mapped(map: &AddressMap, height: u64) -> u64 {
    let after = map.ranges.partition_point(|range| range.axis_start <= height);
    let below = after.checked_sub(1).and_then(|index| map.ranges.get(index));
    below
        .map_or(0, |range| range.address.saturating_add((height - range.axis_start).min(range.bytes.saturating_sub(1))))
}

/// Returns the mapped address ranges that overlap the window.
fn visible_ranges<'a>(map: &'a AddressMap, view: &View) -> &'a [protocol::MappedRange] {
    let [bottom, top] = [0.0, f64::from(view.height_px)].map(|row| view.bytes_from_row(row).max(0.0) as u64);
    let first = map.ranges.partition_point(|range| range.axis_start.saturating_add(range.bytes) < bottom);
    let end = map.ranges.partition_point(|range| range.axis_start <= top);
    map.ranges.get(first..end.max(first).min(first.saturating_add(MAX_RANGES))).unwrap_or_default()
}

/// Returns ticks at the starts of ranges, and at round addresses inside large ranges.
fn address_ticks(map: &AddressMap, view: &View, min_distance: f64) -> Vec<Tick> {
    let mut step = 1u64;
    while (step as f64) < view.bytes_per_px * min_distance && step < 1 << 62 {
        step <<= 1;
    }
    let (height, near) = (i64::from(view.height_px), (min_distance * ADDRESS_TICK_FRACTION) as i64);
    let mut ticks: Vec<Tick> = Vec::new();
    let mut add = |address: u64, at: u64, room_above: i64| {
        let at_px = view.row_from_bytes(at);
        let is_free = ticks.last().is_none_or(|last| at_px - last.at_px >= near);
        if (0..=height).contains(&at_px) && is_free && room_above - at_px >= 0 {
            ticks.push(Tick { at_px, value: address, label: format!("0x{address:x}") });
        }
    };
    for range in visible_ranges(map, view) {
        add(range.address, range.axis_start, i64::MAX);
        // Starts at the visible part, since the range may be long and the window far from its start.
        let bottom = (view.bytes_from_row(0.0).max(0.0) as u64).saturating_sub(range.axis_start);
        let last = view.row_from_bytes(range.axis_start.saturating_add(range.bytes)) - near;
        let mut next = (range.address.saturating_add(bottom) / step).saturating_add(1).saturating_mul(step);
        let end = range.address.saturating_add(range.bytes);
        while next < end {
            let at = range.axis_start.saturating_add(next - range.address);
            if view.row_from_bytes(at) > height.min(last) {
                break;
            }
            add(next, at, last);
            next = next.saturating_add(step);
        }
    }
    ticks
}

fn gaps_of(map: &AddressMap, view: &View) -> Vec<Gap> {
    let between = visible_ranges(map, view).windows(2).filter_map(|pair| {
        let [below, above] = pair else { return None };
        let (end, from) = (below.address.saturating_add(below.bytes), below.axis_start.saturating_add(below.bytes));
        let y = [from, above.axis_start].map(|height| view.row_from_bytes(height) as f64);
        let text = [&Bytes(above.address.saturating_sub(end)).to_string(), " of unmapped addresses"].concat();
        Some(Gap { y, text })
    });
    // Gaps within one pixel are merged.
    let mut gaps: Vec<Gap> = Vec::new();
    for gap in between.filter(|gap| gap.y[1] >= 0.0 && gap.y[0] <= f64::from(view.height_px)) {
        if gaps.last().is_none_or(|last| gap.y[1] > last.y[1]) {
            gaps.push(gap);
        }
    }
    gaps
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/plots/axis.rs"]
mod tests;
