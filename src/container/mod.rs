//! Outer formats, told apart by content, never by name: gzip around a pickle, or the pickle itself.

use flate2::write::MultiGzDecoder;
use std::io::Write;

/// How many compressed bytes to hand over at a time: gzip packs up to about 1000 to one, and a slice must stay short.
pub const GZIP_PIECE: usize = 4 << 10;
/// How many plain bytes to hand over at a time.
pub const PLAIN_PIECE: usize = 64 << 10;

/// How many times its size a gzip stream may unpack to. Real snapshots: up to 40; deflate can do 1000.
pub const MOST_INFLATION: u64 = 200;
/// What may be unpacked whatever the ratio: small files made of one repeated event are no attack.
const UNPACKED_FREELY: u64 = 256 << 20;

/// Why the bytes can't be unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContainerError {
    /// No byte at all.
    #[error("the file is empty")]
    Empty,
    /// Something else, recognised by its first bytes.
    #[error("this is {0}, not a PyTorch memory snapshot")]
    Other(&'static str),
    /// Something else, not recognised.
    #[error("this is not a PyTorch memory snapshot: it begins with 0x{0:02x}, where a pickle begins with 0x80")]
    NotAPickle(u8),
    /// gzip's checks failed.
    #[error("the gzip stream is damaged near byte {0}")]
    Gzip(u64),
    /// The file ends inside the gzip stream.
    #[error("the file ends inside its gzip stream, after {0} bytes")]
    GzipCut(u64),
    /// It is made to fill the memory.
    #[error("{0} bytes of gzip unpack to more than {MOST_INFLATION} times as many: no snapshot does")]
    GzipBomb(u64),
}

/// Unpacks a file as it arrives.
pub struct Container {
    layer: Layer,
    /// First bytes of the file, then of what is inside, until there are enough to tell what they are.
    head: Vec<u8>,
    read: u64,
    inflated: u64,
    checked: bool,
}

enum Layer {
    Unknown,
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

/// Enough bytes for every magic number.
const HEAD: usize = 8;

/// What people drop by mistake, by its first bytes.
const OTHERS: [(&[u8], &str); 12] = [
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "an ELF program"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd stream"),
    (b"SQLite f", "an SQLite database"),
    (b"<!", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"{", "JSON"),
    (b"[", "JSON"),
];

impl Default for Container {
    fn default() -> Self {
        Container { layer: Layer::Unknown, head: Vec::new(), read: 0, inflated: 0, checked: false }
    }
}

impl Container {
    /// How many bytes to hand over at a time.
    pub fn piece(&self) -> usize {
        match self.layer {
            Layer::Plain => PLAIN_PIECE,
            _ => GZIP_PIECE,
        }
    }

    /// Unpacks the next bytes of the file. What comes back is valid until the next call, and may be empty.
    ///
    /// # Errors
    /// The stream is damaged, or what is inside is no pickle.
    pub fn unpack<'a>(&'a mut self, bytes: &'a [u8]) -> Result<&'a [u8], ContainerError> {
        self.read += bytes.len() as u64;
        if matches!(self.layer, Layer::Unknown) {
            self.head.extend_from_slice(bytes);
            if self.head.len() < 2 {
                return Ok(&[]);
            }
            let first = std::mem::take(&mut self.head);
            if !first.starts_with(&[0x1f, 0x8b]) {
                self.layer = Layer::Plain;
                self.head = first;
                self.checked = check(&self.head)?;
                return Ok(&self.head);
            }
            self.layer = Layer::Gzip(Box::new(MultiGzDecoder::new(Vec::new())));
            return self.inflate(&first);
        }
        match self.layer {
            Layer::Gzip(_) => self.inflate(bytes),
            _ => Ok(bytes),
        }
    }

