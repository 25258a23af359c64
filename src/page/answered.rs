//! Which load was answered from what is kept of a file ([`super::keeping`]), and what became of keeping the last one.

use std::cell::{Cell, RefCell};
use ui::fingerprint::length;
use web_sys::File;

/// What the page has to know of it beside the list that is stored.
#[derive(Default)]
pub(super) struct Keeping {
    pub(super) answered: RefCell<Option<Answered>>,
    /// The load for which that was damaged, and how long the file is that was read instead.
    pub(super) damaged: Cell<Option<(u32, u64)>>,
    /// Why the last one could not be kept.
    pub(super) failed: Cell<Option<&'static str>>,
}

/// A load that reads what is kept, and the file that it stands for.
pub(super) struct Answered {
    pub(super) load: u32,
    pub(super) member: Option<u32>,
    pub(super) file: File,
    pub(super) print: String,
    pub(super) key: String,
}

impl Keeping {
    /// Whether a load was answered from what is kept.
    pub(super) fn has_answered(&self, load: u32) -> bool {
        self.answered.borrow().as_ref().is_some_and(|answered| answered.load == load)
    }

    /// What tells the file of a load from others, by what the worker has read; `None` where that was not the file.
    pub(super) fn print(&self, load: u32, read: String) -> Option<String> {
        if let Some(answered) = self.answered.borrow().as_ref().filter(|answered| answered.load == load) {
            return Some(answered.print.clone());
        }
        // What was damaged may be told of after the file itself was asked for.
        let damaged = self.damaged.get().filter(|(of, _)| *of == load);
        (damaged.is_none_or(|(_, bytes)| length(&read) == Some(bytes))).then_some(read)
    }
}
