//! Writer for XML tags, attributes, numbers and escaped text. Names from a file cannot break out of their text.

use base::escape::Html;
use std::fmt;

/// An XML writer.
pub(super) struct Markup<'a> {
    out: &'a mut dyn fmt::Write,
}

impl<'a> Markup<'a> {
    /// Creates a writer to `out`.
    pub(super) fn new(out: &'a mut dyn fmt::Write) -> Markup<'a> {
        Markup { out }
    }

    /// Writes text without escaping.
    pub(super) fn raw(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    /// Starts a tag. The caller writes its attributes and ends it.
    pub(super) fn start_tag(&mut self, tag: &str) -> fmt::Result {
        self.raw("<")?;
        self.raw(tag)
    }

    /// Ends a start tag.
    pub(super) fn finish_tag(&mut self) -> fmt::Result {
        self.raw(">")
    }

    /// Ends the tag of an element without content.
    pub(super) fn finish_element(&mut self) -> fmt::Result {
        self.raw("/>\n")
    }

    /// Writes an end tag.
    pub(super) fn end_tag(&mut self, tag: &str) -> fmt::Result {
        self.raw("</")?;
        self.raw(tag)?;
        self.raw(">\n")
    }

    /// Writes an attribute, escaped.
    pub(super) fn attribute(&mut self, name: &str, value: &str) -> fmt::Result {
        self.start_attribute(name)?;
        self.text(value)?;
        self.raw("\"")
    }

    /// Writes an attribute with one number.
    pub(super) fn number(&mut self, name: &str, value: f64) -> fmt::Result {
        self.numbers(name, &[value])
    }

    /// Writes an attribute with several numbers.
    pub(super) fn numbers(&mut self, name: &str, values: &[f64]) -> fmt::Result {
        self.start_attribute(name)?;
        self.list(values)?;
        self.raw("\"")
    }

    /// Starts an attribute. The caller writes its value and the closing quote.
    pub(super) fn start_attribute(&mut self, name: &str) -> fmt::Result {
        self.raw(" ")?;
        self.raw(name)?;
        self.raw("=\"")
    }

    /// Writes numbers separated by spaces.
    pub(super) fn list(&mut self, values: &[f64]) -> fmt::Result {
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.raw(" ")?;
            }
            // Two decimals are precise enough.
            let hundredths = (value * 100.0).round() as i64;
            if hundredths < 0 {
                self.raw("-")?;
            }
            self.integer((hundredths.unsigned_abs() / 100) as i64)?;
            let fraction = hundredths.unsigned_abs() % 100;
            if fraction > 0 {
                self.raw(if fraction < 10 { ".0" } else { "." })?;
                self.integer(if fraction.is_multiple_of(10) { fraction / 10 } else { fraction } as i64)?;
            }
        }
        Ok(())
    }

    /// Writes an integer.
    pub(super) fn integer(&mut self, value: i64) -> fmt::Result {
        write!(self.out, "{value}")
    }

    /// Writes escaped text. Characters that XML cannot contain and bidirectional control characters are replaced.
    pub(super) fn text(&mut self, text: &str) -> fmt::Result {
        let shown = |letter| match letter {
            '\t' | '\n' | '\r' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            letter if letter.is_control() => '\u{fffd}',
            letter => letter,
        };
        write!(self.out, "{}", Html(&text.chars().map(shown).collect::<String>()))
    }
}

/// Returns a colour without its opacity, such as `#1f62c9`.
pub(super) fn colour([red, green, blue, _]: [u8; 4]) -> String {
    let mut text = String::with_capacity(7);
    text.push('#');
    for channel in [red, green, blue] {
        for digit in [channel >> 4, channel & 15] {
            text.push(char::from(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }));
        }
    }
    text
}

#[cfg(test)]
#[path = "../../../tests/units/picture/svg/markup.rs"]
mod tests;
