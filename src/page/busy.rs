//! The attribute `body[data-idle]`, which is set while the page is idle. Tests and scripts wait for it instead of
//! sleeping.
//!
//! The page is idle if no frame is scheduled, the worker has processed all messages and is not reading, no text input
//! is being debounced, no file is loading, and no simulation, query or scan of ranks is running. Polling and background
//! caching do not count.

use super::dom;
use super::frame::Frame;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

/// Reasons to be busy that are not part of the state, and the attribute that shows them.
pub(super) struct Busy {
    body: Option<Element>,
    frame: Rc<Frame>,
    reasons: Rc<Cell<u32>>,
    is_idle: Cell<bool>,
}

/// Guard that keeps the page busy until it is dropped.
pub(super) struct BusyGuard {
    frame: Rc<Frame>,
    reasons: Rc<Cell<u32>>,
}

impl Busy {
    /// Creates a tracker for a page that is not busy. The attribute is not set until the first call of
    /// [`Busy::set_idle`].
    pub(super) fn new(body: Option<Element>, frame: Rc<Frame>) -> Busy {
        Busy { body, frame, reasons: Rc::default(), is_idle: Cell::default() }
    }

    /// Keeps the page busy until the returned guard is dropped.
    pub(super) fn guard(&self) -> BusyGuard {
        self.reasons.set(self.reasons.get() + 1);
        self.set_idle(false);
        BusyGuard { frame: self.frame.clone(), reasons: self.reasons.clone() }
    }

    /// Spawns a task and keeps the page busy until it has finished.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let reason = self.guard();
        spawn_local(async move {
            task.await;
            drop(reason);
        });
    }

    /// Returns whether there are no reasons to be busy and no frame is scheduled.
    pub(super) fn is_quiet(&self) -> bool {
        self.reasons.get() == 0 && self.frame.is_idle()
    }

    /// Sets or removes the attribute `body[data-idle]`.
    pub(super) fn set_idle(&self, is_idle: bool) {
        if self.is_idle.replace(is_idle) != is_idle
            && let Some(body) = &self.body
        {
            dom::set_or_remove(body, &[("data-idle", is_idle.then(String::new))]);
        }
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.reasons.set(self.reasons.get() - 1);
        // The next frame checks whether other reasons are left.
        self.frame.resume();
    }
}
