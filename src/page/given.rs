//! The files that were given to the page.

use std::cell::{Cell, RefCell};
use web_sys::File;

/// The files given last, and those that the open file is one of: handles, not bytes.
#[derive(Default)]
pub(super) struct Files {
    given: RefCell<Vec<File>>,
    open: RefCell<Vec<File>>,
    /// The trace of torch.profiler that was given last.
    pub(super) trace: RefCell<Option<File>>,
    /// Elements that what is dragged has entered and not left.
    pub(super) entered: Cell<u32>,
}

impl Files {
    /// The file of this place.
    pub(super) fn at(&self, place: usize) -> Option<File> {
        self.given.borrow().get(place).cloned()
    }

    /// The file of this place; it was no snapshot, so those before are the ones to be opened from.
    pub(super) fn take_aside(&self, place: usize) -> Option<File> {
        let file = self.at(place);
        self.back();
        file
    }

    /// More are given, to compare with; the place of the first.
    pub(super) fn add(&self, files: impl Iterator<Item = File>) -> usize {
        let mut given = self.given.borrow_mut();
        let from = given.len();
        given.extend(files);
        self.open.replace(given.clone());
        from
    }

    /// Others are given.
    pub(super) fn give(&self, files: Vec<File>) {
        self.given.replace(files);
    }

    /// One of those given last is open.
    pub(super) fn opened(&self) {
        self.open.replace(self.given.borrow().clone());
    }

    /// None of those given last could be opened: the open file is one of those before.
    pub(super) fn back(&self) {
        self.given.replace(self.open.borrow().clone());
    }
}
