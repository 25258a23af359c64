//! Handles of the files that the user, or another page, gave to the page.

use super::sender::{Sender, SentFiles};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use web_sys::File;

/// Files that were given together. A handle does not contain the file's bytes.
#[derive(Clone, Default)]
struct FileSet {
    files: Vec<File>,
    /// Page that sent the files. `None` if the user gave them.
    sender: Option<Rc<Sender>>,
}

/// The files that were given last, and the files that were given together with the open file.
#[derive(Default)]
pub(super) struct GivenFiles {
    given: RefCell<FileSet>,
    open: RefCell<FileSet>,
    /// Files that a page sent, while the user is asked whether to open them.
    pub(super) waiting: RefCell<Option<SentFiles>>,
    /// The torch.profiler trace that the user gave last.
    pub(super) trace: RefCell<Option<File>>,
    /// Number of nested elements that the pointer is over while files are dragged. 0 if no files are dragged over the
    /// page.
    pub(super) drag_depth: Cell<u32>,
}

impl GivenFiles {
    /// Returns the file at this index.
    pub(super) fn get(&self, place: usize) -> Option<File> {
        self.given.borrow().files.get(place).cloned()
    }

    /// Returns the page that sent the files. `None` if the user gave them.
    pub(super) fn sender(&self) -> Option<Rc<Sender>> {
        self.given.borrow().sender.clone()
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
        let from = given.files.len();
        given.files.extend(files);
        self.open.replace(given.clone());
        from
    }

    /// Sets the files that were given last, and the page that sent them.
    pub(super) fn replace(&self, files: Vec<File>, sender: Option<Rc<Sender>>) {
        self.given.replace(FileSet { files, sender });
    }

    /// Records that a file is loaded that no page sent.
    pub(super) fn forget_sender(&self) {
        self.given.borrow_mut().sender = None;
    }

    /// Records that one of the files that were given last is open.
    pub(super) fn mark_open(&self) {
        self.open.replace(self.given.borrow().clone());
    }

    /// Restores the files that were given together with the open file, because none of the new files could be opened.
    pub(super) fn restore_open(&self) {
        self.given.replace(self.open.borrow().clone());
    }
}
