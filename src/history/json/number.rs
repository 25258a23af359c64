//! Exact parsing of JSON numbers.

/// JSON number, converted without loss of precision if it is an integer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    /// Integer outside `i64`: two's complement, least significant byte first.
    Big(Vec<u8>),
    Float(f64),
}

/// Parses a number in JSON syntax. For example, accepts `-0.5e+3`, and rejects `+1`, `01`, `.5` and `1.`.
#[inline]
pub(super) fn parse_number(text: &[u8]) -> Option<Number> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, rest) = split_digits(unsigned)?;
    if whole.len() > 1 && whole.first() == Some(&b'0') {
        return None;
    }
    if !rest.is_empty() {
        return parse_float(text, rest);
    }
    let is_negative = unsigned.len() < text.len();
    // 18 digits always fit into `i64`.
    if whole.len() > 18 {
        return std::str::from_utf8(text)
            .ok()?
            .parse()
            .map(Number::Int)
            .ok()
            .or_else(|| Some(parse_big(whole, is_negative)));
    }
    let value = whole.iter().fold(0, |value, &digit| value * 10 + i64::from(digit - b'0'));
    Some(Number::Int(if is_negative { -value } else { value }))
}

/// Splits off the leading digits. Returns `None` if there are none.
#[inline]
fn split_digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(length).filter(|_| length > 0)
}

/// Parses a number with a fraction or exponent. `rest` is the part of `text` after the integer digits.
fn parse_float(text: &[u8], rest: &[u8]) -> Option<Number> {
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix(b".") {
        (_, rest) = split_digits(fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let unsigned = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        (_, rest) = split_digits(unsigned)?;
    }
    let value = std::str::from_utf8(text).ok()?.parse().ok()?;
    rest.is_empty().then_some(Number::Float(value))
}

/// Converts the decimal digits of an integer of any length.
fn parse_big(digits: &[u8], is_negative: bool) -> Number {
    let mut bytes: Vec<u8> = Vec::new();
    for digit in digits {
        let mut carry = u16::from(digit - b'0');
        for byte in &mut bytes {
            carry += u16::from(*byte) * 10;
            (*byte, carry) = (carry.to_le_bytes()[0], carry >> 8);
        }
        bytes.extend(carry.to_le_bytes().first().filter(|&&byte| byte > 0));
    }
    // Room for the sign bit.
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
#[path = "../../../tests/units/history/json/number.rs"]
mod tests;
