//! Unit tests of `src/history/replay/rounding.rs`.

use super::*;

#[test]
fn sizes_are_rounded_to_512_by_default() {
    let rounding = Rounding::default();
    for (requested, rounded) in [(0, 512), (1, 512), (512, 512), (513, 1024), (1 << 20, 1 << 20)] {
        assert_eq!(rounding.rounded(requested), rounded);
    }
}

#[test]
fn power_of_two_divisions_are_applied() {
    let setting = |key: &str, value: &str| (format!("roundup_power2_divisions.{key}"), value.to_owned());
    let rounding = Rounding::from_settings(&[setting("1", "4"), setting("4", "8"), setting("8", "0")]);
    // 1.2 MiB: quarters of 1 MiB → 1.25 MiB.
    assert_eq!(rounding.rounded(1_258_291), 1_310_720);
    assert_eq!(rounding.rounded(1 << 20), 1 << 20);
    // 5 MiB + 1: eighths of 4 MiB → 5.5 MiB.
    assert_eq!(rounding.rounded((5 << 20) + 1), (5 << 20) + (1 << 19));
    assert_eq!(rounding.rounded((9 << 20) + 1), (9 << 20) + 512);
}
