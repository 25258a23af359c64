//! Unit tests of `src/engine/copying.rs`.

use super::*;

#[test]
fn copied_names_are_escaped_for_spreadsheets() {
    let cases = [("=HYPERLINK(1)", "'=HYPERLINK(1)"), ("-1", "'-1"), ("@a\tb\r\n", "'@a b  "), ("a=1", "a=1")];
    for (words, expected) in cases {
        assert_eq!(as_field(words), expected);
    }
}
