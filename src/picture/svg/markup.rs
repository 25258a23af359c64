//! Tags, attributes, numbers and escaped text. Whatever a file calls its frames, it stays text.

use std::fmt;

/// What writes markup.
pub(super) struct Markup<'a> {
    out: &'a mut dyn fmt::Write,
}

impl<'a> Markup<'a> {
    /// Markup into `out`.
    pub(super) fn new(out: &'a mut dyn fmt::Write) -> Markup<'a> {
        Markup { out }
    }

    /// Text that is markup already.
    pub(super) fn raw(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    /// The beginning of a tag; its attributes follow.
    pub(super) fn open(&mut self, tag: &str) -> fmt::Result {
        self.raw("<")?;
        self.raw(tag)
    }

    /// The end of a tag whose element goes on.
    pub(super) fn end_of_tag(&mut self) -> fmt::Result {
        self.raw(">")
    }

    /// The end of a tag, and of its element.
    pub(super) fn end_of_element(&mut self) -> fmt::Result {
        self.raw("/>\n")
    }

    /// The end of an element.
    pub(super) fn close(&mut self, tag: &str) -> fmt::Result {
        self.raw("</")?;
        self.raw(tag)?;
        self.raw(">\n")
    }

    /// An attribute.
    pub(super) fn attribute(&mut self, name: &str, value: &str) -> fmt::Result {
        self.begin(name)?;
        self.text(value)?;
        self.raw("\"")
    }

    /// An attribute that is a number.
    pub(super) fn number(&mut self, name: &str, value: f64) -> fmt::Result {
        self.numbers(name, &[value])
    }

    /// An attribute that is several.
    pub(super) fn numbers(&mut self, name: &str, values: &[f64]) -> fmt::Result {
        self.begin(name)?;
        self.list(values)?;
        self.raw("\"")
    }

    /// An attribute whose value follows, up to a quote.
    pub(super) fn begin(&mut self, name: &str) -> fmt::Result {
        self.raw(" ")?;
        self.raw(name)?;
        self.raw("=\"")
    }

    /// Numbers with spaces between them.
    pub(super) fn list(&mut self, values: &[f64]) -> fmt::Result {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.raw(" ")?;
            }
            // Hundredths of a pixel are enough for everybody.
            let hundredths = (value * 100.0).round() as i64;
            if hundredths < 0 {
                self.raw("-")?;
            }
            self.integer((hundredths.unsigned_abs() / 100) as i64)?;
            let rest = hundredths.unsigned_abs() % 100;
            if rest > 0 {
                self.raw(if rest < 10 { ".0" } else { "." })?;
                self.integer(if rest.is_multiple_of(10) { rest / 10 } else { rest } as i64)?;
            }
        }
        Ok(())
    }

    /// A whole number.
    pub(super) fn integer(&mut self, value: i64) -> fmt::Result {
        write!(self.out, "{value}")
    }

    /// Text from anywhere. Characters that XML can't hold, and those that would turn the direction of what follows, are replaced.
    pub(super) fn text(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            match letter {
                '&' => self.raw("&amp;")?,
                '<' => self.raw("&lt;")?,
                '>' => self.raw("&gt;")?,
                '"' => self.raw("&quot;")?,
                '\t' | '\n' | '\r' => self.raw(" ")?,
                '\0'..='\u{1f}'
                | '\u{7f}'..='\u{9f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{fffe}'
                | '\u{ffff}' => self.raw("\u{fffd}")?,
                letter => self.out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// A colour without its opacity: `#1f62c9`.
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
