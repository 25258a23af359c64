//! Streaming JSON writer. Escapes only strings.

use base::escape::Json;
use std::io::{self, Write};

/// Writes a JSON string, including quotes.
pub(crate) fn text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    write!(out, "{}", Json(text))
}

/// Writes a JSON array. `each` writes one element.
pub(crate) fn list<T>(
    out: &mut dyn Write,
    values: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        each(out, value)?;
    }
    out.write_all(b"]")
}

/// Writes a JSON array of numbers.
pub(crate) fn numbers<T: std::fmt::Display>(
    out: &mut dyn Write,
    values: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    list(out, values, |out, value| write!(out, "{value}"))
}

#[cfg(test)]
#[path = "../../tests/units/exports/json.rs"]
mod tests;
