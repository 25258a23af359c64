//! `body[data-idle]`: there while the page waits for nothing. Tests and scripts wait for it instead of for time.
//!
//! Idle means: no frame is due, the worker has answered everything and reads nothing, no text is about to be taken from a field, no file
//! is loaded, and no simulation, query or survey runs. What is polled or kept in the background does not count.

use super::app::App;
use super::dom;
use std::cell::Cell;
use std::rc::Rc;
use ui::stage::Stage;
use wasm_bindgen_futures::spawn_local;

/// Reasons to be busy that are not in the state, and whether the attribute is there.
#[derive(Default)]
pub(super) struct Busy {
    reasons: Rc<Cell<u32>>,
    is_idle: Cell<bool>,
}

/// A reason to be busy, until it is dropped.
pub(super) struct Reason {
    app: &'static App,
    reasons: Rc<Cell<u32>>,
}

impl Busy {
    /// Makes the page busy until the result is dropped.
    pub(super) fn begin(app: &'static App) -> Reason {
        let reasons = app.busy.reasons.clone();
        reasons.set(reasons.get() + 1);
        set(app, false);
        Reason { app, reasons }
    }
}

impl Drop for Reason {
    fn drop(&mut self) {
        self.reasons.set(self.reasons.get() - 1);
        // The frame that follows sees whether another reason is left.
        self.app.frame.go_on();
    }
}

/// Runs a task, during which the page is busy.
pub(super) fn spawn(app: &'static App, task: impl Future<Output = ()> + 'static) {
    let reason = Busy::begin(app);
    spawn_local(async move {
        task.await;
        drop(reason);
    });
}

/// Notes that something is about to change.
pub(super) fn begin(app: &App) {
    set(app, false);
}

/// Sets or removes the attribute by what the page waits for now.
pub(super) fn refresh(app: &App) {
    let state = app.state.borrow();
    let waits = !matches!(state.stage, Stage::Loading(_)) && !state.what_if.is_running() && !state.ranks.is_running();
    set(app, waits && app.busy.reasons.get() == 0 && app.frame.is_resting() && app.client.is_idle());
}

fn set(app: &App, is_idle: bool) {
    if app.busy.is_idle.replace(is_idle) != is_idle
        && let Some(body) = app.dom.document.body()
    {
        dom::set_or_remove(&body, &[("data-idle", is_idle.then(String::new))]);
    }
}
