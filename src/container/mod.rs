//! Outer formats, told apart by content, never by name: layers of packing, one inside the other, around what the file is.
//!
//! ```text
//!   chunks of the file ─▶ [gzip] ─▶ … ─▶ pickle
//!                   buffer 0    buffer 1  …  the last one's bytes are what pull() hands out
//! ```
//!
//! Whoever reads pulls: [`Container::pull`] does a bounded piece of work and hands out a bounded number of bytes, however much a
//! few packed ones unpack to.

mod buffer;
mod error;
mod gzip;
mod layer;
mod sniff;
pub mod zip;

pub use error::ContainerError;
pub use sniff::Content;

use buffer::Buffer;
use layer::{Fault, Unpacker};
use sniff::{BYTE_ORDER_MARK, Sniffed, sniff, sniff_all};

/// How many bytes are handed out at a time, at most: well under a millisecond of decoding.
pub const PIECE: usize = 64 << 10;

/// How many packed bytes a layer is given at a time: the smallest gzip member is 20 bytes, and each has its own cost.
const PACKED_PIECE: usize = 16 << 10;

/// How many times its size a file may unpack to. Real snapshots: up to 40; deflate can do 1000.
pub const MOST_INFLATION: u64 = 200;
/// What may be unpacked whatever the ratio: small files made of one repeated event are no attack.
const UNPACKED_FREELY: u64 = 256 << 20;

/// Layers of packing. Two are seen (a .gz compressed again on its way); each costs a window of memory.
const MOST_LAYERS: usize = 4;

/// Unpacks a file as it arrives.
#[derive(Default)]
pub struct Container {
    file: Buffer,
    /// Bytes of the file fed, and whether that was all.
    fed: u64,
    ended: bool,
    /// Outermost first.
    layers: Vec<Layer>,
    content: Option<Content>,
}

struct Layer {
    /// In messages and in the summary.
    name: &'static str,
    unpacker: Box<dyn Unpacker>,
    output: Buffer,
    written: u64,
}

/// How a buffer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// There may be more in it than before.
    Worked,
    /// It has all it can have until the file goes on.
    Starved,
    /// It has all it will ever have.
    Ended,
}

impl Container {
    /// Unpacks a member of a zip archive; what is fed is its packed bytes.
    ///
    /// # Errors
    /// It is packed in a way we can't undo.
    pub fn of_member(entry: &zip::Entry) -> Result<Container, zip::ZipError> {
        let layer = Layer { name: "zip", unpacker: entry.unpacker()?, output: Buffer::default(), written: 0 };
        Ok(Container { layers: vec![layer], ..Container::default() })
    }

