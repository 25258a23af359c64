//! Compression and wrapping formats, recognized by their first bytes.

use super::gzip::Gzip;
use super::html::Html;
use super::layer::Unpacker;
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
}

impl Packing {
    /// Returns the name of the format, for messages and the summary.
    pub(super) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Html => "HTML",
        }
    }

    /// Creates an unpacker of the format.
    pub(super) fn unpacker(self) -> Box<dyn Unpacker> {
        match self {
            Packing::Gzip => Box::new(Gzip::new()),
            Packing::Zstd => Box::new(Zstd::new()),
            Packing::Html => Box::new(Html::new()),
        }
    }
}
