//! Escapes text in HTML, XML and JSON.

use std::fmt::{self, Display, Formatter, Write};

/// Text as the content of an HTML or XML element, or of a quoted attribute.
pub struct Html<'a>(pub &'a str);

impl Display for Html<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '&' => out.write_str("&amp;"),
            '<' => out.write_str("&lt;"),
            '>' => out.write_str("&gt;"),
            '"' => out.write_str("&quot;"),
            letter => out.write_char(letter),
        })
    }
}

/// Text as a JSON string, including the quotes.
pub struct Json<'a>(pub &'a str);

impl Display for Json<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let part = |from, to| self.0.get(from..to).unwrap_or_default();
        out.write_char('"')?;
        let mut from = 0;
        for (at, byte) in self.0.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
            out.write_str(part(from, at))?;
            match byte {
                b'\n' => out.write_str("\\n")?,
                b'"' | b'\\' => write!(out, "\\{}", char::from(byte))?,
                _ => write!(out, "\\u{byte:04x}")?,
            }
            from = at + 1;
        }
        out.write_str(part(from, self.0.len()))?;
        out.write_char('"')
    }
}
