//! Outer formats: layers of compression around the content, recognized by their first bytes instead of the file name.
//! gzip, zstd, zlib, HTML, tar, UTF-16, and the pickles before the object in an old file of `torch.save`.
//!
//! ```text
//!   chunks of the file ─▶ [gzip] ─▶ … ─▶ pickle
//!                   buffer 0    buffer 1  …  pull() returns the bytes of the last one
//! ```
//!
//! Reading is pull-based: [`Container::pull`] does a bounded amount of work and returns a bounded number of bytes,
//! regardless of the compression ratio.

mod buffer;
mod crc32;
mod error;
mod gzip;
mod html;
mod layer;
mod packing;
mod sniff;
mod tar;
mod torch_save;
mod utf16;
pub mod zip;
mod zlib;
mod zstd;

pub use buffer::MAX_PIECE_BYTES;
pub use error::ContainerError;
pub use layer::Member;
pub use sniff::{COLUMNS_MAGIC, Content, SNAPSHOT_KEYS};

use buffer::Buffer;
use layer::{Fault, Unpacker};
use sniff::{BYTE_ORDER_MARK, Sniffed, looks_like_snapshot, sniff, sniff_all};

/// Maximum number of packed bytes passed to a layer at once. This bounds the work per call, because a gzip member can
/// have only 20 bytes and each member has a fixed cost.
const PACKED_CHUNK_BYTES: usize = 16 << 10;

/// Maximum ratio of unpacked to packed size for a pickle. Real snapshots have ratios of up to 40. Deflate allows 1000,
/// and zstd has no limit.
pub const MAX_INFLATION: u64 = 200;
/// Maximum ratio of unpacked to packed size for JSON, which repeats shared values and may be indented. Real files have
/// ratios of up to 850 with zstd, and files of mostly deep stacks some thousands. Endless whitespace costs time but no
/// memory.
pub const MAX_INFLATION_OF_JSON: u64 = 10_000;
/// Unpacked size in bytes up to which the ratio is not checked. A small file may repeat one event many times and still
/// be valid.
const UNCHECKED_BYTES: u64 = 256 << 20;

/// Maximum unpacked size in bytes: over a hundred times the size of the largest known pickle. Reading this much would
/// take half an hour.
pub const MAX_UNPACKED_BYTES: u64 = 1 << 40;

/// Maximum number of nested layers. In practice there are at most two (a .gz file that was compressed again in
/// transit). Each layer needs memory for its window.
const MAX_LAYERS: usize = 4;

/// Incremental unpacker of a file, which may have several layers of compression.
#[derive(Default)]
pub struct Container {
    file: Buffer,
    /// Number of bytes of the file fed so far.
    fed: u64,
    /// True if the whole file was fed.
    ended: bool,
    layers: Vec<Layer>,
    /// Index of the snapshot to unpack from an archive.
    member: u32,
    content: Option<Content>,
}

base::heap_bytes!(Container: file, [layers]);

struct Layer {
    name: &'static str,
    unpacker: Box<dyn Unpacker>,
    output: Buffer,
    written: u64,
}

base::heap_bytes!(Layer: output);

/// Result of an attempt to fill a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// The buffer may have more bytes than before.
    Progress,
    /// The buffer cannot be filled without more bytes of the file.
    NeedsInput,
    /// The buffer has received all its bytes.
    Ended,
}

impl Container {
    /// Creates an unpacker for a member of a zip archive. The caller feeds the member's packed bytes.
    ///
    /// # Errors
    /// Returns an error if the compression method is not supported.
    pub fn from_zip_member(entry: &zip::Entry) -> Result<Container, zip::ZipError> {
        let layer = Layer { name: "zip", unpacker: entry.unpacker()?, output: Buffer::default(), written: 0 };
        Ok(Container { layers: vec![layer], ..Container::default() })
    }

    /// Sets the index of the snapshot to unpack from a tar archive. Nothing may have been unpacked yet.
    pub fn set_member(&mut self, member: u32) {
        self.member = member;
    }

    /// Returns the snapshots in a tar archive. Complete only after everything was unpacked.
    pub fn members(&self) -> &[Member] {
        let lists = self.layers.iter().map(|layer| layer.unpacker.members());
        lists.into_iter().find(|members| !members.is_empty()).unwrap_or_default()
    }

