//! Unit tests of `src/ui/text/position_text.rs`.

use super::*;

#[test]
fn typed_events_times_and_words_are_parsed() {
    assert_eq!(parse_position(" 126670 "), Some(Position::Event(126_670)));
    assert_eq!(parse_position("126,670"), Some(Position::Event(126_670)));
    assert_eq!(parse_position("+1.25 s"), Some(Position::Time(1_250_000)));
    assert_eq!(parse_position("1.25s"), Some(Position::Time(1_250_000)));
    assert_eq!(parse_position("1,000.000001 s"), Some(Position::Time(1_000_000_001)));
    assert_eq!(parse_position("350 ms"), Some(Position::Time(350_000)));
    assert_eq!(parse_position("7µs"), Some(Position::Time(7)));
    assert_eq!((parse_position("Peak"), parse_position("end")), (Some(Position::Peak), Some(Position::End)));
    assert_eq!(parse_position("reserved-peak"), Some(Position::ReservedPeak));
    for wrong in
        ["", "s", ".5 s", "1.5", "1.2.3 s", "-4", "4 h", "99999999999999999999", "99999999999999999 s", "1 ms s"]
    {
        assert_eq!(parse_position(wrong), None, "{wrong}");
    }
}
