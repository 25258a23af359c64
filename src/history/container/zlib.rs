//! zlib (RFC 1950), which `joblib.dump(…, compress=True)` writes. Bytes after the stream are ignored with a warning.

use super::layer::{Fault, Unpacker};
use flate2::{Decompress, FlushDecompress, Status};

/// Returns whether `head` begins a zlib stream: method deflate with a window of up to 32 KiB, no dictionary, and a
/// valid check of both bytes.
pub(super) fn is_stream(head: &[u8]) -> bool {
    let &[method, flags, ..] = head else { return false };
    let is_deflate = method & 0xf == 8 && method >> 4 <= 7 && flags & 0x20 == 0;
    is_deflate && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}

pub(super) struct Zlib {
    inflate: Decompress,
    has_ended: bool,
    has_trailing_bytes: bool,
}

impl Zlib {
    pub(super) fn new() -> Zlib {
        Zlib { inflate: Decompress::new(true), has_ended: false, has_trailing_bytes: false }
    }
}

impl Unpacker for Zlib {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        if self.has_ended {
            self.has_trailing_bytes |= input.iter().any(|&byte| byte != 0);
            return Ok(input.len());
        }
        let (before, length_before) = (self.inflate.total_in(), output.len());
        let status = self.inflate.decompress_vec(input, output, FlushDecompress::None).map_err(|_| Fault::Damaged)?;
        let consumed = (self.inflate.total_in() - before) as usize;
        self.has_ended = status == Status::StreamEnd;
        let is_stuck = consumed == 0 && output.len() == length_before && output.len() < output.capacity();
        if is_stuck && !self.has_ended && !input.is_empty() { Err(Fault::Damaged) } else { Ok(consumed) }
    }

    fn finish(&self) -> Result<(), Fault> {
        if self.has_ended { Ok(()) } else { Err(Fault::Truncated) }
    }

    fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }
}
