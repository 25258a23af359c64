//! What bytes are, told from the first of them.

use super::gzip;
use super::layer::Packing;

/// What is inside all layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A pickle of protocol 2 or later.
    Pickle,
}

/// What some bytes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// Too few to tell.
    Unsure,
    Packed(Packing),
    Content(Content),
    /// Something that is no snapshot.
    Other(&'static str),
    /// Nothing we know.
    Unknown(u8),
}

/// Bytes that tell every kind of file. With fewer the answer is certain only at the end of the file.
const HEAD: usize = 16;

/// What people drop by mistake, by its first bytes.
const OTHERS: [(&[u8], &str); 21] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd stream"),
    (b"{", "JSON"),
    (b"[", "JSON"),
    (b"<", "an HTML page"),
    // The first values of `torch.save` before PyTorch 1.6: its magic number, in a pickle of its own.
    (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "a checkpoint of torch.save"),
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
    (b"\x04\x22\x4d\x18", "an LZ4 stream"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"PAR1", "a Parquet file"),
];

/// What a file begins that begins with `head` and goes on.
pub(super) fn sniff(head: &[u8]) -> Sniffed {
    if head.len() < HEAD { Sniffed::Unsure } else { sniff_all(head) }
}

/// What a file is that is `head`, or that goes on after enough bytes to tell.
pub(super) fn sniff_all(head: &[u8]) -> Sniffed {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let other = OTHERS.iter().find(|(magic, _)| head.starts_with(magic) || text.starts_with(magic));
    match (head.first(), other) {
        (None, _) => Sniffed::Unsure,
        (_, Some((_, noun))) => Sniffed::Other(noun),
        _ if head.starts_with(&gzip::MAGIC) => Sniffed::Packed(Packing::Gzip),
        (Some(0x80), _) => Sniffed::Content(Content::Pickle),
        (Some(&byte), _) => Sniffed::Unknown(byte),
    }
}
