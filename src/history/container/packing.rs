//! Compression and wrapping formats, recognized by their first bytes.

use super::gzip::Gzip;
use super::html::Html;
use super::layer::Unpacker;
use super::tar::Tar;
use super::torch_save::TorchSave;
use super::utf16::{ByteOrder, Utf16};
use super::zlib::Zlib;
use super::zstd::Zstd;

/// Compression or wrapping format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// gzip (RFC 1952).
    Gzip,
    /// zstd (RFC 8878).
    Zstd,
    /// Page written by PyTorch's memory viewer or by memscape.
    Html,
    /// zlib (RFC 1950).
    Zlib,
    Utf16(ByteOrder),
    /// File of `torch.save` before PyTorch 1.6.
    TorchSave,
    Tar,
}

impl Packing {
    /// Returns the name of the format, for messages and the summary.
    pub(super) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Html => "HTML",
            Packing::Zlib => "zlib",
            Packing::Utf16(_) => "UTF-16",
            Packing::TorchSave => "torch.save",
            Packing::Tar => "tar",
        }
    }

    /// Creates an unpacker of the format. `member` is the index of the snapshot to unpack from an archive, and
    /// `is_snapshot` recognizes snapshots among its members by their first bytes.
    pub(super) fn unpacker(self, member: u32, is_snapshot: fn(&[u8]) -> bool) -> Box<dyn Unpacker> {
        match self {
            Packing::Gzip => Box::new(Gzip::new()),
            Packing::Zstd => Box::new(Zstd::new()),
            Packing::Html => Box::new(Html::new()),
            Packing::Zlib => Box::new(Zlib::new()),
            Packing::Utf16(order) => Box::new(Utf16::new(order)),
            Packing::TorchSave => Box::new(TorchSave::default()),
            Packing::Tar => Box::new(Tar::new(member, is_snapshot)),
        }
    }
}
