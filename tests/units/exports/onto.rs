//! Position of the events in a profiler (Kineto) trace.

use super::*;

fn read(text: &str) -> Option<TraceLayout> {
    TraceLayout::read(&mut text.as_bytes()).ok()
}

#[test]
fn kineto_trace_gives_event_offset_and_base_time() {
    let text = r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0, "ts": 3, "name": "a \"traceEvents\": ["}],
 "nested": {"traceEvents": [1], "baseTimeNanoseconds": 7}, "traceEvents": [ {"ph": "X", "ts": 10.5, "args": {"ts": 99}},
 {"ts": 4, "dur": 2}], "baseTimeNanoseconds": 1759252605000000000, "traceName": "x"}"#;
    let kineto = read(text).unwrap();
    let (head, rest) = text.split_at(kineto.begin as usize);
    assert!(head.ends_with("\"traceEvents\": ["), "{head}");
    assert!(rest.starts_with(" {\"ph\""));
    assert_eq!((kineto.base_ns, kineto.has_events), (1_759_252_605_000_000_000, true));
    assert_eq!(kineto.times, Some((4.0, 10.5)));
}

#[test]
fn bare_or_empty_event_list_is_accepted() {
    let alone = read(" [{\"ts\": 3}]").unwrap();
    assert_eq!((alone.begin, alone.has_events, alone.base_ns, alone.times), (2, true, 0, Some((3.0, 3.0))));
    let empty = read("{\"traceEvents\": [ \n ]}").unwrap();
    assert_eq!((empty.has_events, empty.times), (false, None));
}

#[test]
fn truncated_trace_or_trace_without_event_list_is_rejected() {
    for text in [
        "",
        "{}",
        "{\"traceEvents\": 3}",
        "{\"traceEvents\": [{\"ts\": 1}",
        "{\"a\": {\"traceEvents\": []}}",
        "\u{80}\u{2}",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}
