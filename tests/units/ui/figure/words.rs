//! Unit tests of `src/ui/plot/figure/words.rs`.

use super::*;

#[test]
fn exported_file_name_has_no_special_characters() {
    for (name, expected) in [
        ("run 17.pickle.gz", "run-17"),
        ("../../etc/passwd", "etc-passwd"),
        ("a.zip › b/c.pickle", "a.zip---b-c"),
        ("…", "snapshot"),
        ("-", "snapshot"),
        ("語.json", "語"),
    ] {
        assert_eq!(file_stem(name), expected, "{name}");
    }
    assert!(file_stem(&"x".repeat(5000)).len() <= MAX_NAME_CHARS);
}

#[test]
fn window_text_names_events_or_times() {
    let device = DeviceSummary { events: 1000, time_us: Some((5_000_000, 7_000_000)), ..DeviceSummary::default() };
    let view = View::fit(1001, 1, 100, 100);
    assert_eq!(WindowText::new(&device, &view).text, "All 1,000 events");
    let half = View { x_per_px: view.x_per_px / 2.0, left_px: 100, ..view };
    let window = WindowText::new(&device, &half);
    assert_eq!((window.text.as_str(), window.file_part.as_str()), ("Events 499 to 999 of 1,000", "events-499-999"));
    let margin = time_axis_margin(2_000_000) as f64;
    let timed = View { axis: Axis::Time, x_per_px: 10_000.0, left_px: (margin / 10_000.0) as i64, ..view };
    let window = WindowText::new(&device, &timed);
    assert_eq!(window.text, "0 µs to 999 ms after the first event");
    let empty = DeviceSummary::default();
    assert_eq!(WindowText::new(&empty, &View::fit(1, 1, 9, 9)).text, "No events");
}
