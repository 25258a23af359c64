//! The ways of packing that are known by the first bytes of what is packed.

use super::gzip::Gzip;
use super::html::Html;
use super::layer::Unpacker;
use super::zstd::Zstd;

/// One way of packing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// A page of PyTorch's.
    Html,
}

impl Packing {
    /// Its name, in messages and in the summary.
    pub(super) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Html => "HTML",
        }
    }

    /// Undoes it, from the start.
    pub(super) fn unpacker(self) -> Box<dyn Unpacker> {
        match self {
            Packing::Gzip => Box::new(Gzip::new()),
            Packing::Zstd => Box::new(Zstd::new()),
            Packing::Html => Box::new(Html::new()),
        }
    }
}
