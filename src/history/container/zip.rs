//! zip archives: the list of members, and the bytes of one member. Does no I/O: the caller passes the requested parts
//! of the file.
//!
//! ```text
//! local header · packed bytes     one per member
//! …
//! directory                       name, sizes, method and offset of each member
//! end record (zip64: two more)    offset and size of the directory
//! ```

mod unpacker;

use super::crc32::Crc32;
use super::layer::Unpacker;
use deflate64::InflaterManaged;
use flate2::Decompress;
use unpacker::{Decompressor, MemberUnpacker, Method};

/// Maximum total length in bytes of the structures at the end of a file: zip64's locator, and the end record with its
/// comment.
pub const TAIL_BYTES: u64 = 22 + 65_535 + LOCATOR_BYTES as u64;
/// Length in bytes of the part of zip64's end record that is read.
pub const ZIP64_RECORD_BYTES: usize = 56;
/// Length in bytes of a local header, without name and extra field.
pub const HEADER_BYTES: usize = 30;

const LOCATOR_BYTES: usize = 20;
const DIRECTORY_ENTRY_BYTES: usize = 46;

/// Maximum length of a member's name in bytes, equal to the maximum length of a path on Linux. Longer names are cut at
/// the start.
const MAX_NAME_BYTES: usize = 4096;

/// Maximum number of members. A checkpoint has some thousands of members, and each needs memory for its name.
pub const MAX_MEMBERS: u64 = 1 << 17;
/// Maximum size of the directory in bytes: 128 for each of [`MAX_MEMBERS`]. The whole directory is held in memory.
pub const MAX_DIRECTORY: u64 = 16 << 20;

/// Error while reading an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZipError {
    /// The end record is missing: the file is truncated or not a zip archive.
    #[error("no directory at the end of the zip archive. Is the file complete?")]
    NoDirectory,
    /// A part is outside the file or has the wrong signature. Holds its name and offset.
    #[error("the zip archive is damaged: expected {0} at byte {1}")]
    Misplaced(&'static str, u64),
    /// The archive is split into several files.
    #[error("the zip archive is split into parts: join them first")]
    Split,
    /// The archive has more than [`MAX_MEMBERS`] members.
    #[error("the zip archive has {0} members, the limit is {MAX_MEMBERS}")]
    TooMany(u64),
    /// The directory is larger than [`MAX_DIRECTORY`].
    #[error("the zip archive's directory has {0} bytes, the limit is {MAX_DIRECTORY}")]
    DirectoryTooLarge(u64),
    /// The member needs a password.
    #[error("{0} is encrypted: unpack the archive first")]
    Encrypted(String),
    /// The member's compression method is not supported.
    #[error("{0} uses zip method {1}; supported are stored (0), deflate (8), deflate64 (9) and zstd (93)")]
    Method(String, u16),
}

/// Position and size of an archive's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    pub offset: u64,
    /// Length of the directory in bytes.
    pub bytes: u64,
    members: u64,
}

/// Information in the end record: the directory's position, or where to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Directory(Directory),
    /// Offset of zip64's end record, which has the position of the directory. Pass [`ZIP64_RECORD_BYTES`] bytes from
    /// there to [`parse_zip64_record`].
    Zip64(u64),
}

/// Member of an archive, as listed in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// Compressed size in bytes.
    pub packed: u64,
    /// Uncompressed size in bytes.
    pub unpacked: u64,
    pub offset: u64,
    method: Method,
    crc: u32,
}

