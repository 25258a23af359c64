//! Recognition of formats by their first bytes.

use super::packing::Packing;
use super::{tar, torch_save, utf16, zlib, zstd};

/// Format of the content inside all layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Pickle,
    /// JSON, possibly after a byte order mark.
    Json,
    Columns,
}

/// First bytes of a file of compact columns, memscape's own format.
pub const COLUMNS_MAGIC: &[u8; 16] = b"memscape columns";

/// Keys that identify JSON as a snapshot. Each snapshot has at least one of them near its beginning.
pub const SNAPSHOT_KEYS: [&[u8]; 5] =
    [b"\"segments\"", b"\"device_traces\"", b"\"allocator_settings\"", b"\"blocks\"", b"\"total_size\""];

/// Format that a file's first bytes indicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    Unsure,
    Packed(Packing),
    Content(Content),
    /// Another format, which is not a snapshot.
    OtherFormat(&'static str),
    Unknown(u8),
}

/// Number of bytes that are enough to identify every format except tar. If fewer bytes are available, more may be
/// needed to decide.
const HEAD_BYTES: usize = 26;

/// Magic bytes of formats that people open by mistake.
const OTHER_FORMATS: [(&[u8], &str); 17] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite f", "an SQLite database"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "an ELF program"),
    (b"\xfd7zXZ", "an xz stream"),
    (b"BZh", "a bzip2 stream"),
    (b"\x5d\x00\x00", "an LZMA stream"),
    (b"\x04\x22\x4d\x18", "an LZ4 stream"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"PAR1", "a Parquet file"),
];

/// Maximum number of whitespace bytes skipped before JSON or HTML.
const MAX_LEADING_BLANKS: usize = 4 << 10;

/// UTF-8 byte order mark, which some Windows editors write.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Identifies a file by its first bytes. Returns `Unsure` if more bytes are needed.
pub(super) fn sniff(head: &[u8]) -> Sniffed {
    if strip_blanks(head).len() < HEAD_BYTES && head.len() < MAX_LEADING_BLANKS {
        return Sniffed::Unsure;
    }
    match sniff_all(head) {
        Sniffed::Unknown(_) if head.len() < tar::BLOCK => Sniffed::Unsure,
        sniffed => sniffed,
    }
}

/// Identifies a file by `head`, which is either the whole file or long enough to identify every format.
pub(super) fn sniff_all(head: &[u8]) -> Sniffed {
    if let Some((_, noun)) = OTHER_FORMATS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Sniffed::OtherFormat(noun);
    }
    if let Some(order) = utf16::byte_order(head) {
        return Sniffed::Packed(Packing::Utf16(order));
    }
    match (head, strip_blanks(head)) {
        ([], _) => Sniffed::Unsure,
        (_, [b'{' | b'[', ..]) => Sniffed::Content(Content::Json),
        (_, [b'<', ..]) => Sniffed::Packed(Packing::Html),
        ([0x1f, 0x8b, ..], _) => Sniffed::Packed(Packing::Gzip),
        _ if head.starts_with(COLUMNS_MAGIC) => Sniffed::Content(Content::Columns),
        _ if zstd::is_frame(head) => Sniffed::Packed(Packing::Zstd),
        _ if zlib::is_stream(head) => Sniffed::Packed(Packing::Zlib),
        _ if torch_save::is_legacy(head) => Sniffed::Packed(Packing::TorchSave),
        ([0x80, ..], _) => Sniffed::Content(Content::Pickle),
        // Protocols 0 and 1 have no magic number: a list or a dict that enters the memo at once.
        ([b'(', b'l' | b'd', b'p', ..] | [b']' | b'}', b'q', ..], _) => Sniffed::Content(Content::Pickle),
        _ if tar::is_archive(head) => Sniffed::Packed(Packing::Tar),
        ([byte, ..], _) => Sniffed::Unknown(*byte),
    }
}

/// Strips a byte order mark and leading whitespace.
fn strip_blanks(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start()
}

/// Returns whether a member of an archive with these first bytes is worth opening. Pages are made from snapshots, which
/// lie next to them, and JSON is often something else.
pub(super) fn looks_like_snapshot(head: &[u8]) -> bool {
    match sniff_all(head) {
        Sniffed::Content(Content::Json) => {
            SNAPSHOT_KEYS.iter().any(|key| head.windows(key.len()).any(|part| part == *key))
        }
        Sniffed::Content(_) => true,
        Sniffed::Packed(packing) => !matches!(packing, Packing::Html | Packing::Tar),
        _ => false,
    }
}
