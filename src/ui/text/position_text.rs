//! Parses a typed position: an event, a time since the first event, or a word.

/// A parsed position. The worker finds its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The moment after the event with this index.
    Event(u64),
    /// Time in microseconds after the first event.
    Time(u64),
    /// The moment of the device's peak of requested bytes.
    Peak,
    /// The moment of the device's peak of reserved bytes.
    ReservedPeak,
    /// The moment after the last out-of-memory event.
    OutOfMemory,
    /// The moment after the last event.
    End,
}

/// Error message for invalid text. It lists the accepted forms.
pub const EXPECTED_FORMS: &str =
    "An event (126670), a time since the first (1.25 s, 350 ms), peak, reserved-peak, oom or end.";

/// Parses a typed position. `None` if the text is invalid or a number does not fit into 64 bits.
pub fn parse_position(text: &str) -> Option<Position> {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "peak" => return Some(Position::Peak),
        "reserved-peak" => return Some(Position::ReservedPeak),
        "oom" => return Some(Position::OutOfMemory),
        "end" => return Some(Position::End),
        _ => {}
    }
    // The page formats thousands with commas and times with a plus, so both are accepted.
    let text = text.strip_prefix('+').unwrap_or(text).trim_start();
    let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_'))).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let whole: u64 = whole.parse().ok()?;
    let unit_us = match unit.trim() {
        "" if !number.contains('.') => return Some(Position::Event(whole)),
        "s" => 1_000_000,
        "ms" => 1000,
        "us" | "µs" | "μs" => 1,
        _ => return None,
    };
    let mut us = whole.checked_mul(unit_us)?;
    let mut part = unit_us;
    for digit in fraction.chars() {
        part /= 10;
        us = us.checked_add(part * u64::from(digit.to_digit(10)?))?;
    }
    Some(Position::Time(us))
}

#[cfg(test)]
#[path = "../../../tests/units/ui/typed_moment.rs"]
mod tests;
