//! Unit tests of `src/intake/event_sink.rs`.

use super::*;

/// The last element frees all 9,999 live ones.
#[test]
fn many_simultaneous_frees_are_recorded_in_batches() {
    let mut spans = Spans::default();
    for elem in 0..9_999 {
        spans.insert(elem, Span::new(elem.into(), 10_000).unwrap()).unwrap();
    }
    spans.insert(9_999, Span::new(20_000, 30_000).unwrap()).unwrap();
    let mut events = RecordingSink::for_elements(spans);
    let (stack, labels, action) = (StackId::NONE, LabelsId(0), Action::Alloc);
    for address in 0..10_000 {
        events.event_at(0, &Event { address, size: 1, time_us: NO_TIME, stack, labels, action });
    }
    let mut recorded = 0;
    while events.record_pending(InputState::Open) == PendingWork::More {
        assert_eq!(events.events() - recorded, u64::from(MAX_EVENTS_PER_CALL));
        recorded = events.events();
    }
    assert_eq!(events.record_pending(InputState::Ended), PendingWork::Done);
    let recorder = events.finish().unwrap();
    assert_eq!(recorder.events(), 10_000 + 9_999, "the last one is never freed");
}
