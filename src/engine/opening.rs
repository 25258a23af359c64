//! Opens one file and answers nothing about it: for who reads the history himself, and links none of the code that answers questions.

use super::Engine;
use super::crop::{Crop, CropError, Cropped, SimulatedRun, Written};
use super::intake::Intake;
use super::loader::Loader;
use super::open::OpenFile;
use super::protocol::{Access, FileSummary, LoadRange, Member, Want};
use super::side::Side;
use analysis::{CategorySet, Sites};
use base::slice::Slice;
use history::compact::{self, Unwritable};
use history::replay::{Builder, Recorder};
use std::io::Write;

/// A file on its way in.
pub struct Opening(Loader);

impl Opening {
    /// A file of so many bytes, and which snapshot of it; it is refused where its tables take more than `memory` bytes.
    pub fn new(name: String, total_bytes: u64, member: Option<u32>, memory: u64) -> Opening {
        Opening(Loader::new(name, Intake::new(Some(total_bytes), Access::Anywhere, member), memory))
    }

    /// The same, of which only these events are loaded.
    #[must_use]
    pub fn keeping(self, load: LoadRange) -> Opening {
        Opening(self.0.keeping(load))
    }

    /// Takes the bytes that it [wants](Opening::wants); none at the end.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        match chunk.is_empty() {
            true => self.0.end(),
            false => self.0.feed(chunk),
        }
    }

    /// Which bytes are needed next; `None` while the last are not used up.
    pub fn wants(&self) -> Option<Want> {
        self.0.wants()
    }

    /// The snapshots of a file that has several, once.
    pub fn take_members(&mut self) -> Option<Vec<Member>> {
        self.0.take_members()
    }

    /// Works until the file is open (`Some`), more bytes are needed or the time is up (`None`).
    ///
    /// # Errors
    /// It is no snapshot, it is broken, or it takes too much memory: one sentence.
    pub fn step(&mut self, slice: &mut Slice<'_>) -> Result<Option<Opened>, String> {
        self.0.step(slice).map(|file| file.map(Opened)).map_err(|error| self.0.message(&error))
    }
}

/// Opens what [`Engine::write_columns`](super::Engine::write_columns) wrote, all of it at once; no other format is linked. `read` fills the
/// buffer from its beginning, and says with how many bytes; none at the end.
///
/// # Errors
/// `read` fails, or these are no such columns: one sentence.
pub fn open_columns(name: String, read: &mut dyn FnMut(&mut [u8]) -> Result<usize, String>) -> Result<Opened, String> {
    let goes_on = &mut || true;
    let slice = &mut Slice::new(goes_on);
    let mut machine = compact::Machine::new(Recorder::default());
    let mut buffer = vec![0; 1 << 18];
    loop {
        let length = read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        machine.feed(bytes).map_err(|error| error.to_string())?;
        while machine.step() {}
    }
    let format = machine.format().to_owned();
    let (read, recorder) = machine.finish().map_err(|error| error.to_string())?;
    let snapshot = read.snapshot;
    let mut builder = Builder::new(&snapshot, recorder);
    while builder.step(&snapshot, slice).is_err() {}
    let (histories, warnings) = builder.finish();
    let sites = Sites::new(&snapshot);
    let mut file = OpenFile::new(name, format, snapshot, histories, warnings, sites);
    while file.index(slice).is_err() {}
    Ok(Opened(file))
}

/// An open file.
pub struct Opened(OpenFile);

impl Opened {
    /// The file that an engine has open, without what answers questions about it.
    pub fn of(engine: Engine) -> Option<Opened> {
        engine.file.map(|file| Opened(*file))
    }

    /// Writes what is to be read in place of the file: see [`Engine::write_kept`](super::Engine::write_kept).
    ///
    /// # Errors
    /// Those of that.
    pub fn write_kept<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        self.0.write_kept(out)
    }

    /// What is in it.
    pub fn summary(&self) -> FileSummary {
        self.0.summary()
    }

    /// Tells all that a [`Side`] can say of it: categories by these rules, and what was reserved when.
    pub fn prepare(&mut self, categories: &CategorySet) {
        self.0.set_categories(categories);
        self.0.prepare_whole();
    }

    /// Writes a range of it as a pickle; see [`Engine::crop`](super::Engine::crop).
    ///
    /// # Errors
    /// Those of that.
    pub fn crop(&mut self, crop: &Crop, out: impl Write) -> Result<Cropped, CropError> {
        self.0.crop(crop, out)
    }

    /// Writes a simulated run as a pickle; see [`Engine::write_simulated`](super::Engine::write_simulated).
    ///
    /// # Errors
    /// Those of that.
    pub fn write_simulated(&mut self, run: &SimulatedRun, out: impl Write) -> Result<Written, CropError> {
        self.0.write_simulated(run, out)
    }

    /// The device with this ordinal.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        Some(Side { file: &self.0, history: self.0.history(device)? })
    }
}
