//! Unit tests of `src/cli/check/limits.rs`.

use super::*;

#[test]
fn growth_is_a_percentage_or_a_size() {
    assert_eq!(Growth::parse("2%"), Ok(Growth::Share(20_000)));
    assert_eq!(Growth::parse("0.5 %"), Ok(Growth::Share(5_000)));
    assert_eq!(Growth::parse("512MiB"), Ok(Growth::Bytes(512 << 20)));
    assert_eq!(Growth::parse("0"), Ok(Growth::Bytes(0)));
    for wrong in ["", "%", "-1%", "nan%", "inf%", "2 apples", "1e99%"] {
        assert!(Growth::parse(wrong).is_err(), "{wrong}");
    }
    assert_eq!(
        (Growth::Share(25_000).text(), Growth::Bytes(1 << 30).text()),
        ("2.5 %".to_owned(), "1.00 GiB".to_owned())
    );
}

#[test]
fn allowed_growth_is_at_least_the_noise_and_does_not_overflow() {
    assert_eq!(Growth::Share(20_000).allowed(1_000_000_049, 1), 20_000_000);
    assert_eq!(Growth::Share(20_000).allowed(1_000, 4_096), 4_096);
    assert_eq!(Growth::Bytes(10).allowed(u64::MAX, 4), 10);
    assert_eq!(Growth::Share(2_000_000).allowed(u64::MAX, 0), u64::MAX);
}

#[test]
fn reserved_peak_may_grow_more_across_settings_unless_growth_is_set() {
    let limits = Limits { budget: None, live_budget: None, growth: None, noise: 0, allows_oom: false };
    assert_eq!(limits.live_growth(), Growth::Share(20_000));
    assert_eq!(
        [false, true].map(|other| limits.reserved_growth(other)),
        [Growth::Share(20_000), Growth::Share(50_000)]
    );
    let limits = Limits { growth: Some(Growth::Bytes(1)), ..limits };
    assert_eq!((limits.live_growth(), limits.reserved_growth(true)), (Growth::Bytes(1), Growth::Bytes(1)));
}

#[test]
fn fraction_of_a_byte_is_cut_off() {
    assert_eq!((parse_size("78GiB"), parse_size("1.0001KiB")), (Ok(78 << 30), Ok(1024)));
    for wrong in ["", "-1", "much", "1 GiB x", "99999999999GiB"] {
        assert!(parse_size(wrong).is_err(), "{wrong}");
    }
}
