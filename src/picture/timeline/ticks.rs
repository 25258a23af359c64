//! Where the axes have their marks, and what stands beside them.

use super::view::View;
use base::units::{BYTE_UNITS, grouped};

/// One mark of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Pixels of the window from its left (events) or bottom (bytes) edge.
    pub at_px: i64,
    /// The number that stands there: bytes, or an event's index.
    pub value: u64,
    /// That number for people.
    pub label: String,
}

/// More marks than any window has room for: a bound against senseless views.
const MAX_TICKS: u64 = 1000;

/// Marks of the byte axis, bottom up, a power of two apart and at least `min_distance_px`.
///
/// All labels have the unit of which a step is at least an eighth, smaller values a smaller one: `512 MiB`, `1 GiB`, `1.5 GiB`.
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

/// Marks of the event axis, from left to right, 1, 2 or 5 times a power of ten apart and at least `min_distance_px`. An event stands
/// where the moment begins that it brings about. Only events below `events` have one.
pub fn event_ticks(view: &View, events: u32, min_distance_px: f64) -> Vec<Tick> {
    let wanted = view.x_per_px * min_distance_px;
    let mut decade = 1u64;
    while (decade as f64) * 5.0 < wanted && decade < 1_000_000_000 {
        decade *= 10;
    }
    let step =
        [1, 2, 5].map(|times| times * decade).into_iter().find(|&step| step as f64 >= wanted).unwrap_or(10 * decade);
    // Event k stands at k + 1.
    let range = [view.x_from_column(0.0) - 1.0, view.x_from_column(f64::from(view.width_px)) - 1.0];
    multiples(step, range)
        .take_while(|&event| event < u64::from(events))
        .map(|event| {
            let at_px = view.column_from_x(event as f64 + 1.0).round() as i64;
            Tick { at_px, value: event, label: grouped(event) }
        })
        .filter(|tick| (0..=i64::from(view.width_px)).contains(&tick.at_px))
        .collect()
}

/// Marks of the time axis: time since the first event, 1, 2 or 5 times a power of ten µs apart and at least `min_distance_px`; the
/// recorded span is `span` µs long and begins at `zero` on the axis.
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

/// A multiple of `step` µs in the largest unit that shows it without loss in three decimals: `1.25 s`, `40 ms`, `7 µs`.
fn elapsed_label(elapsed: u64, step: u64) -> String {
    let units = [(1_000_000, "s"), (1_000, "ms")];
    let unit = units.into_iter().find(|&(unit, _)| elapsed >= unit && step * 1000 >= unit);
    let Some((unit, name)) = unit else { return format!("{} µs", grouped(elapsed)) };
    let fraction = format!("{:03}", elapsed % unit * 1000 / unit);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {name}", grouped(elapsed / unit))
}

/// The multiples of `step` in a range and one beyond either end, where rounding may bring it in.
fn multiples(step: u64, range: [f64; 2]) -> impl Iterator<Item = u64> {
    let [first, last] = range.map(|end| (end.max(0.0) / step as f64).floor() as u64);
    let end = if range[1] < 0.0 { 0 } else { last.saturating_add(2) };
    (first..end).take(MAX_TICKS as usize).filter_map(move |times| times.checked_mul(step))
}

/// `value`, a multiple of `step`, without loss: at most three decimals.
fn bytes_label(value: u64, step: u64) -> String {
    let mut unit = 0;
    while unit + 1 < BYTE_UNITS.len() && value >> (10 * (unit + 1)) > 0 && step >> (10 * (unit + 1) - 3) > 0 {
        unit += 1;
    }
    let whole = grouped(value >> (10 * unit));
    let rest = value & ((1 << (10 * unit)) - 1);
    // Eighths have three decimals; all steps in this unit are whole eighths of it.
    let thousandths = if unit == 0 { 0 } else { (rest >> (10 * unit - 3)) * 125 };
    let fraction = format!("{thousandths:03}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{point}{fraction} {}", BYTE_UNITS.get(unit).unwrap_or(&"B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn bytes_step_by_powers_of_two_in_one_unit() {
        let gib = 1u64 << 30;
        let view = |bytes_per_px: f64, bottom_px| View { bytes_per_px, bottom_px, ..View::fit(10, 1, 10, 400) };
        assert_eq!(
            labels(&byte_ticks(&view(gib as f64 / 100.0, 0), 40.0)),
            ["0 B", "512 MiB", "1 GiB", "1.5 GiB", "2 GiB", "2.5 GiB", "3 GiB", "3.5 GiB", "4 GiB"]
        );
        assert_eq!(
            labels(&byte_ticks(&view(gib as f64 / 1600.0, 1600), 100.0)),
            ["1,024 MiB", "1,088 MiB", "1,152 MiB", "1,216 MiB", "1,280 MiB"]
        );
        assert_eq!(labels(&byte_ticks(&view(12.0, 0), 100.0)), ["0 B", "2 KiB", "4 KiB"]);
        assert_eq!(labels(&byte_ticks(&view(1.0, 0), 100.0)), ["0 B", "128 B", "256 B", "384 B"]);
        assert_eq!(labels(&byte_ticks(&view(1.5, -500), 100.0)), Vec::<&str>::new());
    }

    #[test]
    fn events_step_by_1_2_5_and_stand_where_they_happen() {
        let view = View { x_per_px: 20.0, left_px: 560, ..View::fit(1, 1, 500, 1) };
        let ticks = event_ticks(&view, 20_000, 80.0);
        assert_eq!(labels(&ticks), ["12,000", "14,000", "16,000", "18,000"]);
        assert_eq!(ticks[0].at_px, (12_001.0f64 / 20.0 - 560.0).round() as i64);
        let close = View { x_per_px: 1.0 / 64.0, ..View::fit(1, 1, 200, 1) };
        let ticks = event_ticks(&close, 2, 40.0);
        assert_eq!(ticks.iter().map(|tick| (tick.at_px, tick.value)).collect::<Vec<_>>(), [(64, 0), (128, 1)]);
    }

    #[test]
    fn times_are_told_since_the_first_event() {
        let view = View { axis: crate::timeline::Axis::Time, x_per_px: 5_000.0, ..View::fit(1, 1, 500, 1) };
        let ticks = time_ticks(&view, 10_000, 2_000_000, 90.0);
        assert_eq!(labels(&ticks), ["0 µs", "500 ms", "1 s", "1.5 s", "2 s"]);
        assert_eq!(ticks[1].at_px, 102);
        let close = View { x_per_px: 0.5, left_px: 4_000_000, ..view };
        assert_eq!(
            labels(&time_ticks(&close, 10_000, 3_000_000, 90.0)),
            ["1,990 ms", "1,990.05 ms", "1,990.1 ms", "1,990.15 ms", "1,990.2 ms", "1,990.25 ms"]
        );
    }

    #[test]
    fn neighbours_keep_their_distance() {
        for zoom in 0..60 {
            let scale = 0.02 * 1.37f64.powi(zoom);
            let view = View { bytes_per_px: scale, x_per_px: scale, ..View::fit(1, 1, 900, 900) };
            for ticks in [byte_ticks(&view, 50.0), event_ticks(&view, u32::MAX, 50.0)] {
                assert!(!ticks.is_empty());
                assert!(ticks.windows(2).all(|pair| pair[1].at_px - pair[0].at_px >= 50), "{scale} {ticks:?}");
            }
        }
    }
}
