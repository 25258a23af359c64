//! Unit tests of `src/ui/plot/figure/decorations.rs`.

use super::*;
use protocol::{AxisPoint, Span};

fn slice(name: &str, shared: usize, count: u32) -> Slice {
    let (span, points) = (Span { from: 0, to: 1 }, [AxisPoint::default(); 2]);
    Slice {
        x: [0.0, 1.0],
        lane: 0,
        name: name.to_owned(),
        source: RangeSource::Annotation,
        shared_prefix: shared,
        has_end: true,
        count,
        span,
        duration_us: 1,
        points,
    }
}

#[test]
fn label_keeps_distinctive_part_of_name() {
    let of = |name: &str, shared: usize, room: f64| label(&slice(name, shared, 1), 11.0, room, 30.0);
    assert_eq!(of("step_29", 5, 80.0), "step_29");
    assert_eq!(of("step_29", 5, 30.0), "…29");
    assert_eq!(of("step_29", 5, 15.0), "29");
    // A number is never cut, because its part would be another number.
    assert_eq!(of("step_29", 5, 10.0), "");
    assert_eq!(of("Optimizer.zero_grad", 10, 80.0), "…zero_grad");
    assert_eq!(of("Optimizer.zero_grad", 10, 50.0), "zero_…", "never cut at both ends");
    assert_eq!(of("forward", 0, 40.0), "forw…");
    assert_eq!(of("forward", 0, 20.0), "");
    // All names are equal, so the beginning is kept.
    assert_eq!(of("forward", 7, 40.0), "forw…");
}

#[test]
fn merged_slice_shows_its_count() {
    let of = |room: f64| label(&slice("1,234 annotations", 0, 1234), 11.0, room, 30.0);
    assert_eq!(of(200.0), "1,234 annotations");
    assert_eq!(of(50.0), "×1,234");
    assert_eq!(of(20.0), "");
}
