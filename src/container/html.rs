//! The pages that `trace_plot` and `segment_plot` of PyTorch write: a snapshot as base64 in a script.
//!
//! ```text
//!   <script type="module"> … const local_files = [{"name": "snapshot.pickle", "base64": "gASV…"}] … </script>
//! ```

use super::layer::{Fault, Unpacker};

/// What stands before the snapshot, blanks apart.
const KEY: &[u8] = b"\"base64\"";

/// Where in the page we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Looking for the key, of which so many bytes are matched.
    Search(usize),
    /// Behind the key: a colon and the opening quote.
    Colon,
    Quote,
    Data,
    /// Behind the closing quote.
    Done,
}

pub(super) struct Html {
    part: Part,
    /// Digits of base64 that are not three bytes yet, the last lowest, and how many they are.
    digits: u32,
    count: u32,
}

impl Html {
    pub(super) fn new() -> Html {
        Html { part: Part::Search(0), digits: 0, count: 0 }
    }

    /// A byte around the data.
    fn byte(&mut self, byte: u8) {
        self.part = match self.part {
            Part::Search(matched) if KEY.get(matched) == Some(&byte) => match matched + 1 {
                whole if whole == KEY.len() => Part::Colon,
                part => Part::Search(part),
            },
            Part::Colon | Part::Quote if byte.is_ascii_whitespace() => self.part,
            Part::Colon if byte == b':' => Part::Quote,
            Part::Quote if byte == b'"' => Part::Data,
            // The key begins with the only quotes that it has but for its last byte.
            _ => Part::Search(usize::from(byte == b'"')),
        }
    }

    /// A digit of the data, or its end.
    fn digit(&mut self, byte: u8, output: &mut Vec<u8>) -> Result<(), Fault> {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            // It ends with padding or with the closing quote; one digit too many is no byte.
            b'=' | b'"' if self.count != 1 => {
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
        for (at, &byte) in input.iter().enumerate() {
            match self.part {
                Part::Data if output.capacity() - output.len() < 3 => return Ok(at),
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
            Part::Data => Err(Fault::Cut),
            // PyTorch 2.0's pages hold what their plot needs, and no snapshot.
            _ => Err(Fault::Foreign("an HTML page without a snapshot in it (PyTorch's have one since 2.1)")),
        }
    }
}
