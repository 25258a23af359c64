//! The folder of the cache. Entries are added atomically, and the least recently used ones are removed when space is
//! needed.
//!
//! There is no state besides the folder, so several processes can share it. An entry's modification time is the time of
//! its last use.

use crate::temporary_file::{PRIVATE, TemporaryFile};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// File name suffix of complete entries.
const ENTRY_SUFFIX: &str = ".columns";
/// File name prefix of entries that are being written.
const PART_PREFIX: &str = ".";
/// File name suffix of entries that are being written.
const PART_SUFFIX: &str = ".part";
/// Age after which a partially written entry is considered abandoned and removed.
const ABANDONED_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Folder with the cache entries, and the maximum total size of its entries in bytes.
#[derive(Clone, Debug)]
pub(super) struct CacheFolder {
    pub(super) path: PathBuf,
    pub(super) max_bytes: u64,
}

impl CacheFolder {
    /// Opens an entry and marks it as just used. Returns `None` if the entry does not exist.
    pub(super) fn open(&self, key: &str) -> Option<File> {
        // Append access allows setting the time. Without permission for it, the entry is still readable.
        let path = self.entry_path(key);
        let file = File::options().read(true).append(true).open(&path).or_else(|_| File::open(&path)).ok()?;
        // Fails on a read-only disk, which is harmless.
        drop(file.set_modified(SystemTime::now()));
        Some(file)
    }

    pub(super) fn remove(&self, key: &str) {
        let _ = fs::remove_file(self.entry_path(key));
    }

    /// Returns true if the entry exists.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.entry_path(key).exists()
    }

    /// Adds an entry whose contents are written by `write`, and removes the least recently used entries to make room.
    ///
    /// # Errors
    /// Returns the I/O error, including any error of `write`, or `FileTooLarge` if the entry exceeds the maximum total
    /// size.
    pub(super) fn insert(&self, key: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        create_private_folder(&self.path)?;
        let mut named = tempfile::Builder::new();
        named.prefix(PART_PREFIX).suffix(PART_SUFFIX);
        let (file, temporary) = TemporaryFile::open_new(&named, &self.path, PRIVATE)?;
        let mut out = LimitedWriter { out: BufWriter::with_capacity(BUFFER_BYTES, file), bytes_left: self.max_bytes };
        write(&mut out)?;
        let bytes = self.max_bytes - out.bytes_left;
        drop(out.out.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.make_room(bytes);
        temporary.persist(&self.entry_path(key))
    }

    /// Removes abandoned files, then the least recently used entries until `bytes` more bytes fit.
    fn make_room(&self, bytes: u64) {
        let (mut entries, now) = (Vec::new(), SystemTime::now());
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let (name, used) = (entry.file_name(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
            let name = name.to_string_lossy();
            if is_entry_name(&name) {
                entries.push((used, metadata.len(), entry.path()));
            } else if name.starts_with(PART_PREFIX)
                && name.ends_with(PART_SUFFIX)
                && now.duration_since(used).is_ok_and(|age| age > ABANDONED_AGE)
            {
                let _ = fs::remove_file(entry.path());
            }
        }
        entries.sort();
        let mut all = entries.iter().fold(bytes, |sum, &(_, bytes, _)| sum.saturating_add(bytes));
        for (_, bytes, path) in entries {
            if all <= self.max_bytes {
                return;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
            all = all.saturating_sub(bytes);
        }
    }

    fn entry_path(&self, key: &str) -> PathBuf {
        self.path.join([key, ENTRY_SUFFIX].concat())
    }
}

/// Returns true if a file has the name of an entry: a key of hexadecimal numbers. Other files in the folder are the
/// user's and are kept.
fn is_entry_name(name: &str) -> bool {
    let is_number = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.strip_suffix(ENTRY_SUFFIX).is_some_and(|key| key.contains('-') && key.split('-').all(is_number))
}

/// Creates a folder that only the user can access, since snapshots may be confidential.
fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A writer that fails if more than `bytes_left` bytes are written.
struct LimitedWriter {
    out: BufWriter<File>,
    bytes_left: u64,
}

impl Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes_left = self.bytes_left.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // The buffer is flushed once at the end.
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/cache/shelf.rs"]
mod tests;
