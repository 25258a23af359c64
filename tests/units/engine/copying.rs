//! Tests of `src/engine/copying.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn no_name_is_a_formula_or_a_second_line() {
    let cases = [("=HYPERLINK(1)", "'=HYPERLINK(1)"), ("-1", "'-1"), ("@a\tb\r\n", "'@a b  "), ("a=1", "a=1")];
    for (words, expected) in cases {
        let mut text = String::new();
        write_words(&mut text, words);
        assert_eq!(text, expected);
    }
}
