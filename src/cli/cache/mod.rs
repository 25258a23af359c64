//! Cache of decoded snapshots in the user's cache folder, so that large files open faster the second time.
//!
//! It has the same minimum file size and total size as the page's cache. Opening an 8 MiB file gains only 10 ms, but a
//! compressed one gains a third of a second. Output never depends on the cache. If the folder is missing, the disk is
//! full or an entry is damaged, the file itself is read.

mod folder;
mod key;

use crate::input::Input;
use clap::Args;
use engine::{Engine, NeededBytes, OpenedFile, verify_cache};
use folder::CacheFolder;
use key::FileVersion;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use ui::cache_index::{CAPACITY_BYTES, MIN_FILE_BYTES};

/// Arguments of the cache.
#[derive(Args, Clone, Debug)]
pub(crate) struct CacheArgs {
    /// Do not read or write the cache of decoded snapshots
    #[arg(long, global = true)]
    no_cache: bool,
    /// The folder of the cache, the smallest files that are kept and the bytes of all entries: for tests
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    cache_folder: Option<PathBuf>,
    #[arg(long, global = true, hide = true, value_name = "BYTES", default_value_t = MIN_FILE_BYTES)]
    cache_least: u64,
    #[arg(long, global = true, hide = true, value_name = "BYTES", default_value_t = CAPACITY_BYTES)]
    cache_most: u64,
}

/// The cache folder and its limits.
struct Cache {
    folder: CacheFolder,
    min_bytes: u64,
}

/// The cache, if enabled. Set once at startup.
static CACHE: OnceLock<Cache> = OnceLock::new();
/// Thread that writes an entry. At most one runs at a time, because each holds a decoded file in memory.
static WRITER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

impl CacheArgs {
    /// Enables the cache, unless the user disabled it.
    pub(crate) fn apply(self) {
        // Debug builds change often and tests open temporary files, so debug builds only use a cache that is named
        // explicitly.
        let users =
            || if cfg!(debug_assertions) { None } else { dirs::cache_dir().map(|folder| folder.join("memscape")) };
        if !self.no_cache
            && let Some(path) = self.cache_folder.or_else(users)
        {
            let _ = CACHE
                .set(Cache { folder: CacheFolder { path, max_bytes: self.cache_most }, min_bytes: self.cache_least });
        }
    }
}

/// Cache entry of a file. The entry may not exist yet.
pub(crate) struct CacheEntry {
    cache: &'static Cache,
    file: File,
    version: FileVersion,
    key: String,
}

impl CacheEntry {
    /// Returns the cache entry of an input, or `None` if the input cannot be cached.
    pub(crate) fn for_input(input: &Input) -> Option<CacheEntry> {
        let (cache, mut file) = (CACHE.get()?, input.user_file()?);
        let version =
            FileVersion::read(&file).filter(|version| version.length >= cache.min_bytes && version.is_settled())?;
        let key = version.key(&mut file).ok()??;
        Some(CacheEntry { cache, file, version, key })
    }

    /// Opens the cache entry for reading. If decoding it fails, the caller calls [`Place::remove`] and reads the file
    /// instead.
    pub(crate) fn open(&self) -> Option<Input> {
        Input::from_file(self.cache.folder.open(&self.key)?).ok()
    }

    /// Like [`Place::take`], but verifies the entry first and removes a damaged one. For callers that cannot fall back
    /// to the file later.
    pub(crate) fn open_verified(&self) -> Option<Input> {
        let mut kept = self.open()?;
        let is_whole = verify_cache(&mut || kept.chunk(NeededBytes::Next).map_err(|error| error.to_string())).is_ok();
        if !is_whole {
            self.remove();
        }
        is_whole.then_some(kept)
    }

    /// Removes the entry, because it is damaged.
    pub(crate) fn remove(&self) {
        self.cache.folder.remove(&self.key);
    }

    /// Writes the decoded file to the cache on a background thread. [`finish`] waits for the thread when the program
    /// ends.
    pub(crate) fn store(self, engine: Engine) {
        let (Some(opened), Ok(mut writing)) = (OpenedFile::from_engine(engine), WRITER.lock()) else { return };
        join_writer(&mut writing);
        *writing = thread::Builder::new().spawn(move || self.write(&opened)).ok();
    }

    fn write(&self, opened: &OpenedFile) {
        let CacheEntry { cache, file, version, key } = self;
        // Skip files that are in the cache format already, entries that another process wrote, and files that have
        // changed.
        let is_of_use = !opened.summary().format.contains("columns of ") && !cache.folder.contains(key);
        if is_of_use && FileVersion::read(file).as_ref() == Some(version) {
            // Ignore errors: the format cannot store every file, and the disk may be full.
            let _ = cache.folder.insert(key, |out| opened.write_cache(out).map(drop).map_err(io::Error::other));
        }
    }
}

/// Waits until the last entry is written.
pub(crate) fn finish() {
    if let Ok(mut writing) = WRITER.lock() {
        join_writer(&mut writing);
    }
}

fn join_writer(writing: &mut Option<JoinHandle<()>>) {
    if let Some(writing) = writing.take() {
        let _ = writing.join();
    }
}
