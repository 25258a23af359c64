//! Parses a typed size, such as `80 GiB` or `80gb`. A number without a unit is in GiB.

const UNITS: [(&str, f64); 8] = [
    ("", GIB),
    ("gib", GIB),
    ("g", GIB),
    ("gb", 1e9),
    ("mib", GIB / 1024.0),
    ("mb", 1e6),
    ("tib", GIB * 1024.0),
    ("tb", 1e12),
];
const GIB: f64 = (1u64 << 30) as f64;
/// Maximum accepted size, in bytes.
const MAX_BYTES: f64 = GIB * 1024.0 * 1024.0;

/// Parses a size in bytes. Returns `None` for empty text.
///
/// # Errors
/// Returns an error message with the expected format if the text is invalid.
pub(crate) fn parse_size(text: &str) -> Result<Option<u64>, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = UNITS.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name));
    let bytes = unit.zip(number.trim().parse::<f64>().ok()).map(|((_, unit), number)| unit * number);
    let bytes = bytes.filter(|bytes| *bytes >= 1.0 && *bytes <= MAX_BYTES);
    bytes.map(|bytes| Some(bytes as u64)).ok_or("Expected a size such as 80 GiB or 80 GB.")
}

/// Returns the text with its first letter in upper case.
pub(crate) fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
