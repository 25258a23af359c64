//! The text of a number → its value, exactly.

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    /// Beyond 64 signed bits: two's complement, least significant byte first.
    Big(Vec<u8>),
    Float(f64),
}

/// The number that `text` is, if it is written as JSON has it: `-0.5e+3`, not `+1`, `01`, `.5`, `1.`.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<Number> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, rest) = digits(unsigned)?;
    if whole.len() > 1 && whole.first() == Some(&b'0') {
        return None;
    }
    if !rest.is_empty() {
        return float(text, rest);
    }
    let is_negative = unsigned.len() < text.len();
    // 18 digits always fit.
    if whole.len() > 18 {
        return std::str::from_utf8(text).ok()?.parse().map(Number::Int).ok().or_else(|| Some(big(whole, is_negative)));
    }
    let value = whole.iter().fold(0, |value, &digit| value * 10 + i64::from(digit - b'0'));
    Some(Number::Int(if is_negative { -value } else { value }))
}

/// At least one digit, and what follows them.
#[inline]
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(length).filter(|_| length > 0)
}

/// A number with a fraction or an exponent, which begin at `rest`.
fn float(text: &[u8], rest: &[u8]) -> Option<Number> {
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix(b".") {
        (_, rest) = digits(fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let unsigned = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        (_, rest) = digits(unsigned)?;
    }
    let value = std::str::from_utf8(text).ok()?.parse().ok()?;
    rest.is_empty().then_some(Number::Float(value))
}

/// An integer of any length.
fn big(digits: &[u8], is_negative: bool) -> Number {
    let mut bytes: Vec<u8> = Vec::new();
    for digit in digits {
        let mut carry = u16::from(digit - b'0');
        for byte in &mut bytes {
            carry += u16::from(*byte) * 10;
            (*byte, carry) = (carry.to_le_bytes()[0], carry >> 8);
        }
        bytes.extend(carry.to_le_bytes().first().filter(|&&byte| byte > 0));
    }
    // Room for the sign.
    bytes.push(0);
    if is_negative {
        let mut carry = true;
        for byte in &mut bytes {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    Number::Big(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Option<i128> {
        match number(text.as_bytes())? {
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
            assert_eq!(matches!(number(value.to_string().as_bytes()), Some(Number::Int(_))), fits, "{value}");
        }
        assert_eq!(number(b"-0"), Some(Number::Int(0)), "as in Python");
    }

    #[test]
    fn floats_are_as_rust_reads_them() {
        for text in ["0.5", "-0.0", "1e3", "1E+3", "12.25e-2", "1e999", "0e0", "123456789012345678901.5"] {
            assert_eq!(number(text.as_bytes()), Some(Number::Float(text.parse().unwrap())), "{text}");
        }
    }

    #[test]
    fn what_json_does_not_have_is_none() {
        for text in ["", "-", "+1", "01", "-01", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "1_0", "1-", "--1", "1.5.5"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }
}
