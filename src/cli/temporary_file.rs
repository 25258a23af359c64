//! Temporary files that are removed on drop, and when the program is interrupted by a signal.

use super::signals;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};
use tempfile::TempPath;

/// Exit status of a program that was ended by a signal, without the signal's number.
const SIGNAL_STATUS: i32 = 128;

/// Paths of all temporary files created so far, for the signal handler. Paths of files that were moved stay listed,
/// which is harmless because names are never reused.
static TEMPORARY_PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static HANDLER_SET: Once = Once::new();

/// Mode of a file that only its owner may read.
pub(crate) const PRIVATE: u32 = 0o600;
/// Mode of a normal new file. As each mode, it is limited by the umask.
pub(crate) const NORMAL: u32 = 0o666;

/// A temporary file that is removed on drop, unless [`TemporaryFile::persist`] moved it into place.
pub(crate) struct TemporaryFile(Option<TempPath>);

impl TemporaryFile {
    /// Creates a file with a random name in `folder`, opened for reading and writing. `named` configures prefix and
    /// suffix of the name. `mode` is [`PRIVATE`] or [`NORMAL`], and used on Unix.
    ///
    /// # Errors
    /// Returns the I/O error if the file cannot be created.
    pub(crate) fn open_new(named: &tempfile::Builder, folder: &Path, mode: u32) -> io::Result<(File, TemporaryFile)> {
        // Fails if another handler is set (`serve`), which then decides how the program ends.
        HANDLER_SET.call_once(|| drop(signals::handle(end)));
        let mut all = TEMPORARY_PATHS.lock().map_err(|_| io::ErrorKind::Other)?;
        // Opened here, because the errors of `tempfile_in` contain the name of the file, which no user knows.
        let (file, path) = named.make_in(folder, |path| create_new(path, mode))?.into_parts();
        all.push(path.to_path_buf());
        Ok((file, TemporaryFile(Some(path))))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Moves the file to `path` atomically, replacing an existing file.
    ///
    /// # Errors
    /// Returns the I/O error if the file cannot be moved.
    pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
        let _all = TEMPORARY_PATHS.lock().map_err(|_| io::ErrorKind::Other)?;
        self.0.take().map_or(Ok(()), |temporary| temporary.persist(path).map_err(io::Error::from))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _all = TEMPORARY_PATHS.lock();
        // A failure to remove the file is ignored. Its name shows that it is temporary.
        drop(self.0.take());
    }
}

#[cfg_attr(not(unix), expect(unused_variables, reason = "modes are of Unix"))]
fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    options.read(true).write(true).create_new(true).open(path)
}

fn end(signal: i32) {
    // The lock is never released, so no file can be created or moved from now on.
    let all = TEMPORARY_PATHS.lock();
    for path in all.iter().flat_map(|all| all.iter()) {
        let _ = fs::remove_file(path);
    }
    std::process::exit(SIGNAL_STATUS + signal);
}
