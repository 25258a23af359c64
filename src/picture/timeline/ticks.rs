//! Positions and labels of axis ticks.

use super::view::View;
use base::units::{BYTE_UNITS, group_digits};

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Distance in pixels from the left edge of the window, or from the bottom edge on the byte axis.
    pub at_px: i64,
    /// Value in bytes, as an event index, or as a time in µs.
    pub value: u64,
    /// The value as text.
    pub label: String,
}

/// Maximum number of ticks. Only an invalid view would have more.
const MAX_TICKS: u64 = 1000;

/// Returns the ticks of the byte axis, bottom up. Steps are powers of two and at least `min_distance_px` apart.
///
/// Labels use the largest unit that is at most eight steps, and smaller units for smaller values: `512 MiB`,
/// `1 GiB`, `1.5 GiB`.
pub fn byte_ticks(view: &View, min_distance_px: f64) -> Vec<Tick> {
    let mut step = 1u64;
    while (step as f64) < view.bytes_per_px * min_distance_px && step < 1 << 62 {
        step <<= 1;
    }
    let range = [view.bytes_from_row(0.0), view.bytes_from_row(f64::from(view.height_px))];
    multiples(step, range)
        .map(|value| Tick { at_px: view.row_from_bytes(value), value, label: bytes_label(value, step) })
        .filter(|tick| (0..=i64::from(view.height_px)).contains(&tick.at_px))
        .collect()
}

/// Returns the ticks of the event axis, from left to right. Steps are 1, 2 or 5 times a power of ten and at least
/// `min_distance_px` apart. A tick is at the start of the moment after its event. `events` is the number of events.
pub fn event_ticks(view: &View, events: u32, min_distance_px: f64) -> Vec<Tick> {
    let wanted = view.x_per_px * min_distance_px;
    let mut decade = 1u64;
    while (decade as f64) * 5.0 < wanted && decade < 1_000_000_000 {
        decade *= 10;
    }
    let step =
        [1, 2, 5].map(|times| times * decade).into_iter().find(|&step| step as f64 >= wanted).unwrap_or(10 * decade);
    // Event k is at k + 1.
    let range = [view.x_from_column(0.0) - 1.0, view.x_from_column(f64::from(view.width_px)) - 1.0];
    multiples(step, range)
        .take_while(|&event| event < u64::from(events))
        .map(|event| {
            let at_px = view.column_from_x(event as f64 + 1.0).round() as i64;
            Tick { at_px, value: event, label: group_digits(event) }
        })
        .filter(|tick| (0..=i64::from(view.width_px)).contains(&tick.at_px))
        .collect()
}

/// Returns the ticks of the time axis, as time since the first event. Steps are 1, 2 or 5 times a power of ten µs and
/// at least `min_distance_px` apart. The recording is `span` µs long and starts at `zero` on the axis.
pub fn time_ticks(view: &View, zero: i64, span: u64, min_distance_px: f64) -> Vec<Tick> {
    let wanted = view.x_per_px * min_distance_px;
    let mut decade = 1u64;
    while (decade as f64) * 5.0 < wanted && decade < 1 << 56 {
        decade *= 10;
    }
    let step =
        [1, 2, 5].map(|times| times * decade).into_iter().find(|&step| step as f64 >= wanted).unwrap_or(10 * decade);
    let range = [0.0, f64::from(view.width_px)].map(|column| view.x_from_column(column) - zero as f64);
    multiples(step, range)
        .take_while(|&elapsed| elapsed <= span)
        .map(|elapsed| {
            let at_px = view.column_from_x(elapsed as f64 + zero as f64).round() as i64;
            Tick { at_px, value: elapsed, label: elapsed_label(elapsed, step) }
        })
        .filter(|tick| (0..=i64::from(view.width_px)).contains(&tick.at_px))
        .collect()
}

/// Formats a multiple of `step` µs in the largest unit that is exact with three decimals: `1.25 s`, `40 ms`, `7 µs`.
fn elapsed_label(elapsed: u64, step: u64) -> String {
    let units = [(1_000_000, "s"), (1_000, "ms")];
    let unit = units.into_iter().find(|&(unit, _)| elapsed >= unit && step * 1000 >= unit);
    let Some((unit, name)) = unit else { return format!("{} µs", group_digits(elapsed)) };
    let fraction = format!("{:03}", elapsed % unit * 1000 / unit);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {name}", group_digits(elapsed / unit))
}

/// Returns the multiples of `step` in a range, and one more on each side, because rounding may move them into the
/// range.
fn multiples(step: u64, range: [f64; 2]) -> impl Iterator<Item = u64> {
    let [first, last] = range.map(|end| (end.max(0.0) / step as f64).floor() as u64);
    let end = if range[1] < 0.0 { 0 } else { last.saturating_add(2) };
    (first..end).take(MAX_TICKS as usize).filter_map(move |times| times.checked_mul(step))
}

/// Formats `value`, a multiple of `step`, exactly with at most three decimals.
fn bytes_label(value: u64, step: u64) -> String {
    let mut unit = 0;
    while unit + 1 < BYTE_UNITS.len() && value >> (10 * (unit + 1)) > 0 && step >> (10 * (unit + 1) - 3) > 0 {
        unit += 1;
    }
    let whole = group_digits(value >> (10 * unit));
    let rest = value & ((1 << (10 * unit)) - 1);
    // All steps in this unit are multiples of an eighth, which has three decimals.
    let thousandths = if unit == 0 { 0 } else { (rest >> (10 * unit - 3)) * 125 };
    let fraction = format!("{thousandths:03}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{point}{fraction} {}", BYTE_UNITS.get(unit).unwrap_or(&"B"))
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/ticks.rs"]
mod tests;
