//! What was decoded of large files is kept in the user's cache folder, so that they open sooner the second time.
//!
//! The same files as in the page, and as much in all: one of 8 MiB gains a hundredth of a second, but one that is packed in as many a third.
//! Nothing that is printed depends on it. Where there is no such folder, no room, or an entry is damaged, the file is read as ever.

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

/// Whether decoded files are kept.
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

/// The cache of this run.
struct Cache {
    shelf: Shelf,
    least: u64,
}

/// The cache, if there is one: the program is told once.
static CACHE: OnceLock<Cache> = OnceLock::new();
/// What writes an entry. One does at a time: each holds a decoded file in memory.
static WRITING: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

impl Caching {
    /// Has decoded files kept from now on, unless that was not wanted.
    pub(crate) fn begin(self) {
        // A debug build is another one every day, and what tests open is nobody's: it has a cache where one is named.
        let users =
            || if cfg!(debug_assertions) { None } else { dirs::cache_dir().map(|folder| folder.join("memscape")) };
        if !self.no_cache
            && let Some(folder) = self.cache_folder.or_else(users)
        {
            let _ = CACHE.set(Cache { shelf: Shelf { folder, most: self.cache_most }, least: self.cache_least });
        }
    }
}

/// A file that may be kept: its place in the cache.
pub(crate) struct Place {
    cache: &'static Cache,
    file: File,
    version: Version,
    key: String,
}

impl Place {
    /// The place of a file; `None` where nothing of it is kept.
    pub(crate) fn of(input: &Input) -> Option<Place> {
        let (cache, mut file) = (CACHE.get()?, input.named_file()?);
        let version = Version::of(&file).filter(|version| version.length >= cache.least && version.is_settled())?;
        let key = version.key(&mut file).ok()??;
        Some(Place { cache, file, version, key })
    }

    /// What is kept of the file, to be read in its place. Where that turns out to be damaged, [`Place::remove`] it and read the file.
    pub(crate) fn take(&self) -> Option<Input> {
        Input::of_file(self.cache.shelf.take(&self.key)?).ok()
    }

    /// The same, looked through before, for who can't turn back to the file: what is damaged is removed.
    pub(crate) fn take_whole(&self) -> Option<Input> {
        let mut kept = self.take()?;
        let is_whole = look_through(&mut || kept.chunk(Want::Next).map_err(|error| error.to_string())).is_ok();
        if !is_whole {
            self.remove();
        }
        is_whole.then_some(kept)
    }

    /// What is kept of the file is of no use.
    pub(crate) fn remove(&self) {
        self.cache.shelf.remove(&self.key);
    }

    /// Keeps what an engine has decoded of the file. No answer waits for it: a thread of its own writes, and the program waits for that at
    /// its end ([`finish`]).
    pub(crate) fn keep(self, engine: Engine) {
        let (Some(opened), Ok(mut writing)) = (Opened::of(engine), WRITING.lock()) else { return };
        end(&mut writing);
        *writing = thread::Builder::new().spawn(move || self.write(&opened)).ok();
    }

    fn write(&self, opened: &Opened) {
        let Place { cache, file, version, key } = self;
        // Columns are what would be kept of columns. Another process may have been faster; and the file may be another one by now.
        let is_of_use = !opened.summary().format.contains("columns of ") && !cache.shelf.has(key);
        if is_of_use && Version::of(file).as_ref() == Some(version) {
            // Columns can't store everything, and disks can be full: then nothing is kept.
            let _ = cache.shelf.put(key, |out| opened.write_kept(out).map(drop).map_err(io::Error::other));
        }
    }
}

/// Waits until everything is kept.
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
