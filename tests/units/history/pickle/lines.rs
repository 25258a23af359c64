//! Unit tests of `src/history/pickle/lines.rs`.

use super::*;

#[test]
fn integers_are_parsed() {
    assert_eq!(parse_int(b"01"), Some(Integer::Bool(true)));
    assert_eq!(parse_int(b"-7"), Some(Integer::Small(-7)));
    assert_eq!(parse_long(b"18446744073709551615L"), Some(Integer::Big(u64::MAX.into())));
    assert_eq!(parse_long(b"12L"), Some(Integer::Small(12)));
    for wrong in [&b""[..], b"1 ", b"1_0", b"0x1", b"L", b"1LL"] {
        assert_eq!((parse_int(wrong), parse_long(wrong)), (None, None));
    }
}

#[test]
fn unicode_strings_are_unescaped() {
    assert_eq!(decode_unicode(b"plain").unwrap(), b"plain");
    assert_eq!(decode_unicode(b"\xe9\\u6f22\\U0001f600\\u000a\\u005cn \\n").unwrap(), "é漢😀\n\\n \\n".as_bytes());
    assert_eq!(decode_unicode(b"\\ud800").unwrap(), b"\xed\xa0\x80");
    for wrong in [&b"\\u12"[..], b"\\u12g4", b"\\U00110000", b"\\u"] {
        assert_eq!(decode_unicode(wrong), None);
    }
}
