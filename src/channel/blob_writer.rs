//! Output that is collected outside of wasm memory.

use js_sys::{Array, Uint8Array};
use std::io::{self, BufWriter, Write};
use web_sys::Blob;

/// Number of bytes that are passed to the browser at a time.
const PIECE: usize = 1 << 20;

/// Writer that collects its output in blobs, outside of wasm memory.
pub struct BlobWriter(Array);

impl BlobWriter {
    /// Creates an empty, buffered output.
    pub fn buffered() -> BufWriter<BlobWriter> {
        BufWriter::with_capacity(PIECE, BlobWriter(Array::new()))
    }

    /// Returns all output as one blob.
    ///
    /// # Errors
    /// Returns a message if the browser cannot store the output.
    pub fn finish(output: BufWriter<BlobWriter>) -> Result<Blob, String> {
        let BlobWriter(pieces) = output.into_inner().map_err(|error| error.to_string())?;
        Blob::new_with_blob_sequence(&pieces).map_err(|_| "the browser could not store the file".to_owned())
    }
}

impl Write for BlobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Array::of1(&Uint8Array::from(bytes));
        let piece =
            Blob::new_with_u8_array_sequence(&piece).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        self.0.push(&piece);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
