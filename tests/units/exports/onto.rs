//! Where the events of a trace of the profiler are, whatever else is in it.

use super::*;

fn read(text: &str) -> Option<Kineto> {
    Kineto::read(&mut text.as_bytes()).ok()
}

#[test]
fn a_trace_tells_where_its_events_are_and_what_its_times_are_since() {
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
fn a_list_alone_and_a_list_of_nothing_are_traces_too() {
    let alone = read(" [{\"ts\": 3}]").unwrap();
    assert_eq!((alone.begin, alone.has_events, alone.base_ns, alone.times), (2, true, 0, Some((3.0, 3.0))));
    let empty = read("{\"traceEvents\": [ \n ]}").unwrap();
    assert_eq!((empty.has_events, empty.times), (false, None));
}

#[test]
fn what_has_no_events_or_ends_too_soon_is_refused() {
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
