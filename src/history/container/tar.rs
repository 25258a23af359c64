//! tar archives (ustar, GNU and pax): emits the bytes of one member, and lists all members that look like snapshots.
//!
//! The archive is read once from start to end, because it is usually compressed. A crate for tar would need a reader
//! that blocks. Here, bytes arrive in chunks.
//!
//! ```text
//! header of 512 bytes · content, padded to 512 bytes     one per member
//! two blocks of zeros
//! ```

use super::layer::{Fault, Member, Unpacker};
use super::zip::printable;

/// Length in bytes of a header.
pub(super) const BLOCK: usize = 512;
/// Number of bytes that decide whether a member is a snapshot.
const PROBE_BYTES: u64 = 4096;
/// Maximum length in bytes of a long name or of a member's pax records.
const MAX_META_BYTES: u64 = 1 << 20;
/// Maximum number of snapshots that are listed.
const MAX_MEMBERS: usize = 4096;

/// Returns whether `head` begins with the header of a member, which has a checksum.
pub(super) fn is_archive(head: &[u8]) -> bool {
    head.first_chunk().is_some_and(is_valid)
}

fn is_valid(header: &[u8; BLOCK]) -> bool {
    let sum = header.iter().enumerate().map(|(at, &byte)| if (148..156).contains(&at) { b' ' } else { byte });
    header[0] != 0 && number(&header[148..156]) == Some(sum.map(u64::from).sum())
}

