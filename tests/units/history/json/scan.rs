//! Unit tests of `src/history/json/scan.rs`.

use super::*;

#[test]
fn string_end_is_found_at_every_offset() {
    for length in 1..30 {
        for at in 0..length {
            for byte in 0..=255 {
                let mut bytes = vec![b'x'; length];
                bytes[at] = byte;
                let expected = match byte {
                    b'"' => Stop::Quote(at),
                    b'\\' => Stop::EndOfInput(usize::from(at + 1 == length)),
                    0..0x20 => Stop::Control(at, byte),
                    _ => Stop::EndOfInput(0),
                };
                assert_eq!(string_end(&bytes, 0), expected, "0x{byte:02x} at {at} of {length}");
            }
        }
    }
}

#[test]
fn whitespace_is_skipped() {
    for spaces in 0..40 {
        for blanks in [" ".repeat(spaces), "\n".to_owned() + &" ".repeat(spaces), "\r\n\t".repeat(spaces)] {
            assert_eq!(skip_blanks((blanks.clone() + "x  ").as_bytes()), b"x  ");
            assert_eq!(skip_blanks(blanks.as_bytes()), b"");
        }
    }
}
