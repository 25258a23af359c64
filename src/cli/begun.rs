//! Files that are there only while the program works at them: removed when it is done with them, and when it is interrupted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

/// What a shell takes for "interrupted".
const INTERRUPTED: i32 = 130;

/// All of them. A signal comes to the process, so there is one list.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static CAUGHT: Once = Once::new();

/// A file that was begun; dropped, it is removed.
pub(crate) struct Begun(PathBuf);

impl Begun {
    /// Makes it, to be written and read.
    ///
    /// # Errors
    /// The system's: there is one of that name, for example. It is never made through a link that somebody else put there.
    pub(crate) fn create(path: PathBuf) -> io::Result<(File, Begun)> {
        // Where another handler is set (`serve`), it ends the program in its own way.
        CAUGHT.call_once(|| drop(ctrlc::set_handler(interrupted)));
        let mut all = BEGUN.lock().map_err(|_| io::ErrorKind::Other)?;
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        all.push(path.clone());
        Ok((file, Begun(path)))
    }

    /// Puts it to its place, whole.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn put(self, place: &Path) -> io::Result<()> {
        let mut all = BEGUN.lock().map_err(|_| io::ErrorKind::Other)?;
        fs::rename(&self.0, place)?;
        all.retain(|path| *path != self.0);
        Ok(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Ok(mut all) = BEGUN.lock() else { return };
        if let Some(at) = all.iter().position(|path| *path == self.0) {
            // What can't be removed says by its name what it is.
            let _ = fs::remove_file(all.swap_remove(at));
        }
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
