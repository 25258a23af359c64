//! A file that stays open between questions: what `memscape ask` and `memscape mcp` are about.
//!
//! Commands open the file that they are given. While one is kept here, and it is that one, they get it as it is and leave it here when
//! they are done, so that the second question reads nothing. There is one for each thread, since there is one question at a time.

use super::cache::Place;
use engine::protocol::{CategorySet, FileSummary};
use engine::{Engine, Request};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

struct Kept {
    file: PathBuf,
    /// The device of questions that name none.
    device: Option<i64>,
    summary: FileSummary,
    /// Not here while a question has it.
    opened: Option<Opened>,
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// An open file; when dropped, one that is kept goes back to its place, and what was decoded of another goes into the cache.
pub(crate) struct Opened {
    engine: Engine,
    /// Its place in the cache, where it is not there yet.
    place: Option<Place>,
    is_kept: bool,
    /// By rules that the next question does not ask for.
    is_classified: bool,
}

impl Opened {
    /// One that was opened for a single question, and goes into the cache there when it is dropped.
    pub(crate) fn once(engine: Engine, place: Option<Place>) -> Opened {
        Opened { engine, place, is_kept: false, is_classified: false }
    }

    /// Says that it is classified by rules of this question.
    pub(crate) fn classified(&mut self) {
        self.is_classified = true;
    }

    /// Classifies the file by rules of this question.
    pub(crate) fn classify(&mut self, set: CategorySet) {
        self.classified();
        // There is no reply.
        self.engine.request(Request::Categories(Box::new(set)));
    }
}

impl Deref for Opened {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for Opened {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let place = self.place.take();
        if !self.is_kept && place.is_none() {
            return;
        }
        let mut engine = std::mem::replace(&mut self.engine, Engine::without_simulator());
        if !self.is_kept {
            if let Some(place) = place {
                place.keep(engine);
            }
            return;
        }
        if self.is_classified {
            engine.request(Request::Categories(Box::new(CategorySet::standard())));
        }
        // What a question did not wait for is no answer to the next.
        while engine.next_reply().is_some() {}
        KEPT.with_borrow_mut(|kept| {
            if let Some(kept) = kept {
                kept.opened = Some(Opened::once(engine, place));
            }
        });
    }
}

/// Keeps an open file, in place of the one before; `device` is that of questions that name none.
pub(crate) fn put(file: &Path, device: Option<i64>, summary: FileSummary, opened: Opened) {
    drop(KEPT.replace(Some(Kept { file: file.to_owned(), device, summary, opened: Some(opened) })));
}

/// Closes the file that is kept.
pub(crate) fn close() {
    drop(KEPT.take());
}

/// The file, if it is the one that is kept and no other question has it; and the device that questions are about which name none.
pub(crate) fn take(file: &Path) -> Option<(FileSummary, Opened, Option<i64>)> {
    KEPT.with_borrow_mut(|kept| {
        let kept = kept.as_mut().filter(|kept| kept.file == file)?;
        let mut opened = kept.opened.take()?;
        opened.is_kept = true;
        Some((kept.summary.clone(), opened, kept.device))
    })
}

/// The summary of the file, if it is the one that is kept.
pub(crate) fn summary(file: &Path) -> Option<FileSummary> {
    KEPT.with_borrow(|kept| kept.as_ref().filter(|kept| kept.file == file).map(|kept| kept.summary.clone()))
}
