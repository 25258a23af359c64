//! Output files that are compressed with gzip or zstd, depending on their name.

use super::output_file::{OutputFile, OutputWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;
use zstd::Encoder;

/// A writer for an output file, with or without compression.
pub(crate) enum Packed {
    Plain(OutputWriter),
    Gzip(GzEncoder<OutputWriter>),
    Zstd(Encoder<'static, OutputWriter>),
}

/// Compression of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    /// Chooses the compression by the extension of a file name.
    pub(crate) fn of(path: &Path) -> Packing {
        match path.extension() {
            Some(ending) if ending.eq_ignore_ascii_case("gz") => Packing::Gzip,
            Some(ending) if ending.eq_ignore_ascii_case("zst") => Packing::Zstd,
            _ => Packing::Plain,
        }
    }
}

impl Packed {
    /// Starts writing `out`. See [`OutputFile::create`].
    ///
    /// # Errors
    /// Same as [`OutputFile::create`].
    pub(crate) fn create(out: &OutputFile, packing: Packing) -> io::Result<Packed> {
        let written = out.create()?;
        Ok(match packing {
            Packing::Plain => Packed::Plain(written),
            Packing::Gzip => Packed::Gzip(GzEncoder::new(written, Compression::default())),
            // 0 is zstd's default level.
            Packing::Zstd => Packed::Zstd(Encoder::new(written, 0)?),
        })
    }

    /// Flushes the compressor and moves the file to its final path.
    ///
    /// # Errors
    /// Returns the I/O error if the file cannot be written or moved.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Packed::Plain(written) => written.finish(),
            Packed::Gzip(gzip) => gzip.finish()?.finish(),
            Packed::Zstd(zstd) => zstd.finish()?.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(out) => out.write(bytes),
            Packed::Gzip(out) => out.write(bytes),
            Packed::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.flush(),
            Packed::Gzip(out) => out.flush(),
            Packed::Zstd(out) => out.flush(),
        }
    }
}