    /// Takes the next bytes of the file. Call it when [`Container::pull`] says `None`, so that they are not copied.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        self.fed += chunk.len() as u64;
        self.file.add(chunk);
    }

    /// All bytes were fed.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Bytes of the file that were taken.
    pub fn read(&self) -> u64 {
        self.fed - self.file.rest().len() as u64
    }

    /// What is inside all layers: known before [`Container::pull`] hands out a byte.
    pub fn content(&self) -> Option<Content> {
        self.content
    }

    /// The layers unpacked, outermost first: `gzip`, or nothing.
    pub fn layers(&self) -> impl Iterator<Item = &'static str> {
        self.layers.iter().map(|layer| layer.name)
    }

    /// Bytes on the heap: the chunk of the file and what each layer has unpacked.
    pub fn heap_bytes(&self) -> usize {
        self.file.heap_bytes() + self.layers.iter().map(|layer| layer.output.heap_bytes()).sum::<usize>()
    }

    /// The next unpacked bytes, at most [`PIECE`], perhaps none for now; `None` when the file must go on first, or is over.
    ///
    /// # Errors
    /// A layer is damaged or ends too soon, or what is inside is no snapshot.
    pub fn pull(&mut self) -> Result<Option<&[u8]>, ContainerError> {
        let depth = self.layers.len();
        if self.content.is_none() {
            let mut sniffed = sniff(self.buffer(depth).rest());
            if sniffed == Sniffed::Unsure {
                match self.fill(depth)? {
                    Flow::Worked => return Ok(Some(&[])),
                    Flow::Starved => return Ok(None),
                    Flow::Ended => sniffed = sniff_all(self.buffer(depth).rest()),
                }
            }
            match sniffed {
                Sniffed::Unsure => {
                    let layer = self.layers.last().map(|layer| layer.name);
                    return Err(layer.map_or(ContainerError::Empty, ContainerError::Hollow));
                }
                Sniffed::Packed(_) if depth >= MOST_LAYERS => return Err(ContainerError::TooManyLayers(MOST_LAYERS)),
                Sniffed::Packed(packing) => {
                    let (name, unpacker) = (packing.name(), packing.unpacker());
                    self.layers.push(Layer { name, unpacker, output: Buffer::default(), written: 0 });
                    return Ok(Some(&[]));
                }
                Sniffed::Content(content) => {
                    self.content = Some(content);
                    let content = self.buffer_mut(depth);
                    if content.rest().starts_with(BYTE_ORDER_MARK) {
                        content.take(BYTE_ORDER_MARK.len());
                    }
                    return Ok(Some(&[]));
                }
                Sniffed::Other(noun) => return Err(ContainerError::Other(noun)),
                Sniffed::Unknown(byte) => return Err(ContainerError::NotAPickle(byte)),
            }
        }
        if self.buffer(depth).rest().is_empty() && self.fill(depth)? != Flow::Worked {
            return Ok(None);
        }
        Ok(Some(self.buffer_mut(depth).take_piece()))
    }

    /// What `depth` layers have unpacked.
    fn buffer(&self, depth: usize) -> &Buffer {
        let layer = depth.checked_sub(1).and_then(|at| self.layers.get(at));
        layer.map_or(&self.file, |layer| &layer.output)
    }

    fn buffer_mut(&mut self, depth: usize) -> &mut Buffer {
        let layer = depth.checked_sub(1).and_then(|at| self.layers.get_mut(at));
        layer.map_or(&mut self.file, |layer| &mut layer.output)
    }

    /// Has the innermost of `depth` layers unpack a little more.
    fn fill(&mut self, depth: usize) -> Result<Flow, ContainerError> {
        let Some(above) = depth.checked_sub(1) else {
            return Ok(if self.ended { Flow::Ended } else { Flow::Starved });
        };
        let source = if self.buffer(above).rest().is_empty() { self.fill(above)? } else { Flow::Worked };
        if source == Flow::Starved {
            return Ok(Flow::Starved);
        }
        let byte = self.fed.min(self.read().saturating_add(PACKED_PIECE as u64));
        let (outer, inner) = self.layers.split_at_mut(above);
        let Some(layer) = inner.first_mut() else { return Ok(Flow::Ended) };
        let input = outer.last_mut().map_or(&mut self.file, |outer| &mut outer.output);
        let piece = input.rest();
        let piece = piece.get(..PACKED_PIECE).unwrap_or(piece);
        let (output, is_last) = (layer.output.room(), source == Flow::Ended && piece.is_empty());
        let held = output.len();
        let name = layer.name;
        let unpacked = layer.unpacker.unpack(piece, output).and_then(|took| {
            let written = output.len() - held;
            if is_last && written == 0 {
                layer.unpacker.finish()?;
            }
            Ok((took, written))
        });
        let (took, written) = unpacked.map_err(|fault| match fault {
            Fault::Damaged => ContainerError::Damaged { layer: name, byte },
            Fault::Cut => ContainerError::Cut { layer: name, byte },
        })?;
        input.take(took);
        layer.written += written as u64;
        if layer.written > byte.saturating_mul(MOST_INFLATION).max(UNPACKED_FREELY) {
            return Err(ContainerError::Bomb { layer: name, byte });
        }
        Ok(if is_last && written == 0 { Flow::Ended } else { Flow::Worked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn unpack(file: &[u8], chunk: usize) -> Result<Vec<u8>, ContainerError> {
        let mut container = Container::default();
        let mut all = Vec::new();
        for piece in file.chunks(chunk) {
            container.feed(piece.to_vec());
            while let Some(bytes) = container.pull()? {
                assert!(bytes.len() <= PIECE);
                all.extend_from_slice(bytes);
            }
        }
        container.end();
        while let Some(bytes) = container.pull()? {
            all.extend_from_slice(bytes);
        }
        assert_eq!(container.read(), file.len() as u64);
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
            for file in [&pickle, &gzip(&pickle), &two_members, &gzip(&gzip(&two_members))] {
                assert!(unpack(file, chunk).unwrap() == pickle, "chunks of {chunk}");
            }
        }
        assert_eq!(unpack(&[0x80], 1).unwrap(), [0x80]);
    }

    #[test]
    fn a_header_may_have_every_field() {
        let pickle = [0x80, 4, b'N', b'.'];
        let plain = gzip(&pickle);
        let mut full = vec![0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 3];
        full.extend(*b"\x02\x00exname\0a comment\0hc");
        full.extend(&plain[10..]);
        let mut with_empty_extra = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 0, 0];
        with_empty_extra.extend(&plain[10..]);
        for chunk in [1, 7, 100] {
            assert_eq!(unpack(&full, chunk).unwrap(), pickle);
            assert_eq!(unpack(&with_empty_extra, chunk).unwrap(), pickle);
        }
    }

    #[test]
    fn what_follows_the_last_member_is_ignored() {
        let pickle = [0x80, 4, b'N', b'.'];
        for garbage in [&[0; 512][..], b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08\xff", b"hello", b"\n"] {
            let mut file = gzip(&pickle);
            file.extend(garbage);
            for chunk in [1, 3, 1000] {
                assert_eq!(unpack(&file, chunk).unwrap(), pickle, "{garbage:?}");
            }
        }
    }

    #[test]
    fn json_may_have_blanks_and_a_byte_order_mark() {
        let blanks = "\n".repeat(3000) + "{}";
        for (file, content) in [("\u{feff}{ }", "{ }"), ("  []", "  []"), ("{", "{"), (&blanks, &blanks)] {
            for chunk in [1, 2, 1000] {
                assert_eq!(unpack(file.as_bytes(), chunk).unwrap(), content.as_bytes());
            }
        }
    }

    #[test]
    fn what_is_no_pickle_is_named() {
        let whole = gzip(&[0x80, 4, b'.']);
        let mut wrong_check = whole.clone();
        let at = wrong_check.len() - 5;
        wrong_check[at] ^= 1;
        let five_times = (0..5).fold(vec![0x80, 4, b'.'], |bytes, _| gzip(&bytes));
        let cases: [(&[u8], &str); 11] = [
            (b"", "the file is empty"),
            (&gzip(b""), "the gzip stream holds nothing"),
            (b"\x89PNG\r\n\x1a\n", "this is a PNG image, not a PyTorch memory snapshot"),
            (&gzip(b"\x89PNG\r\n"), "this is a PNG image, not a PyTorch memory snapshot"),
            (b"PK\x03\x04 and more", "this is a zip archive, not a PyTorch memory snapshot"),
            (b" \n<!DOCTYPE html>", "this is an HTML page, not a PyTorch memory snapshot"),
            (b"hello", "this is not a PyTorch memory snapshot: it begins with 0x68, where a pickle begins with 0x80"),
            (&whole[..12], "the file ends inside its gzip stream, after 12 bytes"),
            (b"\x1f\x8bgarbage that is no deflate", "the gzip stream is damaged near byte 28"),
            (&wrong_check, "the gzip stream is damaged near byte 23"),
            (&five_times, "it is packed more than 4 times over: no snapshot is"),
        ];
        for (file, text) in cases {
            assert_eq!(unpack(file, 1 << 20).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_bursts() {
        let zeros = vec![0; 16 << 20];
        let mut bytes = vec![0x80, 4];
        bytes.extend(&zeros);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&bytes).unwrap();
        for _ in 0..16 {
            encoder.write_all(&zeros).unwrap();
        }
        let error = unpack(&encoder.finish().unwrap(), 1 << 20).unwrap_err();
        assert!(matches!(error, ContainerError::Bomb { layer: "gzip", .. }), "{error}");
    }
}
