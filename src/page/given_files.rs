//! Handles of the files that the user gave to the page.

use std::cell::{Cell, RefCell};
use web_sys::File;

/// Handles of the files that the user gave last, and of the files that the user gave together with the open file. A
/// handle does not contain the file's bytes.
#[derive(Default)]
pub(super) struct GivenFiles {
    given: RefCell<Vec<File>>,
    open: RefCell<Vec<File>>,
    /// The torch.profiler trace that the user gave last.
    pub(super) trace: RefCell<Option<File>>,
    /// Number of nested elements that the pointer is over while files are dragged. 0 if no files are dragged over the
    /// page.
    pub(super) drag_depth: Cell<u32>,
}

impl GivenFiles {
    /// Returns the file at this index.
    pub(super) fn get(&self, place: usize) -> Option<File> {
        self.given.borrow().get(place).cloned()
    }

    /// Returns the file at the given index, which is source code, and restores the files of the open snapshot.
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

    /// Sets the files that the user gave last.
    pub(super) fn replace(&self, files: Vec<File>) {
        self.given.replace(files);
    }

    /// Records that one of the files that the user gave last is open.
    pub(super) fn mark_open(&self) {
        self.open.replace(self.given.borrow().clone());
    }

    /// Restores the files that were given together with the open file, because none of the new files could be opened.
    pub(super) fn restore_open(&self) {
        self.given.replace(self.open.borrow().clone());
    }
}