/// Reads a little-endian number of `width` bytes (2, 4 or 8) at `offset`. Returns `None` if it extends beyond the end.
fn read_number(bytes: &[u8], offset: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(offset..offset.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Returns whether a file with these first bytes is a zip archive, possibly one without members.
pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Finds the end record in `tail`, the last [`TAIL_BYTES`] bytes of a file, or all bytes of a shorter file. `offset` is
/// the position of `tail` in the file.
///
/// # Errors
/// Returns an error if the end record is missing, or the archive is split into several files.
pub fn find_end_record(tail: &[u8], offset: u64) -> Result<End, ZipError> {
    let is_end = |&start: &usize| {
        let comment = read_number(tail, start + 20, 2).and_then(|length| usize::try_from(length).ok());
        tail.get(start..).is_some_and(|end| end.starts_with(b"PK\x05\x06"))
            && comment.is_some_and(|length| start + 22 + length <= tail.len())
    };
    let start = (0..tail.len().saturating_sub(21)).rev().find(is_end).ok_or(ZipError::NoDirectory)?;
    let field = |from: usize, width| read_number(tail, start + from, width).ok_or(ZipError::NoDirectory);
    let locator = start
        .checked_sub(LOCATOR_BYTES)
        .filter(|&start| tail.get(start..).is_some_and(|locator| locator.starts_with(b"PK\x06\x07")));
    if let Some(locator) = locator {
        let record = read_number(tail, locator + 8, 8).ok_or(ZipError::NoDirectory)?;
        let fits = record.checked_add(ZIP64_RECORD_BYTES as u64).is_some_and(|end| end <= offset + locator as u64);
        return if fits { Ok(End::Zip64(record)) } else { Err(ZipError::Misplaced("the zip64 record", record)) };
    }
    if field(4, 2)? != 0 || field(6, 2)? != 0 {
        return Err(ZipError::Split);
    }
    let found = Directory { offset: field(16, 4)?, bytes: field(12, 4)?, members: field(10, 2)? };
    found.validated(offset + start as u64).map(End::Directory)
}

/// Parses zip64's end record: [`ZIP64_RECORD_BYTES`] bytes that start at `offset` in the file.
///
/// # Errors
/// Returns an error if the record is missing or invalid.
pub fn parse_zip64_record(record: &[u8], offset: u64) -> Result<Directory, ZipError> {
    let lost = ZipError::Misplaced("the zip64 record", offset);
    let field = |at, width| read_number(record, at, width).ok_or_else(|| lost.clone());
    if !record.starts_with(b"PK\x06\x06") {
        return Err(lost);
    }
    if field(16, 4)? != 0 || field(20, 4)? != 0 {
        return Err(ZipError::Split);
    }
    Directory { offset: field(48, 8)?, bytes: field(40, 8)?, members: field(32, 8)? }.validated(offset)
}

impl Directory {
    /// Returns the directory if it ends at or before offset `end` and is within the limits.
    fn validated(self, end: u64) -> Result<Directory, ZipError> {
        if self.offset.checked_add(self.bytes).is_none_or(|last| last > end) {
            Err(ZipError::Misplaced("the directory", self.offset))
        } else if self.members > MAX_MEMBERS {
            Err(ZipError::TooMany(self.members))
        } else if self.bytes > MAX_DIRECTORY {
            Err(ZipError::DirectoryTooLarge(self.bytes))
        } else {
            Ok(self)
        }
    }
}

/// Incremental reader of the directory's entries.
pub struct DirectoryReader {
    directory: Directory,
    /// Bytes of the directory read so far.
    position: usize,
    entries_left: u64,
}

impl DirectoryReader {
    /// Creates a reader that starts at the first entry.
    pub fn new(directory: Directory) -> DirectoryReader {
        DirectoryReader { directory, position: 0, entries_left: directory.members }
    }

    /// Returns the number of directory bytes read so far.
    pub fn bytes_read(&self) -> usize {
        self.position
    }

    /// Returns the next member, or `None` after the last one. `bytes` is the whole directory.
    ///
    /// # Errors
    /// Returns an error if the directory is truncated, or a member is outside the file.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Option<Entry>, ZipError> {
        let Some(left) = self.entries_left.checked_sub(1) else { return Ok(None) };
        let lost = || ZipError::Misplaced("a directory entry", self.directory.offset + self.position as u64);
        let header = bytes.get(self.position..).filter(|header| header.starts_with(b"PK\x01\x02")).ok_or_else(lost)?;
        let (entry, length) = parse_entry(header).ok_or_else(lost)?;
        if entry.offset.checked_add(entry.packed).is_none_or(|end| end > self.directory.offset) {
            return Err(ZipError::Misplaced("a member", entry.offset));
        }
        (self.position, self.entries_left) = (self.position + length, left);
        Ok(Some(entry))
    }
}

/// Parses the directory entry at the start of `header` and returns it with its length. Returns `None` if the entry is
/// truncated.
fn parse_entry(header: &[u8]) -> Option<(Entry, usize)> {
    let field = |at, width| read_number(header, at, width);
    let length = |at| field(at, 2).map(|length| length as usize);
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let extra_at = DIRECTORY_ENTRY_BYTES + name;
    let name = printable(header.get(DIRECTORY_ENTRY_BYTES..extra_at)?);
    let mut wide = zip64_fields(header.get(extra_at..extra_at + extra)?);
    // zip64 stores the numbers that do not fit into four bytes, in this order.
    let mut or_wide = |number: u64| if number == 0xffff_ffff { wide.next() } else { Some(number) };
    let (unpacked, packed, offset) = (or_wide(field(24, 4)?)?, or_wide(field(20, 4)?)?, or_wide(field(42, 4)?)?);
    let method = match (field(8, 2)? & 1, field(10, 2)?) {
        (1, _) => Method::Encrypted,
        (_, 0) => Method::Stored,
        (_, 8) => Method::Deflate,
        (_, 9) => Method::Deflate64,
        (_, 93) => Method::Zstd,
        (_, other) => Method::Other(other as u16),
    };
    let crc = field(16, 4)? as u32;
    let length = extra_at + extra + comment;
    Some((Entry { name, packed, unpacked, offset, method, crc }, length))
}

/// Returns a name for display. Control characters are replaced, because a terminal could interpret them. Overlong names
/// are cut at the start, because the end of a path is more specific.
pub(super) fn printable(name: &[u8]) -> String {
    let end = name.len().checked_sub(MAX_NAME_BYTES).and_then(|start| name.get(start..)).unwrap_or(name);
    let letter = |letter: char| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    String::from_utf8_lossy(end).chars().map(letter).collect()
}

/// Returns the numbers of the zip64 extra field, if any.
fn zip64_fields(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found: &[u8] = &[];
    while let (Some(id), Some(length)) = (read_number(extra, 0, 2), read_number(extra, 2, 2)) {
        let end = 4 + length as usize;
        if id == 1 {
            found = extra.get(4..end).unwrap_or_default();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    found.chunks_exact(8).filter_map(|bytes| read_number(bytes, 0, 8))
}

impl Entry {
    /// Returns the offset of the packed bytes in the file. `header` is the member's local header of [`HEADER_BYTES`]
    /// bytes, and `length` is the length of the file.
    ///
    /// # Errors
    /// Returns an error if the local header is invalid.
    pub fn data_offset(&self, header: &[u8], length: u64) -> Result<u64, ZipError> {
        let lengths = read_number(header, 26, 2).zip(read_number(header, 28, 2));
        let lengths = lengths.filter(|_| header.starts_with(b"PK\x03\x04"));
        let begin = lengths.map(|(name, extra)| self.offset + HEADER_BYTES as u64 + name + extra);
        // The directory begins after the packed bytes, but that check did not include the member's name.
        let begin = begin.filter(|begin| begin.saturating_add(self.packed) <= length);
        begin.ok_or(ZipError::Misplaced("a member", self.offset))
    }

    /// Creates an unpacker for the packed bytes.
    ///
    /// # Errors
    /// Returns an error if the compression method is not supported, or the member is encrypted.
    pub(super) fn unpacker(&self) -> Result<Box<dyn Unpacker>, ZipError> {
        let inflate = match self.method {
            Method::Stored | Method::Zstd => Decompressor::Stored,
            Method::Deflate => Decompressor::Deflate(Decompress::new(false)),
            Method::Deflate64 => Decompressor::Deflate64(Box::new(InflaterManaged::new())),
            Method::Encrypted => return Err(ZipError::Encrypted(self.name.clone())),
            Method::Other(method) => return Err(ZipError::Method(self.name.clone(), method)),
        };
        // zstd is a layer of its own, and the directory's size and checksum apply to its output.
        let expected = (self.method != Method::Zstd).then_some((self.unpacked, self.crc));
        Ok(Box::new(MemberUnpacker {
            inflate,
            is_finished: false,
            written: 0,
            check: Crc32::new(),
            expected,
            has_trailing_bytes: false,
        }))
    }
}
