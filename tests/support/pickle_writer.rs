//! A streaming pickle writer that imitates Python's `pickle.dump` or PyTorch's C++ pickler.
//!
//! ```
//! # use pickle_writer::*;
//! let mut writer = Writer::new(Vec::new(), Style::Cpp)?;
//! writer.list(2)?;                        // lengths are given first, so nothing is buffered
//! writer.int(1)?;
//! writer.int(2)?;
//! let list = writer.end()?;
//! let bytes = writer.finish()?;
//! # std::io::Result::Ok(())
//! ```

use std::collections::HashMap;
use std::io::{self, Write};

/// Pickler to imitate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `pickle.dump` with protocol 2 to 5: strings, lists, dicts and pairs are memoized when they start, and batches
    /// have 1000 items.
    Python { protocol: u8 },
    /// `torch::jit::Pickler` with protocol 2: equal strings are shared, containers are memoized at their end and only
    /// if they are used again, batches have any length, and integers beyond 32 bits take eight bytes.
    Cpp,
}

/// A memoized value, for [`Writer::again`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference(u32);

const BATCH: u64 = 1000;
const FRAME_BYTES: usize = 64 << 10;

/// Writes one pickle to `out`.
pub(crate) struct Writer<W> {
    out: W,
    style: Style,
    /// Contents of the next frame, in protocols 4 and 5.
    frame: Vec<u8>,
    memo: u32,
    /// Memoized strings: all of them in C++, but only dict keys and actions in Python.
    strings: HashMap<String, Reference>,
    open: Vec<Open>,
}

struct Open {
    is_dict: bool,
    reference: Option<Reference>,
    /// Values still to be written. Keys and values count as one each.
    left: u64,
    /// Values still to be written in the current batch, and whether MARK starts it. A batch of one item has no MARK.
    batch_left: u64,
    batch_is_marked: bool,
}

impl<W: Write> Writer<W> {
    /// Starts a pickle.
    pub(crate) fn new(out: W, style: Style) -> io::Result<Self> {
        let mut writer = Writer { out, style, frame: Vec::new(), memo: 0, strings: HashMap::new(), open: Vec::new() };
        let protocol = writer.protocol();
        writer.out.write_all(&[0x80, protocol])?;
        Ok(writer)
    }

    /// Ends the pickle and returns the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        assert!(self.open.is_empty(), "a container is still open");
        self.write(b".")?;
        self.end_frame()?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes `None`.
    pub(crate) fn none(&mut self) -> io::Result<()> {
        self.atom(b"N")
    }

    /// Writes `True` or `False`.
    pub(crate) fn bool(&mut self, value: bool) -> io::Result<()> {
        self.atom(if value { b"\x88" } else { b"\x89" })
    }

    pub(crate) fn float(&mut self, value: f64) -> io::Result<()> {
        let [a, b, c, d, e, f, g, h] = value.to_be_bytes();
        self.atom(&[b'G', a, b, c, d, e, f, g, h])
    }

    /// Writes an integer in the shortest form of the style.
    pub(crate) fn int(&mut self, value: i128) -> io::Result<()> {
        let bytes = value.to_le_bytes();
        match value {
            0..=0xff => self.atom(&[b'K', bytes[0]]),
            0x100..=0xffff => self.atom(&[b'M', bytes[0], bytes[1]]),
            -0x8000_0000..0 | 0x1_0000..=0x7fff_ffff => self.atom(&[b'J', bytes[0], bytes[1], bytes[2], bytes[3]]),
            _ => {
                let length = match self.style {
                    // PyTorch casts to int64, so larger numbers become negative.
                    Style::Cpp => 8,
                    Style::Python { .. } => (5..16)
                        .find(|&length| value >> (8 * length - 1) == 0 || value >> (8 * length - 1) == -1)
                        .unwrap_or(16),
                };
                let mut long = vec![0x8a, length as u8];
                long.extend_from_slice(&bytes[..length]);
                self.atom(&long)
            }
        }
    }

