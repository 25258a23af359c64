//! Offsets in the text of a query.

use super::bytes_to;

#[test]
fn utf16_offsets_are_converted_to_bytes() {
    for (text, letters, bytes) in
        [("abc", 2, 2), ("é🦀x", 1, 2), ("é🦀x", 3, 6), ("é🦀x", 2, 2), ("a", 9, 1), ("", 0, 0)]
    {
        assert_eq!(bytes_to(text, letters), bytes, "{text} {letters}");
    }
}
