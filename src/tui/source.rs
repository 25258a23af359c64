//! Access to files, implemented by the program that runs the terminal interface.

use crate::ranks::SurveyFile;
use engine::{Engine, NeededBytes};
use protocol::Access;
use std::io;
use std::path::{Path, PathBuf};

/// An open file or pipe.
pub trait Source {
    /// Returns the length in bytes, or `None` if it is unknown, as for a pipe.
    fn total_bytes(&self) -> Option<u64>;

    /// Returns whether the engine can seek in the source.
    fn access(&self) -> Access;

    /// Seeks to the start. Does nothing if the source cannot seek.
    ///
    /// # Errors
    /// Returns the I/O error of the seek.
    fn rewind(&mut self) -> io::Result<()>;

    /// Reads the next bytes that the engine needs. Returns an empty vector at the end. Never called with
    /// [`NeededBytes::WholeFile`].
    ///
    /// # Errors
    /// Returns the I/O error of the read.
    fn chunk(&mut self, want: NeededBytes) -> io::Result<Vec<u8>>;

    /// Copies the whole input to a file, so that the engine can seek in it.
    ///
    /// # Errors
    /// Returns the I/O error of the copy.
    fn copy_to_file(&mut self) -> io::Result<()>;

    /// Called when the file is closed. May write the data decoded by `engine` to a cache.
    fn on_close(self: Box<Self>, engine: Engine);
}

/// Access to the file system.
pub trait Disk {
    /// Opens a path.
    ///
    /// # Errors
    /// Returns the I/O error if the path cannot be opened.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>>;

    /// Returns the files in a folder that may be snapshots, or the path itself if it is a file.
    fn snapshots(&self, path: &Path) -> Vec<Found>;

    /// Returns the function that scans the snapshot in a file, for the comparison of ranks. The function is called on
    /// another thread.
    fn survey_function(&self) -> SurveyFile;
}

/// A file that may be a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Name for display: the file name, or the path relative to the folder.
    pub name: String,
}
