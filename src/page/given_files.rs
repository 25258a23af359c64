//! Handles of the files that the user gave to the page.

use std::cell::{Cell, RefCell};
use web_sys::File;

/// Handles of the files that the user gave last, and of the files that were given together with the open file. Handles
/// hold no bytes.
#[derive(Default)]
pub(super) struct GivenFiles {
    given: RefCell<Vec<File>>,
    open: RefCell<Vec<File>>,
    /// The torch.profiler trace given last.
    pub(super) trace: RefCell<Option<File>>,
    /// Number of nested elements that the drag pointer is over. Above 0 while files are dragged over the page.
    pub(super) drag_depth: Cell<u32>,
}

impl GivenFiles {
    /// Returns the file at the given index.
    pub(super) fn get(&self, place: usize) -> Option<File> {
        self.given.borrow().get(place).cloned()
    }

    /// Returns the file at the given index and restores the previous files, because it was not a snapshot.
    pub(super) fn take_source(&self, place: usize) -> Option<File> {
        let file = self.get(place);
        self.restore_open();
        file
    }

    /// Adds files to compare with. Returns the index of the first one.
    pub(super) fn add(&self, files: impl Iterator<Item = File>) -> usize {
        let mut given = self.given.borrow_mut();
        let from = given.len();
        given.extend(files);
        self.open.replace(given.clone());
        from
    }

    /// Replaces the given files.
    pub(super) fn replace(&self, files: Vec<File>) {
        self.given.replace(files);
    }

    /// Records that one of the files given last is open.
    pub(super) fn mark_open(&self) {
        self.open.replace(self.given.borrow().clone());
    }

    /// Restores the files of the open file, after none of those given last could be opened.
    pub(super) fn restore_open(&self) {
        self.given.replace(self.open.borrow().clone());
    }
}
