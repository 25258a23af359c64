//! Parses a typed size, such as `80 GiB` or `300mb`, and shows what was understood.

use base::units::{Bytes, group_digits};

const UNITS: [(&str, f64); 15] = [
    ("b", 1.0),
    ("k", 1024.0),
    ("kib", 1024.0),
    ("kb", 1e3),
    ("m", 1024.0 * 1024.0),
    ("mib", 1024.0 * 1024.0),
    ("mb", 1e6),
    ("g", GIB),
    ("gib", GIB),
    ("gb", 1e9),
    ("t", GIB * 1024.0),
    ("tib", GIB * 1024.0),
    ("tb", 1e12),
    ("bytes", 1.0),
    ("byte", 1.0),
];
const GIB: f64 = (1u64 << 30) as f64;
/// Maximum accepted size, in bytes.
const MAX_BYTES: f64 = GIB * 1024.0 * 1024.0;

/// Unit of a number without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultUnit {
    Byte,
    Gib,
}

/// Parses a size in bytes. A number without a unit is in GiB. Returns `None` for empty text.
///
/// # Errors
/// Returns an error message with the expected format if the text is invalid.
pub(crate) fn parse_size(text: &str) -> Result<Option<u64>, &'static str> {
    let size = parse(text, DefaultUnit::Gib).map(|bytes| bytes.filter(|&bytes| bytes > 0));
    match size {
        Some(None) if !text.trim().is_empty() => None,
        size => size,
    }
    .ok_or("Expected a size such as 80 GiB or 80 GB.")
}

/// Parses a size in bytes. Returns `None` for invalid text, and `Some(None)` for empty text.
pub(crate) fn parse(text: &str, default: DefaultUnit) -> Option<Option<u64>> {
    // Sizes that were copied from the page contain thousands separators and no-break spaces.
    let text = text.trim().replace([',', '\u{a0}'], "");
    if text.is_empty() {
        return Some(None);
    }
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match (unit, default) {
        ("", DefaultUnit::Byte) => 1.0,
        ("", DefaultUnit::Gib) => GIB,
        _ => UNITS.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name))?.1,
    };
    let bytes = unit * number.trim().parse::<f64>().ok()?;
    (0.0..=MAX_BYTES).contains(&bytes).then_some(Some(bytes as u64))
}

/// Returns the exact size that a typed text stands for: `314,572,800 B`. Empty for empty and for invalid text.
pub fn understood(text: &str, default: DefaultUnit) -> String {
    parse(text, default).flatten().map_or_else(String::new, exact)
}

/// Formats a size so that it can be typed: in three significant digits if these are exact, otherwise in bytes.
pub(crate) fn typed(bytes: u64) -> String {
    let short = Bytes(bytes).to_string();
    if parse(&short, DefaultUnit::Byte) == Some(Some(bytes)) { short } else { exact(bytes) }
}

fn exact(bytes: u64) -> String {
    group_digits(bytes) + " B"
}

/// Returns the text with its first letter in upper case.
pub(crate) fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
#[path = "../../../tests/units/ui/size_text.rs"]
mod tests;
