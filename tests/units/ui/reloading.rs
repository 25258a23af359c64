//! Age of a file as text.

use super::age_text;

#[test]
fn age_has_largest_fitting_unit() {
    let of = |seconds: f64| age_text(seconds * 1000.0);
    assert_eq!([of(-3.0), of(0.4), of(12.9), of(99.0)], ["0 s ago", "0 s ago", "12 s ago", "99 s ago"]);
    assert_eq!(
        [of(100.0), of(5999.0), of(6000.0), of(200_000.0)],
        ["1 min ago", "99 min ago", "1 h ago", "2 days ago"]
    );
}
