//! HTML pages with a snapshot as base64 in a script: pages from PyTorch's `trace_plot` and `segment_plot`, and pages
//! that memscape exports.
//!
//! ```text
//!   <script type="module"> … const local_files = [{"name": "snapshot.pickle", "base64": "gASV…"}] … </script>
//!   <script type="application/octet-stream" id="part-snapshot" data-name="snapshot.pickle" …>H4sI…</script>
//! ```

use super::layer::{Fault, Unpacker};

/// Markers that precede the base64 data. The first is followed by a colon and a quote, with optional whitespace. The
/// second is followed by the rest of its tag. The search requires that they differ in their second bytes and contain
/// quotes only at both ends.
const KEYS: [&[u8]; 2] = [b"\"base64\"", b"\"part-snapshot\""];

/// Number of bytes at the start of a page that include its title.
const HEAD_BYTES: usize = 1024;
/// Title of the pages of torch.profiler's `export_memory_timeline_html`, which have only a picture.
const TIMELINE: &[u8] = b"Memory Timeline";

/// Part of the page that the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Searching for a marker. Holds its index in [`KEYS`] and the number of bytes matched.
    Search(usize, usize),
    /// After the first marker, before the colon.
    Colon,
    Quote,
    /// After the second marker, inside the tag that contains it.
    Tag,
    /// Inside a quoted attribute value of the second marker's tag. The value may contain `>`.
    Value,
    Data,
    Done,
}

pub(super) struct Html {
    part: Part,
    /// Base64 digits that do not form three bytes yet. The last digit is in the lowest bits.
    digits: u32,
    /// Number of digits in `digits`.
    count: u32,
    /// First bytes of the page, for errors.
    head: Vec<u8>,
}

impl Html {
    pub(super) fn new() -> Html {
        Html { part: Part::Search(0, 0), digits: 0, count: 0, head: Vec::new() }
    }

    /// Processes a byte outside the data.
    fn byte(&mut self, byte: u8) {
        self.part = match self.part {
            Part::Search(_, 1) if byte == b'p' => Part::Search(1, 2),
            Part::Search(key, matched) if KEYS.get(key).and_then(|key| key.get(matched)) == Some(&byte) => {
                let is_whole = KEYS.get(key).is_some_and(|key| key.len() == matched + 1);
                match (is_whole, key) {
                    (false, _) => Part::Search(key, matched + 1),
                    (true, 0) => Part::Colon,
                    (true, _) => Part::Tag,
                }
            }
            Part::Tag if byte == b'>' => Part::Data,
            Part::Tag if byte == b'"' => Part::Value,
            Part::Value if byte == b'"' => Part::Tag,
            Part::Tag | Part::Value => self.part,
            Part::Colon | Part::Quote if byte.is_ascii_whitespace() => self.part,
            Part::Colon if byte == b':' => Part::Quote,
            Part::Quote if byte == b'"' => Part::Data,
            _ => Part::Search(0, usize::from(byte == b'"')),
        }
    }

    /// Processes a base64 digit, or the byte that ends the data.
    fn digit(&mut self, byte: u8, output: &mut Vec<u8>) -> Result<(), Fault> {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            // The data ends with padding or with the closing quote or tag. A single leftover digit is invalid.
            b'=' | b'"' | b'<' if self.count != 1 => {
                let bytes = (self.digits << (6 * (4 - self.count) % 24)).to_be_bytes();
                output.extend(bytes.iter().skip(1).take(self.count.saturating_sub(1) as usize));
                self.part = Part::Done;
                return Ok(());
            }
            _ => return Err(Fault::Damaged),
        };
        (self.digits, self.count) = (self.digits << 6 | u32::from(value), self.count + 1);
        if self.count == 4 {
            let [_, bytes @ ..] = self.digits.to_be_bytes();
            output.extend(bytes);
            (self.digits, self.count) = (0, 0);
        }
        Ok(())
    }
}

impl Unpacker for Html {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let missing = HEAD_BYTES - self.head.len().min(HEAD_BYTES);
        self.head.extend(input.iter().take(missing));
        for (index, &byte) in input.iter().enumerate() {
            match self.part {
                Part::Data if output.capacity() - output.len() < 3 => return Ok(index),
                Part::Data => self.digit(byte, output)?,
                Part::Done => break,
                _ => self.byte(byte),
            }
        }
        Ok(input.len())
    }

    fn finish(&self) -> Result<(), Fault> {
        match self.part {
            Part::Done => Ok(()),
            Part::Data => Err(Fault::Truncated),
            _ if self.head.windows(TIMELINE.len()).any(|part| part.eq_ignore_ascii_case(TIMELINE)) => {
                Err(Fault::NotASnapshot("a picture of a memory timeline, written by torch.profiler"))
            }
            // Pages of PyTorch 2.0 hold only the data of their plot, not a snapshot.
            _ => Err(Fault::NotASnapshot("an HTML page without a snapshot (PyTorch's pages contain one since 2.1)")),
        }
    }
}
