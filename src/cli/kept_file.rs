//! The file that stays open between the requests to `memscape ask` and `memscape mcp`.
//!
//! A request takes the file from a thread-local variable and returns it when done, so later requests do not read from
//! disk. Each thread has at most one open file and handles one request at a time.

use super::cache::CacheEntry;
use engine::{Engine, Request};
use protocol::{CategorySet, FileSummary};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

struct KeptFile {
    file: PathBuf,
    /// Device for requests that name none.
    device: Option<i64>,
    summary: FileSummary,
    /// The open file. `None` while a request uses it.
    opened: Option<OpenedFile>,
}

thread_local! {
    static KEPT: RefCell<Option<KeptFile>> = const { RefCell::new(None) };
}

/// An open file. When dropped, a file that stays open between requests is returned to `KEPT`. Any other file is written
/// to the cache.
pub(crate) struct OpenedFile {
    engine: Engine,
    /// Cache entry to write on drop. `None` if the entry exists or the file is not cached.
    cache_entry: Option<CacheEntry>,
    is_kept: bool,
    /// True if the current request changed the category rules. They are reset on drop.
    is_classified: bool,
}

impl OpenedFile {
    /// Wraps a file that was opened for a single request. When dropped, the file is written to `cache_entry`.
    pub(crate) fn new(engine: Engine, cache_entry: Option<CacheEntry>) -> OpenedFile {
        OpenedFile { engine, cache_entry, is_kept: false, is_classified: false }
    }

    /// Records that the current request changed the category rules.
    pub(crate) fn mark_classified(&mut self) {
        self.is_classified = true;
    }

    /// Classifies allocations by `set` for the rest of the current request.
    pub(crate) fn classify(&mut self, set: CategorySet) {
        self.mark_classified();
        // This request has no reply.
        self.engine.request(Request::Categories(Box::new(set)));
    }
}

impl Deref for OpenedFile {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for OpenedFile {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Drop for OpenedFile {
    fn drop(&mut self) {
        let place = self.cache_entry.take();
        if !self.is_kept && place.is_none() {
            return;
        }
        let mut engine = std::mem::replace(&mut self.engine, Engine::without_simulator());
        if !self.is_kept {
            if let Some(place) = place {
                place.store(engine);
            }
            return;
        }
        if self.is_classified {
            engine.request(Request::Categories(Box::new(CategorySet::standard())));
        }
        // Discard replies that the request did not wait for.
        while engine.next_reply().is_some() {}
        KEPT.with_borrow_mut(|kept| {
            if let Some(kept) = kept {
                kept.opened = Some(OpenedFile::new(engine, place));
            }
        });
    }
}

/// Keeps a file open on this thread, and closes the previous one. `device` is used for requests that name none.
pub(crate) fn put(file: &Path, device: Option<i64>, summary: FileSummary, opened: OpenedFile) {
    drop(KEPT.replace(Some(KeptFile { file: file.to_owned(), device, summary, opened: Some(opened) })));
}

/// Closes the file that this thread keeps open.
pub(crate) fn close() {
    drop(KEPT.take());
}

/// Takes the open file, its summary and its default device. Returns `None` if `file` is not the one that is kept open,
/// or if a request is using it.
pub(crate) fn take(file: &Path) -> Option<(FileSummary, OpenedFile, Option<i64>)> {
    KEPT.with_borrow_mut(|kept| {
        let kept = kept.as_mut().filter(|kept| kept.file == file)?;
        let mut opened = kept.opened.take()?;
        opened.is_kept = true;
        Some((kept.summary.clone(), opened, kept.device))
    })
}

/// Returns the summary of the open file, or `None` if `file` is not the one that is kept open.
pub(crate) fn summary(file: &Path) -> Option<FileSummary> {
    KEPT.with_borrow(|kept| kept.as_ref().filter(|kept| kept.file == file).map(|kept| kept.summary.clone()))
}
