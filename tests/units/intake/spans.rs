//! Unit tests of `src/intake/spans.rs`.

use super::*;

#[test]
fn missing_or_repeated_span_is_an_error() {
    let mut spans = Spans::default();
    let span = |at: u32| Span::new(i64::from(at) - 100, i64::from(at)).unwrap();
    for elem in (0..10_000).rev() {
        assert_eq!(spans.check().is_err(), elem < 9999, "without {elem}");
        spans.insert(elem, span(elem)).unwrap();
    }
    assert_eq!((spans.check(), spans.count(), spans.end()), (Ok(()), 10_000, 9999));
    assert_eq!((spans.get(77), spans.get(10_000), spans.get(u64::MAX)), (Some(span(77)), None, None));
    assert_eq!(spans.insert(77, span(1)), Err(JoinError::Twice(77)));
    assert_eq!(spans.insert(MAX_ALLOCATIONS, span(1)), Err(JoinError::TooMany));
    assert_eq!((Span::new(3, 2), Span::new(3, 3).is_some()), (None, true));
    spans.insert(10_001, span(1)).unwrap();
    assert_eq!(spans.check(), Err(JoinError::NoSuchElement(10_001, 10_001)));
}
