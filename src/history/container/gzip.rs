//! gzip (RFC 1952): a sequence of deflate members.
//!
//! Trailing bytes that are not a member are ignored, as in gzip(1). They cause a warning unless they are zeros, which
//! tapes and block devices use as padding.

use super::crc32::Crc32;
use super::layer::{Fault, Unpacker};
use flate2::{Decompress, FlushDecompress, Status};

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The only compression method that gzip defines.
const DEFLATE: u8 = 8;
// Header flags, in the order of the fields that they announce.
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const HEADER_CHECK: u8 = 2;
const RESERVED: u8 = 0xe0;

/// Part of a member that the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// In the fixed header of ten bytes. Holds the number of bytes read.
    Fixed(usize),
    /// In the length of the extra field. Holds the number of bytes read.
    ExtraLength(usize),
    /// In the extra field or the header checksum. Holds the number of bytes left to skip.
    Skip(usize),
    /// In the zero-terminated name or comment.
    Text,
    Body,
    /// In the checksum and length at the end. Holds the number of bytes read.
    Trailer(usize),
    Garbage,
}

pub(super) struct Gzip {
    part: Part,
    /// Flags of the optional header fields that have not been read yet.
    flags: u8,
    /// Bytes read so far of the extra field's length or of the trailer, as a little-endian number.
    number: u64,
    inflate: Decompress,
    check: Crc32,
    members: u64,
    has_trailing_bytes: bool,
}

impl Gzip {
    pub(super) fn new() -> Gzip {
        let inflate = Decompress::new(false);
        Gzip {
            part: Part::Fixed(0),
            flags: 0,
            number: 0,
            inflate,
            check: Crc32::new(),
            members: 0,
            has_trailing_bytes: false,
        }
    }

    /// Handles one byte of a header or trailer.
    fn byte(&mut self, byte: u8) -> Result<(), Fault> {
        self.part = match self.part {
            Part::Fixed(index) => {
                let fits = match index {
                    0 | 1 => MAGIC.get(index) == Some(&byte),
                    2 => byte == DEFLATE,
                    3 => byte & RESERVED == 0,
                    _ => true,
                };
                match index {
                    _ if !fits && self.members > 0 => {
                        self.has_trailing_bytes = index > 0 || byte != 0;
                        Part::Garbage
                    }
                    _ if !fits => return Err(Fault::Damaged),
                    9 => self.next_field(),
                    _ => {
                        if index == 3 {
                            self.flags = byte;
                        }
                        Part::Fixed(index + 1)
                    }
                }
            }
            Part::ExtraLength(0) => {
                self.number = byte.into();
                Part::ExtraLength(1)
            }
            Part::ExtraLength(_) => match usize::from(byte) << 8 | self.number as usize {
                0 => self.next_field(),
                length => Part::Skip(length),
            },
            Part::Skip(1) => self.next_field(),
            Part::Skip(left) => Part::Skip(left - 1),
            Part::Text if byte == 0 => self.next_field(),
            Part::Trailer(index) => {
                self.number |= u64::from(byte) << (8 * index);
                if index < 7 { Part::Trailer(index + 1) } else { self.end_member()? }
            }
            same @ (Part::Text | Part::Body | Part::Garbage) => same,
        };
        Ok(())
    }

    fn next_field(&mut self) -> Part {
        let mut announced = |flag: u8| {
            let is_next = self.flags & flag != 0;
            self.flags &= !flag;
            is_next
        };
        if announced(EXTRA) {
            Part::ExtraLength(0)
        } else if announced(NAME) || announced(COMMENT) {
            Part::Text
        } else if announced(HEADER_CHECK) {
            Part::Skip(2)
        } else {
            Part::Body
        }
    }

    fn end_member(&mut self) -> Result<Part, Fault> {
        let expected = u64::from(self.check.length()) << 32 | u64::from(self.check.sum());
        if self.number != expected {
            return Err(Fault::Damaged);
        }
        self.members += 1;
        self.inflate.reset(false);
        self.check.reset();
        Ok(Part::Fixed(0))
    }

    /// Decompresses part of the body. Returns the number of bytes consumed from `input`.
    fn body(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let (before, length_before) = (self.inflate.total_in(), output.len());
        let status = self.inflate.decompress_vec(input, output, FlushDecompress::None).map_err(|_| Fault::Damaged)?;
        self.check.update(output.get(length_before..).unwrap_or_default());
        let consumed = (self.inflate.total_in() - before) as usize;
        if status == Status::StreamEnd {
            (self.part, self.number) = (Part::Trailer(0), 0);
        } else if consumed == 0
            && output.len() == length_before
            && !input.is_empty()
            && output.len() < output.capacity()
        {
            // It has input and room but makes no progress, and never will.
            return Err(Fault::Damaged);
        }
        Ok(consumed)
    }
}

impl Unpacker for Gzip {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut rest = input;
        loop {
            match self.part {
                Part::Garbage => {
                    self.has_trailing_bytes |= rest.iter().any(|&byte| byte != 0);
                    return Ok(input.len());
                }
                Part::Body => {
                    let consumed = self.body(rest, output)?;
                    rest = rest.get(consumed..).unwrap_or_default();
                    let in_the_body = self.part == Part::Body;
                    if in_the_body && (rest.is_empty() || output.len() == output.capacity()) {
                        return Ok(input.len() - rest.len());
                    }
                }
                _ => {
                    let Some((&byte, after)) = rest.split_first() else { return Ok(input.len()) };
                    rest = after;
                    self.byte(byte)?;
                }
            }
        }
    }

    fn finish(&self) -> Result<(), Fault> {
        match self.part {
            Part::Garbage => Ok(()),
            // One or two trailing bytes that look like the start of a member are garbage too.
            Part::Fixed(_) if self.members > 0 => Ok(()),
            _ => Err(Fault::Truncated),
        }
    }

    fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes || self.members > 0 && matches!(self.part, Part::Fixed(1..))
    }
}
