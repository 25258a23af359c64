//! Cache of decoded snapshots in the user's cache folder, so that large files open faster the second time.
//!
//! It has the same minimum file size and total size as the page's cache. Opening an 8 MiB file gains only 10 ms, but a
//! compressed one gains a third of a second. Output never depends on the cache. If the folder is missing, the disk is
//! full or an entry is damaged, the file itself is read.

mod key;
mod shelf;

use crate::input::Input;
use clap::Args;
use engine::{Engine, Opened, Want, look_through};
use key::Version;
use shelf::Shelf;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use ui::kept::{LEAST, MOST};

/// Arguments of the cache.
#[derive(Args, Clone, Debug)]
pub(crate) struct Caching {
    /// Do not read or write the cache of decoded snapshots
    #[arg(long, global = true)]
    no_cache: bool,
    /// The folder of the cache, the smallest files that are kept and the bytes of all entries: for tests
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    cache_folder: Option<PathBuf>,
    #[arg(long, global = true, hide = true, value_name = "BYTES", default_value_t = LEAST)]
    cache_least: u64,
    #[arg(long, global = true, hide = true, value_name = "BYTES", default_value_t = MOST)]
    cache_most: u64,
}

/// The cache folder and its limits.
struct Cache {
    shelf: Shelf,
    least: u64,
}

/// The cache, if enabled. Set once at startup.
static CACHE: OnceLock<Cache> = OnceLock::new();
/// Thread that writes an entry. At most one runs at a time, because each holds a decoded file in memory.
static WRITING: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

impl Caching {
    /// Enables the cache, unless the user disabled it.
    pub(crate) fn begin(self) {
        // Debug builds change often and tests open temporary files, so debug builds only use a cache that is named
        // explicitly.
        let users =
            || if cfg!(debug_assertions) { None } else { dirs::cache_dir().map(|folder| folder.join("memscape")) };
        if !self.no_cache
            && let Some(folder) = self.cache_folder.or_else(users)
        {
            let _ = CACHE.set(Cache { shelf: Shelf { folder, most: self.cache_most }, least: self.cache_least });
        }
    }
}

/// Cache entry of a file. The entry may not exist yet.
pub(crate) struct Place {
    cache: &'static Cache,
    file: File,
    version: Version,
    key: String,
}

impl Place {
    /// Returns the cache entry of an input, or `None` if the input cannot be cached.
    pub(crate) fn of(input: &Input) -> Option<Place> {
        let (cache, mut file) = (CACHE.get()?, input.named_file()?);
        let version = Version::of(&file).filter(|version| version.length >= cache.least && version.is_settled())?;
        let key = version.key(&mut file).ok()??;
        Some(Place { cache, file, version, key })
    }

    /// Opens the cache entry for reading. If decoding it fails, the caller calls [`Place::remove`] and reads the file
    /// instead.
    pub(crate) fn take(&self) -> Option<Input> {
        Input::of_file(self.cache.shelf.take(&self.key)?).ok()
    }

    /// Like [`Place::take`], but verifies the entry first and removes a damaged one. For callers that cannot fall back
    /// to the file later.
    pub(crate) fn take_whole(&self) -> Option<Input> {
        let mut kept = self.take()?;
        let is_whole = look_through(&mut || kept.chunk(Want::Next).map_err(|error| error.to_string())).is_ok();
        if !is_whole {
            self.remove();
        }
        is_whole.then_some(kept)
    }

    /// Removes the entry, because it is damaged.
    pub(crate) fn remove(&self) {
        self.cache.shelf.remove(&self.key);
    }

    /// Writes the decoded file to the cache on a background thread. [`finish`] waits for the thread when the program
    /// ends.
    pub(crate) fn keep(self, engine: Engine) {
        let (Some(opened), Ok(mut writing)) = (Opened::of(engine), WRITING.lock()) else { return };
        end(&mut writing);
        *writing = thread::Builder::new().spawn(move || self.write(&opened)).ok();
    }

    fn write(&self, opened: &Opened) {
        let Place { cache, file, version, key } = self;
        // Skip files that are in the cache format already, entries that another process wrote, and files that have
        // changed.
        let is_of_use = !opened.summary().format.contains("columns of ") && !cache.shelf.has(key);
        if is_of_use && Version::of(file).as_ref() == Some(version) {
            // Ignore errors: the format cannot store every file, and the disk may be full.
            let _ = cache.shelf.put(key, |out| opened.write_kept(out).map(drop).map_err(io::Error::other));
        }
    }
}

/// Waits until the last entry is written.
pub(crate) fn finish() {
    if let Ok(mut writing) = WRITING.lock() {
        end(&mut writing);
    }
}

fn end(writing: &mut Option<JoinHandle<()>>) {
    if let Some(writing) = writing.take() {
        let _ = writing.join();
    }
}
