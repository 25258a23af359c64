//! Unit tests of `src/history/json/text.rs`.

use super::*;

fn read(raw: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    unescape(raw.as_bytes(), &mut out).map(|()| out)
}

#[test]
fn every_escape_is_decoded() {
    let all = r#"a\"\\\/\b\f\n\r\tz"#;
    assert_eq!(read(all).unwrap(), b"a\"\\/\x08\x0c\n\r\tz");
    for character in ['\0', 'A', '\u{7f}', '\u{80}', 'é', '\u{7ff}', '\u{800}', '漢', '\u{ffff}'] {
        let escape = format!("<\\u{:04X}>", character as u32);
        assert_eq!(read(&escape).unwrap(), format!("<{character}>").as_bytes());
    }
    assert_eq!(read("\\ud83d\\ude00").unwrap(), "😀".as_bytes());
    assert_eq!(read("\\udbff\\udfff").unwrap(), "\u{10ffff}".as_bytes());
}

#[test]
fn lone_surrogates_become_three_bytes() {
    assert_eq!(read("\\ud83d").unwrap(), b"\xed\xa0\xbd");
    assert_eq!(read("\\ude00x").unwrap(), b"\xed\xb8\x80x");
    assert_eq!(read("\\ud83d\\ud83d\\ude00").unwrap(), b"\xed\xa0\xbd\xf0\x9f\x98\x80");
    assert_eq!(read("\\ud83d\\n").unwrap(), b"\xed\xa0\xbd\n");
}

#[test]
fn invalid_escapes_are_rejected() {
    for raw in ["\\", "\\x41", "\\u12", "\\u12g4", "\\ud83d\\u12", "\\'"] {
        assert_eq!(read(raw), None, "{raw}");
    }
}
