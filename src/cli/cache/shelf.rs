//! A folder with what was decoded: entries that are there whole or not at all, and no more of them than there is room for.
//!
//! Nothing but the folder says which entries there are, so several processes may use it at once: each looks at it when it needs to
//! know. When an entry was used last is when it was last changed, as the file system says.

use crate::begun::Begun;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How entries end, and how they do while they are written.
const ENTRY: &str = ".columns";
const PART: &str = ".part";
/// What is half written for so long has no writer any more.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes that are written at once.
const GATHERED: usize = 1 << 20;

/// The folder, and the bytes that all its entries may have together.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    pub(super) folder: PathBuf,
    pub(super) most: u64,
}

impl Shelf {
    /// An entry, which is now the one used last; `None` where there is none.
    pub(super) fn take(&self, key: &str) -> Option<File> {
        // To be written, so that its time can be set; where that is not allowed it is used as well.
        let path = self.path(key);
        let file = File::options().read(true).append(true).open(&path).or_else(|_| File::open(&path)).ok()?;
        // It may be on a disk that can only be read.
        drop(file.set_modified(SystemTime::now()));
        Some(file)
    }

    /// Removes an entry.
    pub(super) fn remove(&self, key: &str) {
        let _ = fs::remove_file(self.path(key));
    }

    /// Whether there is an entry.
    pub(super) fn has(&self, key: &str) -> bool {
        self.path(key).exists()
    }

    /// Puts an entry there, as `write` writes it, and removes those used longest ago that there is no room for.
    ///
    /// # Errors
    /// The system's, those of `write`, or the entry is larger than all of them may be.
    pub(super) fn put(&self, key: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        create(&self.folder)?;
        let (file, begun) = Begun::create(tempfile::Builder::new().prefix(".").suffix(PART), &self.folder)?;
        let mut out = Limited { out: BufWriter::with_capacity(GATHERED, file), left: self.most };
        write(&mut out)?;
        let bytes = self.most - out.left;
        drop(out.out.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.make_room(bytes);
        begun.put(&self.path(key))
    }

    /// Removes the entries used longest ago until another of so many bytes has room, and what was never finished.
    fn make_room(&self, bytes: u64) {
        let (mut entries, now) = (Vec::new(), SystemTime::now());
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let (name, used) = (entry.file_name(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
            let name = name.to_string_lossy();
            if name.ends_with(ENTRY) {
                entries.push((used, metadata.len(), entry.path()));
            } else if name.ends_with(PART) && now.duration_since(used).is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
        entries.sort();
        let mut all = entries.iter().fold(bytes, |sum, &(_, bytes, _)| sum.saturating_add(bytes));
        for (_, bytes, path) in entries {
            if all <= self.most {
                return;
            }
            // Another process may have removed it before.
            let _ = fs::remove_file(path);
            all = all.saturating_sub(bytes);
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join([key, ENTRY].concat())
    }
}

/// Makes the folder, which is the user's alone: a snapshot says what somebody works at.
fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file that may have so many bytes more.
struct Limited {
    out: BufWriter<File>,
    left: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // All is written at the end.
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/cache/shelf.rs"]
mod tests;
