//! Opens one file and answers nothing about it: for who reads the history himself, and links none of the code that answers questions.

use super::intake::Intake;
use super::loader::Loader;
use super::open::OpenFile;
use super::protocol::{Access, FileSummary, Member, Want};
use super::side::Side;
use base::slice::Slice;

/// A file on its way in.
pub struct Opening(Loader);

impl Opening {
    /// A file of so many bytes, and which snapshot of it; it is refused where its tables take more than `memory` bytes.
    pub fn new(name: String, total_bytes: u64, member: Option<u32>, memory: u64) -> Opening {
        Opening(Loader::new(name, Intake::new(Some(total_bytes), Access::Anywhere, member), memory))
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

/// An open file.
pub struct Opened(OpenFile);

impl Opened {
    /// What is in it.
    pub fn summary(&self) -> FileSummary {
        self.0.summary()
    }

    /// The device with this ordinal.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        Some(Side { file: &self.0, history: self.0.history(device)? })
    }
}
