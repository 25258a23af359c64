//! Result of loading a file.

use history::replay::{Builder, DeviceHistory};
use history::snapshot::{Snapshot, Warnings};

/// A file that is decoded and replayed.
pub struct LoadedFile {
    pub name: String,
    /// Formats of the file, from the outermost to the innermost.
    pub format: String,
    pub snapshot: Snapshot,
    pub histories: Vec<DeviceHistory>,
    /// Warnings about the histories. Those about the content of the file are in the snapshot.
    pub warnings: Warnings,
    /// Results of the program that wrote the file, if it is a cache file.
    pub results: Vec<u8>,
}

impl LoadedFile {
    /// Takes the histories of a complete replay.
    pub(crate) fn new(name: String, format: String, snapshot: Snapshot, mut builder: Builder) -> LoadedFile {
        let results = builder.take_results();
        let (histories, warnings) = builder.finish();
        LoadedFile { name, format, snapshot, histories, warnings, results }
    }
}