/// Parses a number: octal digits, or big-endian bytes after 0x80 (GNU).
fn number(field: &[u8]) -> Option<u64> {
    if let [0x80, rest @ ..] = field {
        let (high, low) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
        return high.iter().all(|&byte| byte == 0).then(|| low.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
    }
    let digits = field.trim_ascii_start().split(|&byte| byte == b' ' || byte == 0).next()?;
    digits
        .iter()
        .try_fold(0u64, |sum, &digit| (b'0'..=b'7').contains(&digit).then(|| sum << 3 | u64::from(digit - b'0')))
}

/// Part of the archive that the next byte belongs to.
enum Part {
    Header,
    /// Long name (`L`) or pax records (`x`) of the next member.
    Meta(u8),
    /// First bytes of a member, which decide whether it is a snapshot.
    Probe,
    /// Content of the wanted member.
    Content,
    /// Content of another member.
    Skip,
    Padding,
    End,
}

pub(super) struct Tar {
    wanted: usize,
    /// Decides from the first bytes of a member whether it is a snapshot.
    is_snapshot: fn(&[u8]) -> bool,
    part: Part,
    /// Bytes of the header, the long name, the pax records or the probe. In the content, those not emitted yet.
    bytes: Vec<u8>,
    /// Bytes of the member that were not read yet.
    left: u64,
    padding: u64,
    /// Name and size of the current member.
    name: Vec<u8>,
    size: u64,
    /// Name and size from the records before a member.
    long_name: Option<Vec<u8>>,
    long_size: Option<u64>,
    members: Vec<Member>,
    is_found: bool,
}

impl Tar {
    pub(super) fn new(wanted: u32, is_snapshot: fn(&[u8]) -> bool) -> Tar {
        Tar {
            wanted: wanted as usize,
            is_snapshot,
            part: Part::Header,
            bytes: Vec::new(),
            left: 0,
            padding: 0,
            name: Vec::new(),
            size: 0,
            long_name: None,
            long_size: None,
            members: Vec::new(),
            is_found: false,
        }
    }

    /// Moves bytes from `input` into the buffer until it has `length`. Returns whether it has.
    fn gather(&mut self, input: &mut &[u8], length: usize) -> bool {
        let (taken, rest) = input.split_at(input.len().min(length.saturating_sub(self.bytes.len())));
        self.bytes.extend_from_slice(taken);
        *input = rest;
        self.bytes.len() >= length
    }

    fn header(&mut self) -> Result<Part, Fault> {
        let Some(header) = self.bytes.first_chunk::<BLOCK>() else { return Err(Fault::Damaged) };
        if header.iter().all(|&byte| byte == 0) {
            return Ok(Part::End);
        }
        if !is_valid(header) {
            return Err(Fault::Damaged);
        }
        let text =
            |from: usize, to: usize| header.get(from..to).and_then(|field| field.split(|&byte| byte == 0).next());
        let kind = header[156];
        let is_meta = matches!(kind, b'L' | b'x' | b'X');
        self.size = number(&header[124..136]).ok_or(Fault::Damaged)?;
        if !is_meta && !matches!(kind, b'K' | b'g') {
            self.name =
                match text(345, 500).filter(|prefix| !prefix.is_empty() && header[257..].starts_with(b"ustar\0")) {
                    Some(prefix) => [prefix, b"/", text(0, 100).unwrap_or_default()].concat(),
                    None => text(0, 100).unwrap_or_default().to_vec(),
                };
            self.name = self.long_name.take().unwrap_or_else(|| std::mem::take(&mut self.name));
            self.size = self.long_size.take().unwrap_or(self.size);
        }
        (self.left, self.padding) = (self.size, (BLOCK as u64 - self.size % BLOCK as u64) % BLOCK as u64);
        Ok(match kind {
            _ if is_meta && self.size > MAX_META_BYTES => return Err(Fault::Damaged),
            _ if is_meta => Part::Meta(kind),
            // Regular files.
            b'0' | 0 | b'7' if self.members.len() < MAX_MEMBERS => Part::Probe,
            _ => Part::Skip,
        })
    }

    /// Reads the name or size of the next member.
    fn meta(&mut self, kind: u8) {
        if kind == b'L' {
            self.long_name = self.bytes.split(|&byte| byte == 0).next().map(<[u8]>::to_vec);
            return;
        }
        // Each record is its length, a space, key=value and a line break.
        let mut rest = self.bytes.as_slice();
        while let Some(space) = rest.iter().position(|&byte| byte == b' ') {
            let length =
                std::str::from_utf8(rest.get(..space).unwrap_or_default()).ok().and_then(|text| text.parse().ok());
            let Some((record, after)) = length.and_then(|length| rest.split_at_checked(length)) else { return };
            let record = record.get(space + 1..).unwrap_or_default().trim_ascii_end();
            if let Some(name) = record.strip_prefix(b"path=") {
                self.long_name = Some(name.to_vec());
            } else if let Some(size) = record.strip_prefix(b"size=") {
                self.long_size = std::str::from_utf8(size).ok().and_then(|size| size.parse().ok());
            }
            if record.is_empty() {
                return;
            }
            rest = after;
        }
    }

    /// Decides whether the current member is a snapshot, and the wanted one.
    fn probe(&mut self) -> Part {
        let is_snapshot = (self.is_snapshot)(&self.bytes);
        if is_snapshot {
            self.members.push(Member { name: printable(&self.name), bytes: self.size });
        }
        if is_snapshot && self.members.len() == self.wanted + 1 {
            self.is_found = true;
            return Part::Content;
        }
        Part::Skip
    }
}

impl Unpacker for Tar {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut rest = input;
        loop {
            let room = output.capacity() - output.len();
            match self.part {
                Part::Header => {
                    if !self.gather(&mut rest, BLOCK) {
                        return Ok(input.len());
                    }
                    self.part = self.header()?;
                    self.bytes.clear();
                }
                Part::Meta(kind) => {
                    if !self.gather(&mut rest, self.size as usize) {
                        return Ok(input.len());
                    }
                    self.meta(kind);
                    (self.left, self.part) = (0, Part::Skip);
                }
                Part::Probe => {
                    let length = self.size.min(PROBE_BYTES);
                    if !self.gather(&mut rest, length as usize) {
                        return Ok(input.len());
                    }
                    self.left -= length;
                    self.part = self.probe();
                }
                Part::Content if !self.bytes.is_empty() => {
                    let length = self.bytes.len().min(room);
                    output.extend(self.bytes.drain(..length));
                    if !self.bytes.is_empty() {
                        return Ok(input.len() - rest.len());
                    }
                }
                Part::Content | Part::Skip | Part::Padding if self.left > 0 => {
                    let is_content = matches!(self.part, Part::Content);
                    let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                    let (taken, after) =
                        rest.split_at(rest.len().min(left).min(if is_content { room } else { usize::MAX }));
                    if is_content {
                        output.extend_from_slice(taken);
                    }
                    (self.left, rest) = (self.left - taken.len() as u64, after);
                    if taken.is_empty() {
                        return Ok(input.len() - rest.len());
                    }
                }
                Part::Content | Part::Skip => {
                    self.bytes.clear();
                    (self.left, self.part) = (self.padding, Part::Padding);
                }
                Part::Padding => self.part = Part::Header,
                Part::End => return Ok(input.len()),
            }
        }
    }

    fn finish(&self) -> Result<(), Fault> {
        match self.part {
            Part::End | Part::Padding if self.is_found => Ok(()),
            Part::Header if self.bytes.is_empty() && self.is_found => Ok(()),
            Part::End => Err(Fault::NotASnapshot("a tar archive without such a snapshot")),
            Part::Header if self.bytes.is_empty() => Err(Fault::NotASnapshot("a tar archive without such a snapshot")),
            _ => Err(Fault::Truncated),
        }
    }

    fn members(&self) -> &[Member] {
        &self.members
    }
}
