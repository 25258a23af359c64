//! `body[data-idle]`: there while the page waits for nothing. Tests and scripts wait for it instead of for time.
//!
//! Idle means: no frame is due, the worker has answered everything and reads nothing, no text is about to be taken from a field, no file
//! is loaded, and no simulation, query or survey runs. What is polled or kept in the background does not count.

use super::dom;
use super::frame::Frame;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

/// Reasons to be busy that the state does not have, and the attribute.
pub(super) struct Busy {
    body: Option<Element>,
    frame: Rc<Frame>,
    reasons: Rc<Cell<u32>>,
    is_idle: Cell<bool>,
}

/// A reason to be busy, until it is dropped.
pub(super) struct Reason {
    frame: Rc<Frame>,
    reasons: Rc<Cell<u32>>,
}

impl Busy {
    /// Without a reason, and without the attribute until the first [`Busy::set_idle`].
    pub(super) fn new(body: Option<Element>, frame: Rc<Frame>) -> Busy {
        Busy { body, frame, reasons: Rc::default(), is_idle: Cell::default() }
    }

    /// Makes the page busy until the result is dropped.
    pub(super) fn begin(&self) -> Reason {
        self.reasons.set(self.reasons.get() + 1);
        self.set_idle(false);
        Reason { frame: self.frame.clone(), reasons: self.reasons.clone() }
    }

    /// Runs a task, during which the page is busy.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let reason = self.begin();
        spawn_local(async move {
            task.await;
            drop(reason);
        });
    }

    /// Whether there is no reason and no frame is due.
    pub(super) fn is_resting(&self) -> bool {
        self.reasons.get() == 0 && self.frame.is_resting()
    }

    /// Sets or removes the attribute.
    pub(super) fn set_idle(&self, is_idle: bool) {
        if self.is_idle.replace(is_idle) != is_idle
            && let Some(body) = &self.body
        {
            dom::set_or_remove(body, &[("data-idle", is_idle.then(String::new))]);
        }
    }
}

impl Drop for Reason {
    fn drop(&mut self) {
        self.reasons.set(self.reasons.get() - 1);
        // The frame that follows finds out whether another reason is left.
        self.frame.go_on();
    }
}
