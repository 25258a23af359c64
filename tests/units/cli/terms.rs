//! Unit tests of `src/cli/common_args.rs`.

use super::*;

#[test]
fn positions_are_parsed_from_words_events_and_times() {
    assert_eq!(
        (parse_trace_position("peak"), parse_trace_position("end"), parse_trace_position("-1")),
        (Ok(TracePosition::Peak), Ok(TracePosition::End), Ok(TracePosition::Event(-1)))
    );
    assert_eq!(
        (parse_trace_position("oom"), parse_trace_position("reserved-peak")),
        (Ok(TracePosition::OutOfMemory), Ok(TracePosition::ReservedPeak))
    );
    assert_eq!(
        parse_trace_position("1759252605604106us"),
        Ok(TracePosition::Time(TimeArg::Since1970(1_759_252_605_604_106)))
    );
    assert_eq!(parse_trace_position("350ms"), Ok(TracePosition::Time(TimeArg::SinceFirst(350_000))));
    assert_eq!(parse_trace_position("1.25s"), Ok(TracePosition::Time(TimeArg::SinceFirst(1_250_000))));
    let named = |action| NamedEvent { action, address: 0x7f89_b400_0000, version: 3 };
    assert_eq!(parse_trace_position("alloc:7f89b4000000_3"), Ok(TracePosition::Named(named(NamedAction::Alloc))));
    assert_eq!(
        parse_trace_position("free_completed:0x7f89b4000000_3"),
        Ok(TracePosition::Named(named(NamedAction::FreeCompleted)))
    );
    for wrong in ["-2", "alloc:7f89b4000000", "free:1_0", "soon", "12h", "1.5"] {
        assert!(parse_trace_position(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn sizes_are_parsed_as_in_search() {
    for (text, expected) in [("3145728", 3 << 20), ("3MiB", 3 << 20), ("64M", 64 << 20), ("1.5GiB", 3 << 29)] {
        assert_eq!(parse_bytes(text), Ok(expected), "{text}");
    }
    for wrong in ["", "x", "-1", "1kB", "3MB", "99999999999999999999", "16EiB", "1.3KiB", "=5", "1..2", " & #1"] {
        assert!(parse_bytes(wrong).is_err(), "{wrong}");
    }
}
