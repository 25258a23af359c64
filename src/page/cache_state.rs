//! State of the file cache ([`super::file_cache`]), including which load reads a cached file.

use std::cell::{Cell, RefCell};
use ui::text::fingerprint::length;
use web_sys::File;

/// State of the file cache that is not part of its stored index.
#[derive(Default)]
pub(super) struct CacheState {
    pub(super) current: RefCell<Option<CachedLoad>>,
    /// Set if a cached file was damaged: the id of its load, and the length in bytes of the original file, which was
    /// read instead.
    pub(super) damaged: Cell<Option<(u32, u64)>>,
    /// Reason why the last file could not be cached.
    pub(super) failed: Cell<Option<&'static str>>,
}

/// A load that reads a cached file instead of the original one.
pub(super) struct CachedLoad {
    pub(super) load: u32,
    pub(super) member: Option<u32>,
    pub(super) file: File,
    pub(super) fingerprint: String,
    pub(super) key: String,
}

impl CacheState {
    /// Returns whether the given load reads a cached file.
    pub(super) fn is_cached(&self, load: u32) -> bool {
        self.current.borrow().as_ref().is_some_and(|answered| answered.load == load)
    }

    /// Returns the fingerprint of a load's original file. `read` is the fingerprint of the file that the worker has
    /// read. Returns `None` if that is a damaged cached file.
    pub(super) fn fingerprint(&self, load: u32, read: String) -> Option<String> {
        if let Some(answered) = self.current.borrow().as_ref().filter(|answered| answered.load == load) {
            return Some(answered.fingerprint.clone());
        }
        // The report about a damaged cached file may arrive after the original file was requested.
        let damaged = self.damaged.get().filter(|(of, _)| *of == load);
        (damaged.is_none_or(|(_, bytes)| length(&read) == Some(bytes))).then_some(read)
    }
}