    /// Writes a new string object. C++ shares it with equal ones.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        match self.style {
            Style::Cpp => self.name(text),
            Style::Python { .. } => self.new_string(text).map(drop),
        }
    }

    /// Writes a string that is one object wherever it appears, such as a dict key or an action.
    pub(crate) fn name(&mut self, text: &str) -> io::Result<()> {
        if let Some(&reference) = self.strings.get(text) {
            return self.reference(reference);
        }
        let reference = self.new_string(text)?;
        self.strings.insert(text.to_owned(), reference);
        Ok(())
    }

    /// Writes a pair of small integers, such as `pool_id`.
    pub(crate) fn pair(&mut self, first: u8, second: u8) -> io::Result<()> {
        self.before_value()?;
        self.write(&[b'K', first, b'K', second, 0x86])?;
        if self.style != Style::Cpp {
            self.memoize()?;
        }
        self.after_value()
    }

    /// Writes a reference to an earlier value.
    pub(crate) fn reference(&mut self, reference: Reference) -> io::Result<()> {
        match (u8::try_from(reference.0), reference.0.to_le_bytes()) {
            (Ok(slot), _) => self.atom(&[b'h', slot]),
            (Err(_), [a, b, c, d]) => self.atom(&[b'j', a, b, c, d]),
        }
    }

    /// Starts a list of exactly `length` values.
    pub(crate) fn list(&mut self, length: u64) -> io::Result<()> {
        self.open(b"]", Open { is_dict: false, reference: None, left: length, batch_left: 0, batch_is_marked: false })
    }

    /// Starts a dict of exactly `length` pairs, written as key, value, key, value, ….
    pub(crate) fn dict(&mut self, length: u64) -> io::Result<()> {
        self.open(
            b"}",
            Open { is_dict: true, reference: None, left: 2 * length, batch_left: 0, batch_is_marked: false },
        )
    }

    /// Ends a container that is not used again.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.close().map(drop)
    }

    /// Ends a container that is used again.
    pub(crate) fn end_shared(&mut self) -> io::Result<Reference> {
        match self.close()? {
            Some(reference) => Ok(reference),
            None => self.memoize(),
        }
    }

    fn protocol(&self) -> u8 {
        match self.style {
            Style::Python { protocol } => protocol,
            Style::Cpp => 2,
        }
    }

    fn open(&mut self, opcode: &[u8], mut open: Open) -> io::Result<()> {
        self.before_value()?;
        self.write(opcode)?;
        match self.style {
            Style::Cpp => {
                self.write(b"(")?;
                (open.batch_left, open.batch_is_marked) = (open.left, true);
            }
            Style::Python { .. } => open.reference = Some(self.memoize()?),
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self) -> io::Result<Option<Reference>> {
        let open = self.open.pop().expect("a container is open");
        assert_eq!(open.left, 0, "the container lacks values");
        if self.style == Style::Cpp {
            self.write(if open.is_dict { b"u" } else { b"e" })?;
        }
        self.after_value()?;
        Ok(open.reference)
    }

    fn new_string(&mut self, text: &str) -> io::Result<Reference> {
        let length = text.len() as u32;
        let mut start = match self.protocol() {
            4.. if length < 0x100 => vec![0x8c, length as u8],
            _ => [&b"X"[..], &length.to_le_bytes()].concat(),
        };
        self.before_value()?;
        if self.protocol() >= 4 && text.len() >= FRAME_BYTES {
            // CPython writes strings that would fill a frame outside of frames.
            self.end_frame()?;
            self.out.write_all(&start)?;
            self.out.write_all(text.as_bytes())?;
        } else {
            start.extend_from_slice(text.as_bytes());
            self.write(&start)?;
        }
        let reference = self.memoize()?;
        self.after_value()?;
        Ok(reference)
    }

    fn memoize(&mut self) -> io::Result<Reference> {
        let slot = self.memo;
        self.memo += 1;
        match (self.protocol(), u8::try_from(slot), slot.to_le_bytes()) {
            (4.., ..) => self.write(b"\x94")?,
            (_, Ok(slot), _) => self.write(&[b'q', slot])?,
            (_, Err(_), [a, b, c, d]) => self.write(&[b'r', a, b, c, d])?,
        }
        Ok(Reference(slot))
    }

    /// Writes a value without contents.
    fn atom(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.before_value()?;
        self.write(bytes)?;
        self.after_value()
    }

    fn before_value(&mut self) -> io::Result<()> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        assert!(open.left > 0, "the container has all its values");
        if open.batch_left == 0 {
            let width = if open.is_dict { 2 } else { 1 };
            open.batch_left = open.left.min(BATCH * width);
            open.batch_is_marked = open.batch_left > width;
            if open.batch_is_marked {
                return self.write(b"(");
            }
        }
        Ok(())
    }

    fn after_value(&mut self) -> io::Result<()> {
        let style = self.style;
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.left -= 1;
        open.batch_left -= 1;
        if open.batch_left == 0 && style != Style::Cpp {
            let end = match (open.is_dict, open.batch_is_marked) {
                (false, false) => b"a",
                (false, true) => b"e",
                (true, false) => b"s",
                (true, true) => b"u",
            };
            return self.write(end);
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.protocol() < 4 {
            return self.out.write_all(bytes);
        }
        self.frame.extend_from_slice(bytes);
        if self.frame.len() >= FRAME_BYTES { self.end_frame() } else { Ok(()) }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        // CPython has no frames shorter than this.
        if self.frame.len() >= 4 {
            self.out.write_all(&[0x95])?;
            self.out.write_all(&(self.frame.len() as u64).to_le_bytes())?;
        }
        self.out.write_all(&self.frame)?;
        self.frame.clear();
        Ok(())
    }
}
