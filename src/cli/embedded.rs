//! Encodes a snapshot for embedding in a page. Uses the smallest of three forms: the compressed file itself, the
//! gzipped file, or gzipped columns.

use super::input::Input;
use super::opening::left_out;
use base::units::Bytes;
use engine::{Engine, NeededBytes};
use flate2::Compression;
use flate2::write::GzEncoder;
use history::compact::WriteError;
use history::container::Container;
use std::io::{self, Write};
use ui::features::save_page::{MAX_SNAPSHOT_BYTES, compression};

/// An encoded snapshot.
#[derive(Debug, PartialEq)]
pub(crate) struct EmbeddedSnapshot {
    /// Size in bytes before compression: of the file, or of the snapshot extracted from it.
    pub(crate) raw_bytes: u64,
    /// Description of the encoding, for users.
    pub(crate) encoding: &'static str,
    /// Encoded bytes, before base64.
    pub(crate) bytes: Vec<u8>,
}

impl EmbeddedSnapshot {
    /// Encodes a file that is open in `engine`.
    ///
    /// # Errors
    /// Returns an error message if the file cannot be read, or is too large in every encoding.
    pub(crate) fn encode(input: &mut Input, engine: &Engine) -> Result<EmbeddedSnapshot, String> {
        let columns = match engine
            .write_columns(GzEncoder::new(LimitedBuffer::with_limit(MAX_SNAPSHOT_BYTES), Compression::best()))
        {
            Ok(gzip) => Ok(gzip.finish().map_err(|error| error.to_string())?.bytes),
            Err(WriteError::Unsupported(why)) => Err(why),
            Err(_) => Err("the columns are too large for a page"),
        };
        if left_out().is_some() {
            // The file itself has the texts that are left out.
            let raw_bytes = input.total_bytes().unwrap_or_default();
            return columns
                .map(|bytes| EmbeddedSnapshot { raw_bytes, encoding: "gzipped columns", bytes })
                .map_err(str::to_owned);
        }
        let file = EmbeddedSnapshot::encode_file(input, columns.as_ref().map_or(MAX_SNAPSHOT_BYTES, Vec::len));
        match (file, columns) {
            (Ok(Some(file)), _) => Ok(file),
            (Ok(None), Ok(bytes)) => {
                let raw_bytes = input.total_bytes().unwrap_or(bytes.len() as u64);
                Ok(EmbeddedSnapshot { raw_bytes, encoding: "gzipped columns", bytes })
            }
            // The page cannot open an archive that is embedded in it.
            (Ok(None), Err(why)) => Err(format!("{why}: unpack the zip archive, and name the file inside")),
            (Err(error), _) => Err(error.to_string()),
        }
    }

    /// Encodes the file itself, gzipped unless already compressed. Returns `None` if it is a zip archive or the result
    /// exceeds `max_bytes`.
    fn encode_file(input: &mut Input, max_bytes: usize) -> io::Result<Option<EmbeddedSnapshot>> {
        input.rewind()?;
        let mut chunk = input.chunk(NeededBytes::Next)?;
        let mut out = LimitedBuffer::with_limit(max_bytes);
        let (raw_bytes, encoding) = match compression(&chunk) {
            Some("zip") => return Ok(None),
            Some(how) => {
                while !chunk.is_empty() && out.write_all(&chunk).is_ok() {
                    chunk = input.chunk(NeededBytes::Next)?;
                }
                (out.bytes.len() as u64, how)
            }
            None => {
                let mut gzip = GzEncoder::new(&mut out, Compression::best());
                let raw_bytes_read = write_unpacked(input, chunk, &mut gzip)?;
                // Fails if `out` is full, which is checked below.
                let _ = gzip.finish();
                (raw_bytes_read, "gzip")
            }
        };
        match (out.is_full, max_bytes) {
            (false, _) => Ok(Some(EmbeddedSnapshot { raw_bytes, encoding, bytes: out.bytes })),
            (true, MAX_SNAPSHOT_BYTES) => {
                Err(io::Error::other(format!("larger than {}", Bytes(MAX_SNAPSHOT_BYTES as u64))))
            }
            (true, _) => Ok(None),
        }
    }
}

/// Writes the decompressed contents of a file to `out`, and returns the number of bytes. `chunk` contains the first
/// bytes of the file. Stops early when `out` is full. From an HTML page written by PyTorch, only the embedded snapshot
/// is written: a third smaller, and it compresses better.
fn write_unpacked(input: &mut Input, mut chunk: Vec<u8>, out: &mut impl Write) -> io::Result<u64> {
    let (mut container, mut written) = (Container::default(), 0);
    loop {
        match container.pull().map_err(io::Error::other)? {
            Some(bytes) => {
                written += bytes.len() as u64;
                if out.write_all(bytes).is_err() {
                    return Ok(written);
                }
            }
            None if chunk.is_empty() => return Ok(written),
            None => {
                container.feed(chunk);
                chunk = input.chunk(NeededBytes::Next)?;
                if chunk.is_empty() {
                    container.finish_input();
                }
            }
        }
    }
}

/// A buffer with a maximum size.
struct LimitedBuffer {
    bytes: Vec<u8>,
    max_bytes: usize,
    is_full: bool,
}

impl LimitedBuffer {
    fn with_limit(max_bytes: usize) -> LimitedBuffer {
        LimitedBuffer { bytes: Vec::new(), max_bytes, is_full: false }
    }
}

impl Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > self.max_bytes;
        if self.is_full {
            return Err(io::Error::other(format!(
                "larger than {}, the limit of browsers for one page: share the file itself",
                Bytes(self.max_bytes as u64)
            )));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/units/cli/carried.rs"]
mod tests;
