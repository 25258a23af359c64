//! Pickle writer. Like CPython's pickler, it memoizes repeated values and writes lists in batches.
//!
//! The default is protocol 4, because older versions of PyTorch's viewer reject protocol 5. Batches have a thousand
//! elements, because the viewer passes a batch as arguments to a JavaScript function, which can take only a limited
//! number.

use super::{Items, ValueWriter};
use std::io::{self, Write};

/// Number of list elements per batch.
const BATCH: usize = 1000;

/// Writer of one pickle.
pub struct PickleWriter<W> {
    out: W,
    /// Pickle protocol, 2 to 5.
    protocol: u8,
    /// Number of values in the memo.
    memoized: u32,
    /// Keys written so far, with their indices in the memo.
    keys: Vec<(&'static str, u32)>,
}

impl<W: Write> PickleWriter<W> {
    /// Creates a writer. `protocol` is the pickle protocol and is clamped to 2 to 5.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new(mut out: W, protocol: u8) -> io::Result<PickleWriter<W>> {
        let protocol = protocol.clamp(2, 5);
        out.write_all(&[0x80, protocol])?;
        Ok(PickleWriter { out, protocol, memoized: 0, keys: Vec::new() })
    }

    /// Writes an index with the opcode `short` if it fits into one byte, otherwise with the opcode `long` and four
    /// bytes.
    fn write_indexed(&mut self, [short, long]: [u8; 2], number: u32) -> io::Result<()> {
        match u8::try_from(number) {
            Ok(byte) => self.out.write_all(&[short, byte]),
            Err(_) => {
                self.out.write_all(&[long])?;
                self.out.write_all(&number.to_le_bytes())
            }
        }
    }

    fn write_put(&mut self) -> io::Result<u32> {
        let number = self.memoized;
        match self.protocol {
            4.. => self.out.write_all(&[0x94])?,
            _ => self.write_indexed([b'q', b'r'], number)?,
        }
        self.memoized += 1;
        Ok(number)
    }
}

impl<W: Write> ValueWriter for PickleWriter<W> {
    fn bool(&mut self, value: bool) -> io::Result<()> {
        self.out.write_all(&[if value { 0x88 } else { 0x89 }])
    }

    fn int(&mut self, value: i128) -> io::Result<()> {
        if let Ok(byte) = u8::try_from(value) {
            return self.out.write_all(&[b'K', byte]);
        }
        if let Ok(short) = u16::try_from(value) {
            self.out.write_all(b"M")?;
            return self.out.write_all(&short.to_le_bytes());
        }
        if let Ok(word) = i32::try_from(value) {
            self.out.write_all(b"J")?;
            return self.out.write_all(&word.to_le_bytes());
        }
        // Use the shortest two's complement.
        let bytes = value.to_le_bytes();
        let sign = if value < 0 { 0xff } else { 0 };
        let mut count = bytes.len();
        while let [.., before, last] = bytes.get(..count).unwrap_or_default() {
            if *last != sign || (*before ^ sign) & 0x80 != 0 {
                break;
            }
            count -= 1;
        }
        self.out.write_all(&[0x8a, count as u8])?;
        self.out.write_all(bytes.get(..count).unwrap_or_default())
    }

    fn float(&mut self, value: f64) -> io::Result<()> {
        self.out.write_all(b"G")?;
        self.out.write_all(&value.to_be_bytes())
    }

    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        match u8::try_from(text.len()) {
            Ok(length) if self.protocol >= 4 => self.out.write_all(&[0x8c, length])?,
            _ => {
                self.out.write_all(b"X")?;
                let length = u32::try_from(text.len()).map_err(|_| io::Error::other("a text of more than 4 GiB"))?;
                self.out.write_all(&length.to_le_bytes())?;
            }
        }
        self.out.write_all(text.as_bytes())
    }

    /// Writes the string on first use, and a reference to it on later uses.
    fn key(&mut self, key: &'static str) -> io::Result<()> {
        if let Some(&(_, number)) = self.keys.iter().find(|(known, _)| *known == key) {
            return self.reference(number);
        }
        self.text(key.as_bytes())?;
        let number = self.write_put()?;
        self.keys.push((key, number));
        Ok(())
    }

    fn memoize(&mut self) -> io::Result<Option<u32>> {
        self.write_put().map(Some)
    }

    fn reference(&mut self, number: u32) -> io::Result<()> {
        self.write_indexed([b'h', b'j'], number)
    }

    fn pair(&mut self, first: i128, second: i128) -> io::Result<()> {
        self.int(first)?;
        self.int(second)?;
        self.out.write_all(&[0x86])
    }

    fn dict(&mut self) -> io::Result<()> {
        self.out.write_all(b"}(")
    }

    fn end_dict(&mut self) -> io::Result<()> {
        self.out.write_all(b"u")
    }

    fn list(&mut self) -> io::Result<Items> {
        self.out.write_all(b"]")?;
        Ok(Items::default())
    }

    fn item(&mut self, items: &mut Items) -> io::Result<()> {
        if items.0.is_multiple_of(BATCH) {
            self.out.write_all(if items.0 > 0 { b"e(" } else { b"(" })?;
        }
        items.0 += 1;
        Ok(())
    }

    fn end_list(&mut self, items: Items) -> io::Result<()> {
        self.out.write_all(if items.0 > 0 { b"e" } else { b"" })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(b".")?;
        self.out.flush()
    }
}
