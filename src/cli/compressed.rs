//! Output files that are compressed with gzip or zstd, depending on their extension.

use super::output_file::{OutputFile, OutputWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;
use zstd::Encoder;

/// A writer for an output file, with or without compression.
pub(crate) enum CompressedWriter {
    Plain(OutputWriter),
    Gzip(GzEncoder<OutputWriter>),
    Zstd(Encoder<'static, OutputWriter>),
}

/// Compression of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompressionKind {
    Plain,
    Gzip,
    Zstd,
}

impl CompressionKind {
    /// Returns the compression for the extension of a file name.
    pub(crate) fn from_path(path: &Path) -> CompressionKind {
        match path.extension() {
            Some(ending) if ending.eq_ignore_ascii_case("gz") => CompressionKind::Gzip,
            Some(ending) if ending.eq_ignore_ascii_case("zst") => CompressionKind::Zstd,
            _ => CompressionKind::Plain,
        }
    }
}

impl CompressedWriter {
    /// Creates a writer for `out` with the given compression. See [`OutputFile::create`].
    ///
    /// # Errors
    /// Returns the same errors as [`OutputFile::create`].
    pub(crate) fn create(out: &OutputFile, compression: CompressionKind) -> io::Result<CompressedWriter> {
        let writer = out.create()?;
        Ok(match compression {
            CompressionKind::Plain => CompressedWriter::Plain(writer),
            CompressionKind::Gzip => CompressedWriter::Gzip(GzEncoder::new(writer, Compression::default())),
            // 0 is zstd's default level.
            CompressionKind::Zstd => CompressedWriter::Zstd(Encoder::new(writer, 0)?),
        })
    }

    /// Flushes the compressor and moves the file to its final path.
    ///
    /// # Errors
    /// Returns the I/O error if the file cannot be written or moved.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            CompressedWriter::Plain(written) => written.finish(),
            CompressedWriter::Gzip(gzip) => gzip.finish()?.finish(),
            CompressedWriter::Zstd(zstd) => zstd.finish()?.finish(),
        }
    }
}

impl Write for CompressedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            CompressedWriter::Plain(out) => out.write(bytes),
            CompressedWriter::Gzip(out) => out.write(bytes),
            CompressedWriter::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            CompressedWriter::Plain(out) => out.flush(),
            CompressedWriter::Gzip(out) => out.flush(),
            CompressedWriter::Zstd(out) => out.flush(),
        }
    }
}
