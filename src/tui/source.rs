//! Where the bytes of a snapshot come from: whoever starts the terminal's shell knows files, it does not.

use crate::ranks::SurveyFile;
use engine::protocol::Access;
use engine::{Engine, Want};
use std::io;
use std::path::{Path, PathBuf};

/// An open file or pipe.
pub trait Source {
    /// Its length in bytes, where known.
    fn total_bytes(&self) -> Option<u64>;

    /// How its bytes can be reached.
    fn access(&self) -> Access;

    /// Begins at the first byte again, where that can be done.
    ///
    /// # Errors
    /// The system's.
    fn rewind(&mut self) -> io::Result<()>;

    /// The bytes that the engine wants; none at the end. Never asked for [`Want::Whole`].
    ///
    /// # Errors
    /// The system's.
    fn chunk(&mut self, want: Want) -> io::Result<Vec<u8>>;

    /// Keeps all of it, so that it can be read anywhere.
    ///
    /// # Errors
    /// The system's.
    fn keep_whole(&mut self) -> io::Result<()>;

    /// The shell is done with the file, which this engine has open: what was decoded may be kept until it is opened again.
    fn keep(self: Box<Self>, engine: Engine);
}

/// What opens files, and finds those of a folder.
pub trait Disk {
    /// Opens a path.
    ///
    /// # Errors
    /// The system's.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>>;

    /// The file itself, or what in a folder may be a snapshot.
    fn snapshots(&self, path: &Path) -> Vec<Found>;

    /// What surveys a file to compare it with those of other ranks. It is called by a thread of its own.
    fn survey(&self) -> SurveyFile;
}

/// A file that may be a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Its name, or its path below the folder.
    pub name: String,
}
