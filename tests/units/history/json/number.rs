//! Unit tests of `src/history/json/number.rs`.

use super::*;

fn wide(text: &str) -> Option<i128> {
    match parse_number(text.as_bytes())? {
        Number::Int(value) => Some(value.into()),
        Number::Big(bytes) => {
            let sign = if bytes.last()? & 0x80 != 0 { 0xff } else { 0 };
            let mut all = [sign; 16];
            all[..bytes.len()].copy_from_slice(&bytes);
            Some(i128::from_le_bytes(all))
        }
        Number::Float(_) => None,
    }
}

#[test]
fn integers_of_every_length_are_exact() {
    let mut values = vec![0i128, 7, -7, 10, 999_999_999_999_999_999, u64::MAX.into(), i64::MIN.into()];
    for bits in 60..120 {
        values.extend([(1 << bits) - 1, 1 << bits, -(1 << bits), -(1 << bits) - 1, -(1 << bits) + 1]);
    }
    for value in values {
        assert_eq!(wide(&value.to_string()), Some(value));
        let fits = i64::try_from(value).is_ok();
        assert_eq!(matches!(parse_number(value.to_string().as_bytes()), Some(Number::Int(_))), fits, "{value}");
    }
    assert_eq!(parse_number(b"-0"), Some(Number::Int(0)), "as in Python");
}

#[test]
fn parsed_floats_match_rust_parser() {
    for text in ["0.5", "-0.0", "1e3", "1E+3", "12.25e-2", "1e999", "0e0", "123456789012345678901.5"] {
        assert_eq!(parse_number(text.as_bytes()), Some(Number::Float(text.parse().unwrap())), "{text}");
    }
}

#[test]
fn invalid_json_numbers_are_rejected() {
    for text in ["", "-", "+1", "01", "-01", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "1_0", "1-", "--1", "1.5.5"] {
        assert_eq!(parse_number(text.as_bytes()), None, "{text}");
    }
}
