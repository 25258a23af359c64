//! Writes all tables of a snapshot to a SQLite file, or the table that MindStudio Insight opens.

use super::clock::now_ms;
use super::sources;
use crate::compressed::{CompressedWriter, CompressionKind};
use crate::output_file::OutputFile;
use crate::rules::CategoryRules;
use crate::temporary_file::TemporaryFile;
use sql::{Error, Limits, Queries};
use std::io;
use std::path::Path;

/// Maximum memory that SQLite may use while writing, in bytes.
const MAX_MEMORY: u64 = 1 << 30;

/// Writes all tables of a snapshot to `out`. The file is compressed if its name ends in `.gz` or `.zst`.
///
/// # Errors
/// Returns an error message if the snapshot cannot be read or the file cannot be written.
pub(crate) fn save_snapshot(snapshot: &Path, rules: &CategoryRules, out: &OutputFile) -> Result<(), String> {
    write(&queries(snapshot, rules)?, out, Queries::save)
}

/// Writes a file for MindStudio Insight to `out`, as [`save_snapshot`] does.
///
/// # Errors
/// Returns the same errors as [`save_snapshot`].
pub(crate) fn save_for_mindstudio(snapshot: &Path, rules: &CategoryRules, out: &OutputFile) -> Result<(), String> {
    write(&queries(snapshot, rules)?, out, Queries::save_for_mindstudio)
}

fn queries(snapshot: &Path, rules: &CategoryRules) -> Result<Queries, String> {
    let limits = Limits { seconds: 0, memory: MAX_MEMORY };
    let source = sources::open(snapshot, None, rules)?;
    Queries::new(source, now_ms, limits).map_err(|error| error.to_string())
}

/// Writes all tables of open snapshots to `out`. The file is compressed if its name ends in `.gz` or `.zst`.
///
/// # Errors
/// Returns an error message if the file cannot be written.
pub(super) fn save(queries: &Queries, out: &OutputFile) -> Result<(), String> {
    write(queries, out, Queries::save)
}

/// Writes the file that `save` writes to a path.
fn write(queries: &Queries, out: &OutputFile, save: fn(&Queries, &str) -> Result<(), Error>) -> Result<(), String> {
    let named = |error: String| format!("{}: {error}", out.path().display());
    let failed = |error: io::Error| named(error.to_string());
    let mut packed = CompressedWriter::create(out, CompressionKind::from_path(out.path())).map_err(failed)?;
    // SQLite needs a seekable file. The temporary file goes next to the output, where there is room for it.
    let folder = out.folder().unwrap_or_else(std::env::temp_dir);
    let (mut file, temporary) =
        TemporaryFile::open_new(tempfile::Builder::new().prefix(".memscape-"), &folder).map_err(failed)?;
    let path = temporary.path().to_str().ok_or_else(|| named("the name of the folder is no text".to_owned()))?;
    save(queries, path).map_err(|error| named(error.to_string()))?;
    io::copy(&mut file, &mut packed).and_then(|_| packed.finish()).map_err(failed)
}
