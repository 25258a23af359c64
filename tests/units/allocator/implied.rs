//! Bounds of memory limits.

use super::{Attempts, Implied};
use crate::Settings;
use crate::conf::parse;
use crate::settings::MIB;

fn implied(attempts: &[(u64, u64, u64, bool)], line: &str) -> Implied {
    let mut all = Attempts::new(10 * MIB);
    for (reserved, size, segment, is_granted) in attempts {
        all.add(reserved * MIB, size * MIB, segment * MIB, *is_granted);
    }
    all.implied(&parse(line).unwrap().0)
}

#[test]
fn failed_and_successful_attempts_narrow_limits_of_driver_memory() {
    assert_eq!(implied(&[(10, 20, 20, true)], "").limit(), None, "nothing was refused");
    let both = implied(&[(10, 20, 20, true), (30, 20, 20, false), (10, 35, 36, true)], "");
    assert_eq!((both.limit(), both.is_fraction), (Some([45 * MIB, 50 * MIB - 1]), false));
}

#[test]
fn memory_fraction_limits_whole_segments_not_pages() {
    let line = "expandable_segments:True,per_process_memory_fraction:0.5";
    let fraction = implied(&[(10, 20, 22, true), (30, 20, 24, false)], line);
    assert_eq!((fraction.limit(), fraction.is_fraction), (Some([32 * MIB, 54 * MIB - 1]), true));
    let [low, high] = fraction.total(&parse(line).unwrap().0).unwrap();
    assert!((64 * MIB..64 * MIB + 3).contains(&low) && (108 * MIB - 2..108 * MIB).contains(&high));
    // Only a fraction refuses a block that needs no page.
    let set_by_call = implied(&[(10, 20, 22, true), (30, 0, 24, false)], "expandable_segments:True");
    assert_eq!((set_by_call.limit(), set_by_call.is_fraction), (Some([32 * MIB, 54 * MIB - 1]), true));
}

#[test]
fn contradictory_attempts_imply_no_limit() {
    let shared = implied(&[(10, 20, 20, false), (30, 20, 20, true)], "");
    assert!(shared.is_contradictory() && shared.limit().is_none());
}

#[test]
fn garbage_collection_implies_limits_of_threshold_and_fraction() {
    let settings = parse("garbage_collection_threshold:0.5,per_process_memory_fraction:0.9").unwrap().0;
    let mut attempts = Attempts::new(0);
    attempts.add(0, 90 * MIB, 90 * MIB, true);
    attempts.not_collected(40 * MIB);
    attempts.collected(60 * MIB);
    let implied = attempts.implied(&settings);
    assert_eq!(implied.threshold, [40 * MIB, 60 * MIB]);
    assert_eq!(implied.limit(), Some([90 * MIB, 120 * MIB + 1]));
    let limits = implied.limits(Some(120 * MIB), &settings);
    assert_eq!((limits.allowed, limits.collect_above), (Some(120 * MIB), Some(60 * MIB - 1)));
    assert_eq!(implied.limits(None, &Settings::default()).collect_above, None);
}
