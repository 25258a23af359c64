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
}

impl LoadedFile {
    /// Takes the histories of a complete replay.
    pub(crate) fn new(name: String, format: String, snapshot: Snapshot, builder: Builder) -> LoadedFile {
        let (histories, warnings) = builder.finish();
        LoadedFile { name, format, snapshot, histories, warnings }
    }
}
