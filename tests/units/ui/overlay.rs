//! Unit tests of `src/ui/plot/overlay.rs`.

use super::*;

#[test]
fn precision_of_bytes_depends_on_zoom() {
    let gib = (1u64 << 30) as f64;
    assert_eq!(bytes_text(3 << 29, gib), "1 GiB");
    assert_eq!(bytes_text(3 << 29, gib / 100.0), "1.50 GiB");
    assert_eq!(bytes_text((3 << 29) + 12345, 1.0), "1.500 GiB");
    assert_eq!(bytes_text(1000, 0.1), "1,000 B");
    assert_eq!(bytes_text(1536, 1.0), "1.500 KiB");
}
