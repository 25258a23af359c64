//! Cache of decoded snapshots in the user's cache folder, so that large files open faster the second time.
//!
//! The minimum file size and the maximum total size are the same as for the page's cache. The cache saves 10 ms for an
//! uncompressed file of 8 MiB, and a third of a second for a compressed one. Output never depends on the cache. If the
//! folder is missing, the disk is full or an entry is damaged, the file itself is read.

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
use ui::prefs::cache_index::{CAPACITY_BYTES, MIN_FILE_BYTES};

/// Command line arguments of the cache.
#[derive(Args, Clone, Debug)]
pub(crate) struct CacheArgs {
    /// Do not read or write the cache of decoded snapshots
    #[arg(long, global = true)]
    no_cache: bool,
    /// Folder of the cache, for tests
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    cache_folder: Option<PathBuf>,
    /// Minimum size of cached files in bytes, for tests
    #[arg(long, global = true, hide = true, value_name = "BYTES", default_value_t = MIN_FILE_BYTES)]
    cache_least: u64,
    /// Maximum total size of the cache in bytes, for tests
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
/// Thread that is writing an entry. At most one runs at a time, because each holds a decoded file in memory.
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

/// A cache entry for a file. It may not be written yet.
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

    /// Opens the cache entry for reading. If decoding fails, the caller must call [`CacheEntry::remove`] and read the
    /// file instead.
    pub(crate) fn open(&self) -> Option<Input> {
        Input::from_file(self.cache.folder.open(&self.key)?).ok()
    }

    /// Like [`CacheEntry::open`], but verifies the entry first, and removes a damaged entry. For callers that cannot
    /// read the original file later.
    pub(crate) fn open_verified(&self) -> Option<Input> {
        let mut entry = self.open()?;
        let is_whole = verify_cache(&mut || entry.chunk(NeededBytes::Next).map_err(|error| error.to_string())).is_ok();
        if !is_whole {
            self.remove();
        }
        is_whole.then_some(entry)
    }

    /// Removes the entry. For damaged entries.
    pub(crate) fn remove(&self) {
        self.cache.folder.remove(&self.key);
    }

    /// Writes the decoded file to the cache on a background thread. Call [`finish`] before the program exits.
    pub(crate) fn store(self, engine: Engine) {
        let (Some(opened), Ok(mut writer)) = (OpenedFile::from_engine(engine), WRITER.lock()) else { return };
        join_writer(&mut writer);
        *writer = thread::Builder::new().spawn(move || self.write(&opened)).ok();
    }

    fn write(&self, opened: &OpenedFile) {
        let CacheEntry { cache, file, version, key } = self;
        // Skip files that are in the cache format already, entries that another process wrote, and files that have
        // changed.
        let is_useful = !opened.summary().format.contains("columns of ") && !cache.folder.contains(key);
        if is_useful && FileVersion::read(file).as_ref() == Some(version) {
            // Ignore errors: the format cannot store every file, and the disk may be full.
            let _ = cache.folder.insert(key, |out| opened.write_cache(out).map(drop).map_err(io::Error::other));
        }
    }
}

/// Waits until the background thread has written its entry.
pub(crate) fn finish() {
    if let Ok(mut writer) = WRITER.lock() {
        join_writer(&mut writer);
    }
}

fn join_writer(writer: &mut Option<JoinHandle<()>>) {
    if let Some(writer) = writer.take() {
        let _ = writer.join();
    }
}
