//! Unit tests of `src/base/units.rs`.

use super::*;

#[test]
fn range_of_bytes_has_one_unit() {
    assert_eq!(byte_range(256, 512), "256–512 B");
    // One number if both ends are displayed the same.
    assert_eq!(byte_range(70_652_000_000, 70_652_100_000), "65.8 GiB");
    assert_eq!(byte_range(512, 2048), "512 B–2.00 KiB");
    assert_eq!(byte_range(2048, 8192), "2.00–8.00 KiB");
}

#[test]
fn bytes_have_three_significant_digits() {
    let cases = [
        (0, "0 B"),
        (512, "512 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1_048_575, "1.00 MiB"),
        (38 * 1024 * 1024 + 157_286, "38.1 MiB"),
        (55_108_591_620, "51.3 GiB"),
        (u64::MAX, "16.0 EiB"),
    ];
    for (bytes, text) in cases {
        assert_eq!(Bytes(bytes).to_string(), text);
    }
}

#[test]
fn integers_have_thousands_separators() {
    for (value, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (55_108_591_620, "55,108,591,620")] {
        assert_eq!(group_digits(value), text);
    }
}

#[test]
fn duration_unit_depends_on_length() {
    let cases = [
        (13, "13 µs"),
        (1_250, "1.25 ms"),
        (41_700_000, "41.7 s"),
        (125_000_000, "2 min 05 s"),
        (-13, "−13 µs"),
        (3_661_000_000, "1 h 01 min"),
    ];
    for (us, text) in cases {
        assert_eq!(duration_us(us), text);
    }
}

#[test]
fn moment_after_event_maps_back_to_event() {
    assert_eq!(Moment::START.event(), None);
    assert_eq!(Moment::START.event_or_minus_one(), -1);
    assert_eq!(Moment::after(EventIdx(4)).event(), Some(EventIdx(4)));
}
