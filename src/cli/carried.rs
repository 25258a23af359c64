//! Encoding of a snapshot for embedding in a page: the smallest of the compressed file itself, the gzipped file, and
//! gzipped columns.

use super::input::Input;
use base::units::Bytes;
use engine::{Engine, Want};
use flate2::Compression;
use flate2::write::GzEncoder;
use history::compact::Unwritable;
use history::container::Container;
use std::io::{self, Write};
use ui::html::{MOST, packing};

/// An encoded snapshot.
#[derive(Debug, PartialEq)]
pub(crate) struct Carried {
    /// Number of bytes before compression: the length of the file, or of the snapshot extracted from it.
    pub(crate) taken: u64,
    /// Description of the encoding, for users.
    pub(crate) how: &'static str,
    /// Encoded bytes, before base64.
    pub(crate) bytes: Vec<u8>,
}

impl Carried {
    /// Encodes a file that is open in `engine`.
    ///
    /// # Errors
    /// Returns one sentence if the file cannot be read, or is too large in every encoding.
    pub(crate) fn of(input: &mut Input, engine: &Engine) -> Result<Carried, String> {
        let columns = match engine.write_columns(GzEncoder::new(Limited::to(MOST), Compression::best())) {
            Ok(gzip) => Ok(gzip.finish().map_err(|error| error.to_string())?.bytes),
            Err(Unwritable::Unfit(why)) => Err(why),
            Err(_) => Err("the columns are too large for a page"),
        };
        let file = Carried::of_file(input, columns.as_ref().map_or(MOST, Vec::len));
        match (file, columns) {
            (Ok(Some(file)), _) => Ok(file),
            (Ok(None), Ok(bytes)) => {
                let taken = input.total_bytes().unwrap_or(bytes.len() as u64);
                Ok(Carried { taken, how: "gzipped columns", bytes })
            }
            // The page cannot open an archive that is embedded in it.
            (Ok(None), Err(why)) => Err(format!("{why}: unpack the zip archive, and name the file inside")),
            (Err(error), _) => Err(error.to_string()),
        }
    }

    /// Encodes the file itself. Returns `None` if it is a zip archive or the result exceeds `most` bytes.
    fn of_file(input: &mut Input, most: usize) -> io::Result<Option<Carried>> {
        input.rewind()?;
        let mut chunk = input.chunk(Want::Next)?;
        let mut out = Limited::to(most);
        let (taken, how) = match packing(&chunk) {
            Some("zip") => return Ok(None),
            Some(how) => {
                while !chunk.is_empty() && out.write_all(&chunk).is_ok() {
                    chunk = input.chunk(Want::Next)?;
                }
                (out.bytes.len() as u64, how)
            }
            None => {
                let mut gzip = GzEncoder::new(&mut out, Compression::best());
                let taken = unpacked(input, chunk, &mut gzip)?;
                // Fails if `out` is full, which is checked below.
                let _ = gzip.finish();
                (taken, "gzip")
            }
        };
        match (out.is_full, most) {
            (false, _) => Ok(Some(Carried { taken, how, bytes: out.bytes })),
            (true, MOST) => Err(io::Error::other(format!("larger than {}", Bytes(MOST as u64)))),
            (true, _) => Ok(None),
        }
    }
}

/// Writes the contents of a file that begins with `chunk` until `out` is full, and returns the number of bytes. From an
/// HTML page of PyTorch only the snapshot is extracted, which is a third smaller and compresses better.
fn unpacked(input: &mut Input, mut chunk: Vec<u8>, out: &mut impl Write) -> io::Result<u64> {
    let (mut container, mut taken) = (Container::default(), 0);
    loop {
        match container.pull().map_err(io::Error::other)? {
            Some(bytes) => {
                taken += bytes.len() as u64;
                if out.write_all(bytes).is_err() {
                    return Ok(taken);
                }
            }
            None if chunk.is_empty() => return Ok(taken),
            None => {
                container.feed(chunk);
                chunk = input.chunk(Want::Next)?;
                if chunk.is_empty() {
                    container.end();
                }
            }
        }
    }
}

/// A buffer with a maximum size.
struct Limited {
    bytes: Vec<u8>,
    most: usize,
    is_full: bool,
}

impl Limited {
    fn to(most: usize) -> Limited {
        Limited { bytes: Vec::new(), most, is_full: false }
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > self.most;
        if self.is_full {
            return Err(io::Error::other(format!(
                "larger than {}, the limit of browsers for one page: share the file itself",
                Bytes(self.most as u64)
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
