//! zstd (RFC 8878): a sequence of frames and skippable frames.
//!
//! Trailing bytes that are not a frame are ignored, as for gzip.

use super::layer::{Fault, Unpacker};
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::io::Read;

/// Magic number of a frame, little-endian.
const MAGIC: u32 = 0xfd2f_b528;
/// Magic number of a skippable frame, without its lowest four bits.
const SKIPPABLE: u32 = 0x184d_2a50;

/// Maximum window size in bytes. The window is held in memory. This is the default limit of the zstd program
/// (`--long=27`), and larger than the window of any compression level.
const WINDOW: u64 = 128 << 20;

/// Element of the stream that the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Header,
    Block,
    /// Inside a skippable frame. Holds the number of bytes left.
    Skip(u64),
    Garbage,
}

pub(super) struct Zstd {
    part: Part,
    decoder: Box<FrameDecoder>,
    /// Bytes read so far of an incomplete header or block.
    carry: Vec<u8>,
    has_checksum: bool,
    frames: u64,
    has_trailing_bytes: bool,
}

/// Returns whether the bytes start with a frame.
pub(super) fn is_frame(head: &[u8]) -> bool {
    let magic = head.first_chunk().map(|magic| u32::from_le_bytes(*magic));
    magic.is_some_and(|magic| magic == MAGIC || magic & !0xf == SKIPPABLE)
}

impl Zstd {
    pub(super) fn new() -> Zstd {
        let mut decoder = Box::new(FrameDecoder::new());
        decoder.set_max_window_size(WINDOW);
        Zstd {
            part: Part::Header,
            decoder,
            carry: Vec::new(),
            has_checksum: false,
            frames: 0,
            has_trailing_bytes: false,
        }
    }

    /// Returns the length of the header or block that starts in `carry`. If `carry` is too short to determine this
    /// length, returns the number of bytes needed.
    fn required_bytes(&self) -> usize {
        match (self.part, self.carry.as_slice()) {
            (Part::Header, [_, _, _, _, ..]) if !is_frame(&self.carry) => 4,
            (Part::Header, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) => 8,
            (Part::Header, &[_, _, _, _, descriptor, ..]) => {
                let is_one_segment = descriptor & 0x20 != 0;
                let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
                let size = [usize::from(is_one_segment), 2, 4, 8][usize::from(descriptor >> 6)];
                5 + usize::from(!is_one_segment) + dictionary + size
            }
            (Part::Header, [_, _, _, _]) => 5,
            (Part::Header, _) => 4,
            (_, &[first, second, third, ..]) => {
                let header = u32::from_le_bytes([first, second, third, 0]);
                let is_last = header & 1 != 0;
                // A run-length block stores a single byte.
                let content_bytes = if header >> 1 & 3 == 1 { 1 } else { header as usize >> 3 };
                3 + content_bytes + if is_last && self.has_checksum { 4 } else { 0 }
            }
            _ => 3,
        }
    }

    /// Processes the complete header or block in `carry`.
    fn process_carry(&mut self) -> Result<(), Fault> {
        match (self.part, self.carry.as_slice()) {
            (Part::Header, &[_, _, _, 0x18, a, b, c, d]) if is_frame(&self.carry) => {
                self.part = Part::Skip(u32::from_le_bytes([a, b, c, d]).into());
            }
            (Part::Header, carry) if !is_frame(carry) => {
                if self.frames == 0 {
                    return Err(Fault::Damaged);
                }
                self.has_trailing_bytes = carry.iter().any(|&byte| byte != 0);
                self.part = Part::Garbage;
            }
            (Part::Header, carry) => {
                self.decoder.reset(carry).map_err(fault)?;
                self.has_checksum = carry.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
                self.part = Part::Block;
            }
            (_, carry) => {
                if self.decoder.decode_blocks(carry, BlockDecodingStrategy::UptoBlocks(1)).map_err(fault)? {
                    self.part = Part::Header;
                    self.frames += 1;
                }
            }
        }
        self.carry.clear();
        Ok(())
    }

    /// Writes decoded bytes into the spare capacity of `output`. Returns whether all decoded bytes were written.
    fn write_decoded(&mut self, output: &mut Vec<u8>) -> Result<bool, Fault> {
        let ready = self.decoder.can_collect();
        let length_before = output.len();
        output.resize(length_before + ready.min(output.capacity() - length_before), 0);
        let room = output.get_mut(length_before..).unwrap_or_default();
        let written = self.decoder.read(room).map_err(|_| Fault::Damaged)?;
        output.truncate(length_before + written);
        if written < ready {
            return Ok(false);
        }
        // The checksum covers the bytes that were written out.
        let stored = self.decoder.get_checksum_from_data();
        if ready > 0
            && self.part == Part::Header
            && stored.is_some()
            && stored != self.decoder.get_calculated_checksum()
        {
            return Err(Fault::Damaged);
        }
        Ok(true)
    }
}

fn fault(error: FrameDecoderError) -> Fault {
    match error {
        FrameDecoderError::WindowSizeTooBig { .. } => Fault::Unsupported("it needs a window of more than 128 MiB"),
        FrameDecoderError::DictNotProvided { .. } => {
            Fault::Unsupported("it needs a dictionary that is not in the file")
        }
        _ => Fault::Damaged,
    }
}

impl Unpacker for Zstd {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut rest = input;
        loop {
            if !self.write_decoded(output)? {
                return Ok(input.len() - rest.len());
            }
            let missing = match self.part {
                Part::Garbage => {
                    self.has_trailing_bytes |= rest.iter().any(|&byte| byte != 0);
                    return Ok(input.len());
                }
                Part::Skip(left) => usize::try_from(left).unwrap_or(usize::MAX),
                Part::Header | Part::Block => self.required_bytes().saturating_sub(self.carry.len()),
            };
            let (piece, after) = rest.split_at(missing.min(rest.len()));
            rest = after;
            match self.part {
                Part::Skip(left) if left > piece.len() as u64 => self.part = Part::Skip(left - piece.len() as u64),
                Part::Skip(_) => (self.part, self.frames) = (Part::Header, self.frames + 1),
                _ => {
                    self.carry.extend_from_slice(piece);
                    if piece.len() == missing && self.required_bytes() == self.carry.len() {
                        self.process_carry()?;
                        continue;
                    }
                }
            }
            if rest.is_empty() {
                return Ok(input.len());
            }
        }
    }

    fn finish(&self) -> Result<(), Fault> {
        match self.part {
            Part::Garbage => Ok(()),
            // One or two trailing bytes that look like the start of a frame are garbage too.
            Part::Header if self.frames > 0 => Ok(()),
            _ => Err(Fault::Truncated),
        }
    }

    fn has_trailing_bytes(&self) -> bool {
        let is_cut = self.frames > 0 && self.part == Part::Header;
        self.has_trailing_bytes || is_cut && self.carry.iter().any(|&byte| byte != 0)
    }
}
