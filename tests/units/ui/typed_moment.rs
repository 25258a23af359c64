//! Unit tests of `src/ui/typed_moment.rs`.

use super::*;

#[test]
fn typed_events_times_and_words_are_parsed() {
    assert_eq!(typed(" 126670 "), Some(Typed::Event(126_670)));
    assert_eq!(typed("126,670"), Some(Typed::Event(126_670)));
    assert_eq!(typed("+1.25 s"), Some(Typed::Time(1_250_000)));
    assert_eq!(typed("1.25s"), Some(Typed::Time(1_250_000)));
    assert_eq!(typed("1,000.000001 s"), Some(Typed::Time(1_000_000_001)));
    assert_eq!(typed("350 ms"), Some(Typed::Time(350_000)));
    assert_eq!(typed("7µs"), Some(Typed::Time(7)));
    assert_eq!((typed("Peak"), typed("end")), (Some(Typed::Peak), Some(Typed::End)));
    assert_eq!(typed("reserved-peak"), Some(Typed::ReservedPeak));
    for wrong in
        ["", "s", ".5 s", "1.5", "1.2.3 s", "-4", "4 h", "99999999999999999999", "99999999999999999 s", "1 ms s"]
    {
        assert_eq!(typed(wrong), None, "{wrong}");
    }
}
