//! Writes all tables of a snapshot to a SQLite file, or those that another tool opens.

use super::clock::now_ms;
use super::sources;
use crate::compressed::{CompressedWriter, CompressionKind};
use crate::output_file::OutputFile;
use crate::rules::CategoryRules;
use crate::temporary_file::{PRIVATE, TemporaryFile};
use protocol::sql::SqlFile;
use sql::{Error, Limits, Queries};
use std::io;
use std::path::Path;

/// Maximum memory that SQLite may use while writing, in bytes.
const MAX_MEMORY: u64 = 1 << 30;

/// Writes all tables of a snapshot to `out`, or, with `tool`, the file that this tool opens. The file is compressed if
/// its name ends in `.gz` or `.zst`.
///
/// # Errors
/// Returns an error message if the snapshot cannot be read or the file cannot be written.
pub(crate) fn save_snapshot(
    snapshot: &Path,
    rules: &CategoryRules,
    tool: Option<SqlFile>,
    out: &OutputFile,
) -> Result<(), String> {
    let limits = Limits { seconds: 0, memory: MAX_MEMORY };
    let source = sources::open(snapshot, None, rules)?;
    let queries = Queries::new(source, now_ms, limits).map_err(|error| error.to_string())?;
    match tool {
        None => save(&queries, out),
        Some(tool) => write(out, |path| queries.save_for_tool(tool, path)),
    }
}

/// Writes all tables of open snapshots to `out`. The file is compressed if its name ends in `.gz` or `.zst`.
///
/// # Errors
/// Returns an error message if the file cannot be written.
pub(super) fn save(queries: &Queries, out: &OutputFile) -> Result<(), String> {
    write(out, |path| queries.save(path))
}

/// Writes the file that `save` writes to a path.
fn write(out: &OutputFile, save: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), String> {
    let named = |error: String| format!("{}: {error}", out.path().display());
    let failed = |error: io::Error| named(error.to_string());
    let mut packed = CompressedWriter::create(out, CompressionKind::from_path(out.path())).map_err(failed)?;
    // SQLite needs a seekable file. The temporary file goes next to the output, where there is room for it.
    let folder = out.folder().unwrap_or_else(std::env::temp_dir);
    let (mut file, temporary) =
        TemporaryFile::open_new(tempfile::Builder::new().prefix(".memscape-"), &folder, PRIVATE).map_err(failed)?;
    let path = temporary.path().to_str().ok_or_else(|| named("the name of the folder is no text".to_owned()))?;
    save(path).map_err(|error| named(error.to_string()))?;
    io::copy(&mut file, &mut packed).and_then(|_| packed.finish()).map_err(failed)
}
