//! Unpacking of one member of a zip archive.

use crate::container::crc32::Crc32;
use crate::container::layer::{Fault, Unpacker};
use deflate64::InflaterManaged;
use flate2::{Decompress, FlushDecompress, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
    /// Written by Windows Explorer for members over 2 GiB.
    Deflate64,
    /// Compressed with zstd. The bytes are returned compressed: the caller recognizes zstd by its first bytes and
    /// decompresses them.
    Zstd,
    Encrypted,
    Other(u16),
}

/// Decompressor of a zip member, by compression method.
pub(super) enum Decompressor {
    Stored,
    Deflate(Decompress),
    /// Boxed, because the decompressor contains a window of 128 KiB.
    Deflate64(Box<InflaterManaged>),
}

impl Decompressor {
    /// Decompresses part of `input` into the spare capacity of `output`. Returns the number of bytes consumed, and
    /// whether the stream has ended.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(usize, bool), Fault> {
        let length_before = output.len();
        match self {
            Decompressor::Stored => {
                let room = input.len().min(output.capacity() - length_before);
                output.extend_from_slice(input.get(..room).unwrap_or_default());
                Ok((room, false))
            }
            Decompressor::Deflate(inflate) => {
                let before = inflate.total_in();
                let status =
                    inflate.decompress_vec(input, output, FlushDecompress::None).map_err(|_| Fault::Damaged)?;
                Ok(((inflate.total_in() - before) as usize, status == Status::StreamEnd))
            }
            Decompressor::Deflate64(inflate) => {
                output.resize(output.capacity(), 0);
                let done = inflate.inflate(input, output.get_mut(length_before..).unwrap_or_default());
                output.truncate(length_before + done.bytes_written);
                if done.data_error { Err(Fault::Damaged) } else { Ok((done.bytes_consumed, inflate.finished())) }
            }
        }
    }
}

/// Unpacker of a zip member, which also checks the size and checksum.
pub(super) struct MemberUnpacker {
    pub(super) inflate: Decompressor,
    pub(super) is_finished: bool,
    pub(super) written: u64,
    pub(super) check: Crc32,
    /// Size and checksum from the directory, which are checked at the end.
    pub(super) expected: Option<(u64, u32)>,
    pub(super) has_trailing_bytes: bool,
}

impl Unpacker for MemberUnpacker {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let length_before = output.len();
        let consumed = if self.is_finished {
            self.has_trailing_bytes |= input.iter().any(|&byte| byte != 0);
            input.len()
        } else {
            let (consumed, is_over) = self.inflate.step(input, output)?;
            self.is_finished = is_over;
            let is_stuck = consumed == 0
                && output.len() == length_before
                && !input.is_empty()
                && length_before < output.capacity();
            if is_stuck && !is_over {
                return Err(Fault::Damaged);
            }
            consumed
        };
        let new = output.get(length_before..).unwrap_or_default();
        self.written += new.len() as u64;
        self.check.update(new);
        let is_too_much = self.expected.is_some_and(|(bytes, _)| self.written > bytes);
        if is_too_much { Err(Fault::Damaged) } else { Ok(consumed) }
    }

    fn finish(&self) -> Result<(), Fault> {
        match self.inflate {
            Decompressor::Deflate(_) | Decompressor::Deflate64(_) if !self.is_finished => Err(Fault::Truncated),
            _ if self.expected.is_some_and(|expected| expected != (self.written, self.check.sum())) => {
                Err(Fault::Damaged)
            }
            _ => Ok(()),
        }
    }

    fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }
}
