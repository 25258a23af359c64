//! Unit tests of `src/picture/shapes.rs`.

use super::*;

#[test]
fn text_wider_than_available_width_is_truncated() {
    assert_eq!(truncated("backward", 10.0, width("backward", 10.0)), "backward");
    assert_eq!(truncated("backward pass", 10.0, width("backward pass", 10.0) - 1.0), "backward pa…");
    assert_eq!(truncated("backward", 10.0, 12.0), "");
    for room in 0..90 {
        let kept = truncated("forward of 語 and more", 10.0, f64::from(room));
        assert!(width(&kept, 10.0) <= f64::from(room) + 1e-9, "{room}: {kept}");
    }
}
