//! Unit tests of `src/history/snapshot/strings.rs`.

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
fn total_string_bytes_are_limited() {
    let mut strings = Strings { bytes: MAX_STRING_BYTES - 10, ..Strings::default() };
    assert!(strings.intern(b"ten bytes.").is_some());
    assert_eq!(strings.intern(b"!"), None);
    assert!(strings.intern(b"ten bytes.").is_some(), "known strings need no room");
}

#[test]
fn schema_keys_have_the_first_ids() {
    let mut strings = Strings::default();
    for (at, key) in KEYS.iter().enumerate() {
        assert_eq!(strings.intern(key.as_bytes()), Some(StringId(at as u32)));
    }
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    let mut strings = Strings::default();
    let id = strings.intern(b"a\xed\xa0\x80b").unwrap();
    assert_eq!(strings.text(id), "a\u{fffd}\u{fffd}\u{fffd}b");
}
