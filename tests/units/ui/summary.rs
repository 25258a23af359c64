//! Tests of `src/ui/summary.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn what_the_file_does_not_hold_is_not_shown_as_nothing() {
    let requested = DeviceSummary { peak_requested: 2048, end_requested: 1024, ..DeviceSummary::default() };
    let [_, reserved, _, end, _] = headlines(&requested);
    assert_eq!((reserved.value.as_str(), end.note.as_str()), ("not known", "1,024 B"));
    let whole = DeviceSummary { peak_reserved: 4096, end_rounded: 1024, ..requested };
    let [_, reserved, _, end, _] = headlines(&whole);
    assert_eq!((reserved.value.as_str(), end.note.as_str()), ("4.00 KiB", "1,024 B · rounded 1.00 KiB"));
    let [_, reserved, ..] = headlines(&DeviceSummary::default());
    assert_eq!(reserved.value, "0 B", "nothing requested, nothing reserved");
}
