//! Access to files, provided by the program that embeds the terminal application.

use crate::ranks::SurveyFile;
use engine::protocol::Access;
use engine::{Engine, NeededBytes};
use std::io;
use std::path::{Path, PathBuf};

/// An open file or pipe.
pub trait Source {
    /// Returns the length in bytes, or `None` if unknown.
    fn total_bytes(&self) -> Option<u64>;

    /// Returns whether the engine can seek in the source.
    fn access(&self) -> Access;

    /// Seeks to the start, if possible.
    ///
    /// # Errors
    /// Returns the I/O error of the seek.
    fn rewind(&mut self) -> io::Result<()>;

    /// Reads the bytes that the engine wants next. Returns no bytes at the end. Never called with
    /// [`NeededBytes::WholeFile`].
    ///
    /// # Errors
    /// Returns the I/O error of the read.
    fn chunk(&mut self, want: NeededBytes) -> io::Result<Vec<u8>>;

    /// Copies the whole input, so that the engine can seek in it.
    ///
    /// # Errors
    /// Returns the I/O error of the copy.
    fn copy_to_file(&mut self) -> io::Result<()>;

    /// Called when the file is closed. The implementation may cache what `engine` has decoded.
    fn on_close(self: Box<Self>, engine: Engine);
}

/// Access to the file system.
pub trait Disk {
    /// Opens a path.
    ///
    /// # Errors
    /// Returns the I/O error if the path cannot be opened.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>>;

    /// Returns the path itself if it is a file, or the files in a folder that may be snapshots.
    fn snapshots(&self, path: &Path) -> Vec<Found>;

    /// Returns the function that surveys a file for the comparison of ranks. It is called on another thread.
    fn survey_function(&self) -> SurveyFile;
}

/// A file that may be a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// File name, or path relative to the folder.
    pub name: String,
}
