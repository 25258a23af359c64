//! Values → a pickle of protocol 4, as CPython writes it: what repeats is remembered, lists come in batches.
//!
//! Protocol 4, since older pages of PyTorch's viewer refuse 5; and batches of a thousand, since JavaScript takes no more arguments at once.

use std::io::{self, Write};

/// Elements of a list that are appended at once.
const BATCH: usize = 1000;

/// A pickle on its way.
pub struct PickleWriter<W> {
    out: W,
    /// Values that were remembered.
    remembered: u32,
    keys: Vec<(&'static str, u32)>,
}

/// A list on its way: how many elements it has.
#[derive(Default)]
pub struct Items(usize);

impl<W: Write> PickleWriter<W> {
    /// Begins.
    ///
    /// # Errors
    /// The system's, here and below.
    pub fn new(mut out: W) -> io::Result<PickleWriter<W>> {
        out.write_all(&[0x80, 4])?;
        Ok(PickleWriter { out, remembered: 0, keys: Vec::new() })
    }

    /// Ends, after one value.
    ///
    /// # Errors
    /// The system's.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b".")?;
        Ok(self.out)
    }

    /// `True` or `False`.
    ///
    /// # Errors
    /// The system's.
    pub fn bool(&mut self, value: bool) -> io::Result<()> {
        self.out.write_all(&[if value { 0x88 } else { 0x89 }])
    }

    /// An integer.
    ///
    /// # Errors
    /// The system's.
    pub fn int(&mut self, value: i128) -> io::Result<()> {
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
        // As few bytes as hold it with its sign.
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

    /// A float.
    ///
    /// # Errors
    /// The system's.
    pub fn float(&mut self, value: f64) -> io::Result<()> {
        self.out.write_all(b"G")?;
        self.out.write_all(&value.to_be_bytes())
    }

    /// A text. What is not UTF-8 is made so: Python reads nothing else.
    ///
    /// # Errors
    /// The system's.
    pub fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        match u8::try_from(text.len()) {
            Ok(length) => self.out.write_all(&[0x8c, length])?,
            Err(_) => {
                self.out.write_all(b"X")?;
                let length = u32::try_from(text.len()).map_err(|_| io::Error::other("a text of more than 4 GiB"))?;
                self.out.write_all(&length.to_le_bytes())?;
            }
        }
        self.out.write_all(text.as_bytes())
    }

    /// A key, written out once.
    ///
    /// # Errors
    /// The system's.
    pub fn key(&mut self, key: &'static str) -> io::Result<()> {
        if let Some(&(_, number)) = self.keys.iter().find(|(known, _)| *known == key) {
            return self.again(number);
        }
        self.text(key.as_bytes())?;
        let number = self.remember()?;
        self.keys.push((key, number));
        Ok(())
    }

    /// Remembers the value that was written last; its number.
    ///
    /// # Errors
    /// The system's.
    pub fn remember(&mut self) -> io::Result<u32> {
        self.out.write_all(&[0x94])?;
        self.remembered += 1;
        Ok(self.remembered - 1)
    }

    /// A value that was remembered.
    ///
    /// # Errors
    /// The system's.
    pub fn again(&mut self, number: u32) -> io::Result<()> {
        match u8::try_from(number) {
            Ok(byte) => self.out.write_all(&[b'h', byte]),
            Err(_) => {
                self.out.write_all(b"j")?;
                self.out.write_all(&number.to_le_bytes())
            }
        }
    }

    /// Begins a dict: keys and values follow, and [`PickleWriter::end_dict`].
    ///
    /// # Errors
    /// The system's.
    pub fn dict(&mut self) -> io::Result<()> {
        self.out.write_all(b"}(")
    }

    /// Ends a dict, of at most some hundred keys.
    ///
    /// # Errors
    /// The system's.
    pub fn end_dict(&mut self) -> io::Result<()> {
        self.out.write_all(b"u")
    }

    /// Makes a tuple of the two values that were written last.
    ///
    /// # Errors
    /// The system's.
    pub fn pair(&mut self) -> io::Result<()> {
        self.out.write_all(&[0x86])
    }

    /// Begins a list.
    ///
    /// # Errors
    /// The system's.
    pub fn list(&mut self) -> io::Result<Items> {
        self.out.write_all(b"]")?;
        Ok(Items::default())
    }

    /// Another element of a list follows.
    ///
    /// # Errors
    /// The system's.
    pub fn item(&mut self, items: &mut Items) -> io::Result<()> {
        if items.0.is_multiple_of(BATCH) {
            self.out.write_all(if items.0 > 0 { b"e(" } else { b"(" })?;
        }
        items.0 += 1;
        Ok(())
    }

    /// Ends a list.
    ///
    /// # Errors
    /// The system's.
    pub fn end_list(&mut self, items: Items) -> io::Result<()> {
        self.out.write_all(if items.0 > 0 { b"e" } else { b"" })
    }
}
