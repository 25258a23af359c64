//! Unit tests of `src/picture/timeline/ticks.rs`.

use super::*;

fn labels(ticks: &[Tick]) -> Vec<&str> {
    ticks.iter().map(|tick| tick.label.as_str()).collect()
}

#[test]
fn byte_ticks_are_powers_of_two_in_one_unit() {
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
fn event_ticks_step_by_1_2_5() {
    let view = View { x_per_px: 20.0, left_px: 560, ..View::fit(1, 1, 500, 1) };
    let ticks = event_ticks(&view, 20_000, 80.0);
    assert_eq!(labels(&ticks), ["12,000", "14,000", "16,000", "18,000"]);
    assert_eq!(ticks[0].at_px, (12_001.0f64 / 20.0 - 560.0).round() as i64);
    let close = View { x_per_px: 1.0 / 64.0, ..View::fit(1, 1, 200, 1) };
    let ticks = event_ticks(&close, 2, 40.0);
    assert_eq!(ticks.iter().map(|tick| (tick.at_px, tick.value)).collect::<Vec<_>>(), [(64, 0), (128, 1)]);
}

#[test]
fn time_ticks_count_from_first_event() {
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
fn ticks_keep_minimum_distance() {
    for zoom in 0..60 {
        let scale = 0.02 * 1.37f64.powi(zoom);
        let view = View { bytes_per_px: scale, x_per_px: scale, ..View::fit(1, 1, 900, 900) };
        for ticks in [byte_ticks(&view, 50.0), event_ticks(&view, u32::MAX, 50.0)] {
            assert!(!ticks.is_empty());
            assert!(ticks.windows(2).all(|pair| pair[1].at_px - pair[0].at_px >= 50), "{scale} {ticks:?}");
        }
    }
}
