//! The files that were given to the page.

use std::cell::{Cell, RefCell};
use web_sys::File;

/// The files given last, and those before: handles, not bytes.
#[derive(Default)]
pub(super) struct Files {
    given: RefCell<Vec<File>>,
    before: RefCell<Vec<File>>,
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
        self.given.replace(self.before.take()).into_iter().nth(place)
    }

    /// Others are given.
    pub(super) fn give(&self, files: Vec<File>) {
        self.before.replace(self.given.replace(files));
    }
}
