//! Tests of `src/history/snapshot/strings.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn equal_strings_have_one_id() {
    let mut strings = Strings::default();
    let known = strings.len();
    let long = vec![b'x'; PIECE + 1];
    let a = strings.intern(b"train.py").unwrap();
    let b = strings.intern(&long).unwrap();
    assert_eq!(strings.intern(b"train.py"), Some(a));
    assert_eq!(strings.intern(&long), Some(b));
    assert_eq!(strings.bytes(a), b"train.py");
    assert_eq!(strings.bytes(b), long);
    assert_eq!(strings.len(), known + 2);
}

#[test]
fn all_strings_together_have_a_limit() {
    let mut strings = Strings { bytes: MOST_STRING_BYTES - 10, ..Strings::default() };
    assert!(strings.intern(b"ten bytes.").is_some());
    assert_eq!(strings.intern(b"!"), None);
    assert!(strings.intern(b"ten bytes.").is_some(), "what is known costs nothing");
}

#[test]
fn the_schema_comes_first() {
    let mut strings = Strings::default();
    for (at, key) in KEYS.iter().enumerate() {
        assert_eq!(strings.intern(key.as_bytes()), Some(StringId(at as u32)));
    }
}

#[test]
fn lone_surrogates_are_shown_not_refused() {
    let mut strings = Strings::default();
    let id = strings.intern(b"a\xed\xa0\x80b").unwrap();
    assert_eq!(strings.text(id), "a\u{fffd}\u{fffd}\u{fffd}b");
}
