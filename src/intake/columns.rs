//! Loads files in the column format without linking the decoders of other formats.

use super::loaded_file::LoadedFile;
use base::slice::TimeSlice;
use history::compact::ColumnReader;
use history::replay::{Builder, Recorder};

/// Loads columns in a single call. `read` fills the buffer from its start and returns the number of bytes, or 0 at the
/// end.
///
/// # Errors
/// Returns the error if `read` fails, or a message if the input is not in this format.
pub fn read_columns(
    name: String,
    read: &mut dyn FnMut(&mut [u8]) -> Result<usize, String>,
) -> Result<LoadedFile, String> {
    let mut reader = ColumnReader::new(Recorder::default());
    let mut buffer = vec![0; 1 << 18];
    loop {
        let length = read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        reader.feed(bytes).map_err(|error| error.to_string())?;
        while reader.step() {}
    }
    let format = reader.format().to_owned();
    let (read, recorder) = reader.finish().map_err(|error| error.to_string())?;
    let snapshot = read.snapshot;
    let mut builder = Builder::new(&snapshot, recorder);
    while builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).is_err() {}
    Ok(LoadedFile::new(name, format, snapshot, builder))
}
