//! Files of `torch.save` before PyTorch 1.6, which are several pickles. The object is the fourth.
//!
//! ```text
//! magic number · protocol · properties of the machine · object · keys of the storages
//! ```

use super::layer::{Fault, Unpacker};

/// The magic number as the operand of LONG1, and STOP.
const MAGIC: &[u8] = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";
/// Number of pickles before the object.
const PICKLES_BEFORE: u32 = 3;
/// Maximum total length of these pickles, in bytes. PyTorch writes about 140.
const MAX_BYTES: usize = 4096;

/// Returns whether `head` begins with the magic number, possibly after the opcodes PROTO and FRAME.
pub(super) fn is_legacy(head: &[u8]) -> bool {
    head.first() == Some(&0x80) && [2, 11].iter().any(|&at| head.get(at..).is_some_and(|rest| rest.starts_with(MAGIC)))
}

/// Drops the pickles before the object.
#[derive(Default)]
pub(super) struct TorchSave {
    ended: u32,
    /// Previous byte. A pickle ends where STOP precedes PROTO.
    before: u8,
    skipped: usize,
}

impl Unpacker for TorchSave {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut from = 0;
        while self.ended < PICKLES_BEFORE {
            let Some(&byte) = input.get(from) else { return Ok(from) };
            if (self.before, byte) == (b'.', 0x80) {
                self.ended += 1;
            }
            if self.ended < PICKLES_BEFORE {
                from += 1;
                self.skipped += 1;
            }
            self.before = byte;
            if self.skipped > MAX_BYTES {
                return Err(Fault::Damaged);
            }
        }
        let rest = input.get(from..).unwrap_or_default();
        let length = rest.len().min(output.capacity() - output.len());
        output.extend_from_slice(rest.get(..length).unwrap_or_default());
        Ok(from + length)
    }

    fn finish(&self) -> Result<(), Fault> {
        if self.ended == PICKLES_BEFORE { Ok(()) } else { Err(Fault::Truncated) }
    }
}
