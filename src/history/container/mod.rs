//! Outer formats, distinguished by content, never by name: layers of packing, one inside the other, around what the file is.
//!
//! ```text
//!   chunks of the file ─▶ [gzip] ─▶ … ─▶ pickle
//!                   buffer 0    buffer 1  …  the last one's bytes are what pull() hands out
//! ```
//!
//! Whoever reads pulls: [`Container::pull`] does a bounded piece of work and hands out a bounded number of bytes, however much a
//! few packed ones unpack to.

mod buffer;
mod check;
mod error;
mod gzip;
mod html;
mod layer;
mod packing;
mod sniff;
pub mod zip;
mod zstd;

pub use buffer::PIECE;
pub use error::ContainerError;
pub use sniff::{COLUMNS, Content};

use buffer::Buffer;
use layer::{Fault, Unpacker};
use sniff::{BYTE_ORDER_MARK, Sniffed, sniff, sniff_all};

/// How many packed bytes a layer is given at a time: the smallest gzip member is 20 bytes, and each has its own cost.
const PACKED_PIECE: usize = 16 << 10;

/// How many times its size a packed pickle may unpack to. Real ones: up to 40; deflate can do 1000, zstd any number.
pub const MOST_INFLATION: u64 = 200;
/// The same for JSON, which says everything again wherever it is used, and indented at that: real files come to 850 under zstd,
/// and one of nothing but stacks of a thousand frames to some thousands. Blanks without end cost time, and no memory.
pub const MOST_INFLATION_OF_JSON: u64 = 10_000;
/// What may be unpacked whatever the ratio: small files made of one repeated event are no attack.
const UNPACKED_FREELY: u64 = 256 << 20;

/// What may be unpacked in all: more than a hundred times the largest pickle known, and half an hour of work.
pub const MOST_UNPACKED: u64 = 1 << 40;

/// Layers of packing. Two are seen (a .gz compressed again on its way); each costs a window of memory.
const MOST_LAYERS: usize = 4;

/// Unpacks a file as it arrives.
#[derive(Default)]
pub struct Container {
    file: Buffer,
    /// Bytes of the file fed, and whether that was all.
    fed: u64,
    ended: bool,
    layers: Vec<Layer>,
    content: Option<Content>,
}

struct Layer {
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

    /// The layers of which bytes behind their end were left out, padding apart; certain once all was handed out.
    pub fn left_out(&self) -> impl Iterator<Item = &'static str> {
        self.layers.iter().filter(|layer| layer.unpacker.has_left_out()).map(|layer| layer.name)
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
            Fault::Foreign(noun) => ContainerError::Other(noun),
            Fault::Refused(why) => ContainerError::Refused { layer: name, why },
        })?;
        input.take(took);
        layer.written += written as u64;
        if layer.written > MOST_UNPACKED {
            return Err(ContainerError::TooMuch { layer: name, byte });
        }
        let times = match self.content {
            Some(Content::Json) => MOST_INFLATION_OF_JSON,
            _ => MOST_INFLATION,
        };
        if layer.written > byte.saturating_mul(times).max(UNPACKED_FREELY) {
            return Err(ContainerError::Bomb { layer: name, byte, times });
        }
        Ok(if is_last && written == 0 { Flow::Ended } else { Flow::Worked })
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/container/mod.rs"]
mod tests;
