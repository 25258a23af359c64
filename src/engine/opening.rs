//! Opens a file without linking the code that answers queries, for callers that read the history directly.

use super::Engine;
use super::crop::{Crop, CropError, Cropped, SimulatedRun, SimulatedSummary};
use super::loading::Loading;
use super::open::OpenFile;
use super::side::Side;
use analysis::CategorySet;
use analysis::category::compiled::CompiledSet;
use base::slice::TimeSlice;
use history::compact::WriteError;
use intake::Loader;
use protocol::{Access, FileSummary, LeaveOut, LoadRange, Member, NeededBytes};
use std::io::Write;
use std::sync::Arc;

/// Time-sliced loader of a file, without code that answers queries.
pub struct Opening(Loading);

impl Opening {
    /// Starts loading a file of `total_bytes`. `member` is the index of the snapshot to open if the file has several.
    /// The file is rejected if its tables take more than `memory` bytes.
    pub fn new(name: String, total_bytes: u64, member: Option<u32>, memory: u64) -> Opening {
        Opening(Loading::new(Loader::new(name, Some(total_bytes), Access::Random, member, memory)))
    }

    /// Sets the range of events to load.
    #[must_use]
    pub fn with_range(self, load: LoadRange) -> Opening {
        Opening(Loading::new(self.0.loader.with_range(load)))
    }

    /// Makes the loader leave out texts of these kinds. Call this before the first bytes are fed.
    pub fn leave_out(&mut self, what: LeaveOut) {
        self.0.loader.leave_out(what);
    }

    /// Feeds the bytes from the position that [`Opening::wants`] returned. An empty chunk marks the end of the file.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        match chunk.is_empty() {
            true => self.0.loader.end(),
            false => self.0.loader.feed(chunk),
        }
    }

    /// Returns the position of the bytes that are needed next. `None` while the last chunk is not consumed.
    pub fn wants(&self) -> Option<NeededBytes> {
        self.0.loader.wants()
    }

    /// Returns the list of snapshots if the file has several. Later calls return `None`.
    pub fn take_members(&mut self) -> Option<Vec<Member>> {
        self.0.loader.take_members()
    }

    /// Continues loading the file. Returns the open file (`Some`) when it is complete, or `None` if more bytes are
    /// needed or the time slice is used up.
    ///
    /// # Errors
    /// Returns a message if the file is not a snapshot, is damaged, or takes too much memory.
    pub fn step(&mut self, slice: &mut TimeSlice<'_>) -> Result<Option<OpenedFile>, String> {
        Ok(self.0.step(slice)?.map(OpenedFile))
    }
}

/// Opens the output of [`Engine::write_columns`](super::Engine::write_columns) in a single call. Code for other formats
/// is not linked. `read` fills the buffer from its start and returns the number of bytes, or 0 at the end.
///
/// # Errors
/// Returns the error if `read` fails, or a message if the input is not in this format.
pub fn open_columns(
    name: String,
    read: &mut dyn FnMut(&mut [u8]) -> Result<usize, String>,
) -> Result<OpenedFile, String> {
    let mut file = Box::new(OpenFile::new(intake::read_columns(name, read)?));
    while file.build_groups(&mut TimeSlice::new(&mut || true)).is_err() {}
    Ok(OpenedFile(file))
}

/// A file that was opened without the code that answers queries.
pub struct OpenedFile(Box<OpenFile>);

impl OpenedFile {
    /// Takes the open file out of an engine. The result does not link the code that answers queries.
    pub fn from_engine(engine: Engine) -> Option<OpenedFile> {
        engine.file.map(OpenedFile)
    }

    /// Writes a cache file that can be opened in place of the original.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::write_cache`](super::Engine::write_cache).
    pub fn write_cache<W: Write>(&self, out: W) -> Result<W, WriteError> {
        self.0.write_cache(&[], out)
    }

    /// Writes the file as columns.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::write_columns`](super::Engine::write_columns).
    pub fn write_columns<W: Write>(&self, out: W) -> Result<W, WriteError> {
        self.0.write_columns(out)
    }

    pub fn summary(&self) -> FileSummary {
        self.0.summary()
    }

    /// Computes data that a [`Side`] provides: the category of each allocation by these rules, and reserved memory over
    /// time.
    pub fn prepare(&mut self, categories: &CategorySet) {
        self.0.set_categories(Arc::new(CompiledSet::new(categories)));
        self.0.prepare_all();
    }

    /// Writes a range of the file's events as a pickle.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::crop`](super::Engine::crop).
    pub fn crop(&mut self, crop: &Crop, out: impl Write) -> Result<Cropped, CropError> {
        self.0.crop(crop, out)
    }

    /// Writes a simulated run as a pickle.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::write_simulated`](super::Engine::write_simulated).
    pub fn write_simulated(&mut self, run: &SimulatedRun, out: impl Write) -> Result<SimulatedSummary, CropError> {
        self.0.write_simulated(run, out)
    }

    /// Returns the data of the device with this ordinal.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        self.0.side(device)
    }
}
