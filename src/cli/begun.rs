//! Files that are there only while the program works at them: removed when it is done with them, and when it is interrupted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};
use tempfile::TempPath;

/// What a shell takes for "interrupted".
const INTERRUPTED: i32 = 130;

/// All of them, those that were put to their place as well: no name comes twice. A signal comes to the process, so there is one list.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static CAUGHT: Once = Once::new();

/// A file that was begun; dropped, it is removed.
pub(crate) struct Begun(Option<TempPath>);

impl Begun {
    /// Makes one of a name that nobody can guess, to be written and read.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn create(named: &tempfile::Builder, folder: &Path) -> io::Result<(File, Begun)> {
        // Where another handler is set (`serve`), it ends the program in its own way.
        CAUGHT.call_once(|| drop(ctrlc::set_handler(interrupted)));
        let mut all = BEGUN.lock().map_err(|_| io::ErrorKind::Other)?;
        let (file, path) = named.tempfile_in(folder)?.into_parts();
        all.push(path.to_path_buf());
        Ok((file, Begun(Some(path))))
    }

    /// Where it is meanwhile.
    pub(crate) fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Puts it to its place, whole.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn put(mut self, place: &Path) -> io::Result<()> {
        let _all = BEGUN.lock().map_err(|_| io::ErrorKind::Other)?;
        self.0.take().map_or(Ok(()), |path| path.persist(place).map_err(io::Error::from))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _all = BEGUN.lock();
        // What can't be removed says by its name what it is.
        drop(self.0.take());
    }
}

fn interrupted() {
    // The lock is kept: nothing is begun, and nothing put to its place, from now on.
    let all = BEGUN.lock();
    for path in all.iter().flat_map(|all| all.iter()) {
        let _ = fs::remove_file(path);
    }
    std::process::exit(INTERRUPTED);
}
