//! Unit tests of `src/engine/join.rs`.

use super::*;

/// The last element frees all 9,999 live ones.
#[test]
fn many_frees_at_once_are_recorded_in_batches() {
    let mut spans = Spans::default();
    for elem in 0..9_999 {
        spans.put(elem, Span::new(elem.into(), 10_000).unwrap()).unwrap();
    }
    spans.put(9_999, Span::new(20_000, 30_000).unwrap()).unwrap();
    let mut events = Events::of_elements(spans);
    let (stack, labels, action) = (StackId::NONE, LabelsId(0), Action::Alloc);
    for address in 0..10_000 {
        events.event(0, &Event { address, size: 1, time_us: NO_TIME, stack, labels, action });
    }
    let mut recorded = 0;
    while events.settle(Rest::Open) == Settled::Some {
        assert_eq!(events.events() - recorded, u64::from(RECORDED_AT_ONCE));
        recorded = events.events();
    }
    assert_eq!(events.settle(Rest::Ended), Settled::All);
    let recorder = events.finish().unwrap();
    assert_eq!(recorder.events(), 10_000 + 9_999, "the last one is never freed");
}