    fn inflate(&mut self, bytes: &[u8]) -> Result<&[u8], ContainerError> {
        let Layer::Gzip(decoder) = &mut self.layer else { return Ok(&[]) };
        decoder.get_mut().clear();
        let written = decoder.write_all(bytes).and_then(|()| decoder.flush());
        written.map_err(|_| ContainerError::Gzip(self.read))?;
        let unpacked = decoder.get_ref();
        self.inflated += unpacked.len() as u64;
        if self.inflated > self.read.saturating_mul(MOST_INFLATION).max(UNPACKED_FREELY) {
            return Err(ContainerError::GzipBomb(self.read));
        }
        if !self.checked && !unpacked.is_empty() {
            self.checked = check(unpacked)?;
        }
        Ok(unpacked)
    }

    /// The file ends here: what is left, if anything.
    ///
    /// # Errors
    /// It was empty, or ends too soon.
    pub fn finish(&mut self) -> Result<Vec<u8>, ContainerError> {
        match &mut self.layer {
            Layer::Unknown if self.read == 0 => Err(ContainerError::Empty),
            Layer::Unknown => {
                let rest = std::mem::take(&mut self.head);
                check(&rest)?;
                Ok(rest)
            }
            Layer::Plain => Ok(Vec::new()),
            Layer::Gzip(decoder) => {
                decoder.get_mut().clear();
                decoder.try_finish().map_err(|_| ContainerError::GzipCut(self.read))?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }

    /// The layers unpacked, outermost first: `gzip`, or nothing.
    pub fn layers(&self) -> &'static [&'static str] {
        match self.layer {
            Layer::Gzip(_) => &["gzip"],
            _ => &[],
        }
    }
}

/// Whether this can be the beginning of a pickle of protocol 2 or later.
fn check(first: &[u8]) -> Result<bool, ContainerError> {
    if first.first() == Some(&0x80) || first.is_empty() {
        return Ok(!first.is_empty());
    }
    let head = first.get(..HEAD.min(first.len())).unwrap_or_default();
    let trimmed = head.trim_ascii_start();
    let other = OTHERS.iter().find(|(magic, _)| head.starts_with(magic) || trimmed.starts_with(magic));
    Err(match (other, first.first()) {
        (Some((_, noun)), _) => ContainerError::Other(noun),
        (None, byte) => ContainerError::NotAPickle(byte.copied().unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn unpack(file: &[u8], chunk: usize) -> Result<Vec<u8>, ContainerError> {
        let mut container = Container::default();
        let mut all = Vec::new();
        for piece in file.chunks(chunk) {
            all.extend_from_slice(container.unpack(piece)?);
        }
        all.extend(container.finish()?);
        Ok(all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_gzip_in_chunks_of_any_size() {
        let pickle: Vec<u8> =
            [0x80, 4].into_iter().chain((0..100_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8)).collect();
        let mut two_members = gzip(&pickle[..70_000]);
        two_members.extend(gzip(&pickle[70_000..]));
        for chunk in [1, 2, 3, 1000, 1 << 20] {
            for file in [&pickle, &gzip(&pickle), &two_members] {
                assert!(unpack(file, chunk).unwrap() == pickle, "chunks of {chunk}");
            }
        }
        assert_eq!(unpack(&[0x80], 1).unwrap(), [0x80]);
    }

    #[test]
    fn what_is_no_pickle_is_named() {
        let whole = gzip(&[0x80, 4, b'.']);
        let cases: [(&[u8], &str); 7] = [
            (b"", "the file is empty"),
            (b"\x89PNG\r\n\x1a\n", "this is a PNG image, not a PyTorch memory snapshot"),
            (&gzip(b"\x89PNG\r\n"), "this is a PNG image, not a PyTorch memory snapshot"),
            (b"  {\"segments\": []}", "this is JSON, not a PyTorch memory snapshot"),
            (b"hello", "this is not a PyTorch memory snapshot: it begins with 0x68, where a pickle begins with 0x80"),
            (&whole[..12], "the file ends inside its gzip stream, after 12 bytes"),
            (b"\x1f\x8bgarbage that is no deflate", "the gzip stream is damaged near byte 28"),
        ];
        for (file, text) in cases {
            assert_eq!(unpack(file, 1 << 20).unwrap_err().to_string(), text);
        }
    }
}