    /// Adds the next bytes of the file. Avoids copying them if [`Container::pull`] has just returned `None`.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        self.fed += chunk.len() as u64;
        self.file.add(chunk);
    }

    /// Marks the end of the file, after all bytes were fed.
    pub fn finish_input(&mut self) {
        self.ended = true;
    }

    /// Returns the number of file bytes consumed.
    pub fn bytes_read(&self) -> u64 {
        self.fed - self.file.rest().len() as u64
    }

    /// Returns the format inside all layers, which is known before [`Container::pull`] returns the first byte.
    pub fn content(&self) -> Option<Content> {
        self.content
    }

    /// Returns the names of the layers, outermost first, for example `gzip`.
    pub fn layers(&self) -> impl Iterator<Item = &'static str> {
        self.layers.iter().map(|layer| layer.name)
    }

    /// Returns the names of the layers with ignored trailing bytes other than zero padding. Complete only after
    /// everything was unpacked.
    pub fn layers_with_trailing_bytes(&self) -> impl Iterator<Item = &'static str> {
        self.layers.iter().filter(|layer| layer.unpacker.has_trailing_bytes()).map(|layer| layer.name)
    }

    /// Returns the next unpacked bytes, at most [`MAX_PIECE_BYTES`] and possibly none yet. Returns `None` at the end,
    /// or if more bytes of the file are needed.
    ///
    /// # Errors
    /// Returns an error if a layer is damaged or truncated, or the content is not a snapshot.
    pub fn pull(&mut self) -> Result<Option<&[u8]>, ContainerError> {
        let depth = self.layers.len();
        if self.content.is_none() {
            let mut sniffed = sniff(self.buffer(depth).rest());
            if sniffed == Sniffed::Unsure {
                match self.fill(depth)? {
                    Flow::Progress => return Ok(Some(&[])),
                    Flow::NeedsInput => return Ok(None),
                    Flow::Ended => sniffed = sniff_all(self.buffer(depth).rest()),
                }
            }
            match sniffed {
                Sniffed::Unsure => {
                    let layer = self.layers.last().map(|layer| layer.name);
                    return Err(layer.map_or(ContainerError::Empty, ContainerError::EmptyLayer));
                }
                Sniffed::Packed(_) if depth >= MAX_LAYERS => return Err(ContainerError::TooManyLayers(MAX_LAYERS)),
                Sniffed::Packed(packing) => {
                    let (name, unpacker) = (packing.name(), packing.unpacker(self.member, looks_like_snapshot));
                    self.layers.push(Layer { name, unpacker, output: Buffer::default(), written: 0 });
                    return Ok(Some(&[]));
                }
                Sniffed::Content(content) => {
                    self.content = Some(content);
                    let content = self.buffer_mut(depth);
                    if content.rest().starts_with(BYTE_ORDER_MARK) {
                        content.consume(BYTE_ORDER_MARK.len());
                    }
                    return Ok(Some(&[]));
                }
                Sniffed::OtherFormat(noun) => return Err(ContainerError::OtherFormat(noun)),
                Sniffed::Unknown(byte) => return Err(ContainerError::UnknownFormat(byte)),
            }
        }
        if self.buffer(depth).rest().is_empty() && self.fill(depth)? != Flow::Progress {
            return Ok(None);
        }
        Ok(Some(self.buffer_mut(depth).consume_piece()))
    }

    /// Returns the output of layer `depth`, counted from 1. Depth 0 is the file.
    fn buffer(&self, depth: usize) -> &Buffer {
        let layer = depth.checked_sub(1).and_then(|index| self.layers.get(index));
        layer.map_or(&self.file, |layer| &layer.output)
    }

    fn buffer_mut(&mut self, depth: usize) -> &mut Buffer {
        let layer = depth.checked_sub(1).and_then(|index| self.layers.get_mut(index));
        layer.map_or(&mut self.file, |layer| &mut layer.output)
    }

    /// Unpacks a bounded number of bytes into the buffer of layer `depth`.
    fn fill(&mut self, depth: usize) -> Result<Flow, ContainerError> {
        let Some(above) = depth.checked_sub(1) else {
            return Ok(if self.ended { Flow::Ended } else { Flow::NeedsInput });
        };
        let source = if self.buffer(above).rest().is_empty() { self.fill(above)? } else { Flow::Progress };
        if source == Flow::NeedsInput {
            return Ok(Flow::NeedsInput);
        }
        let byte = self.fed.min(self.bytes_read().saturating_add(PACKED_CHUNK_BYTES as u64));
        let (outer, inner) = self.layers.split_at_mut(above);
        let Some(layer) = inner.first_mut() else { return Ok(Flow::Ended) };
        let input = outer.last_mut().map_or(&mut self.file, |outer| &mut outer.output);
        let piece = input.rest();
        let piece = piece.get(..PACKED_CHUNK_BYTES).unwrap_or(piece);
        let (output, is_last) = (layer.output.spare(), source == Flow::Ended && piece.is_empty());
        let length_before = output.len();
        let name = layer.name;
        let unpacked = layer.unpacker.unpack(piece, output).and_then(|consumed| {
            let written = output.len() - length_before;
            if is_last && written == 0 {
                layer.unpacker.finish()?;
            }
            Ok((consumed, written))
        });
        let (consumed, written) = unpacked.map_err(|fault| match fault {
            Fault::Damaged => ContainerError::Damaged { layer: name, byte },
            Fault::Truncated => ContainerError::Truncated { layer: name, byte },
            Fault::NotASnapshot(noun) => ContainerError::OtherFormat(noun),
            Fault::Unsupported(why) => ContainerError::Unsupported { layer: name, why },
        })?;
        input.consume(consumed);
        layer.written += written as u64;
        if layer.written > MAX_UNPACKED_BYTES {
            return Err(ContainerError::TooLarge { layer: name, byte });
        }
        let ratio = match self.content {
            Some(Content::Json) => MAX_INFLATION_OF_JSON,
            _ => MAX_INFLATION,
        };
        if layer.written > byte.saturating_mul(ratio).max(UNCHECKED_BYTES) {
            return Err(ContainerError::Bomb { layer: name, byte, ratio });
        }
        Ok(if is_last && written == 0 { Flow::Ended } else { Flow::Progress })
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/container/mod.rs"]
mod tests;
