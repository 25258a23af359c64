//! The page's animation frame, requested when something has changed.

use gloo::timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::Window;

/// Scheduler for animation frames. At most one frame is scheduled at a time.
pub(super) struct Frame {
    window: Window,
    /// Called for each frame. The argument is true if the state has changed, false if the frame only continues
    /// unfinished work.
    show: Box<dyn Fn(bool)>,
    /// Called after a frame if no other frame is scheduled.
    rest: Box<dyn Fn()>,
    waiting: RefCell<Waiting>,
    changed: Cell<bool>,
}

/// Event that the scheduler waits for before the next frame.
#[derive(Default)]
enum Waiting {
    /// No frame is scheduled.
    #[default]
    Nobody,
    /// A frame is scheduled. The closure lives until it has run.
    Browser { _calls: Closure<dyn FnMut()> },
    /// A frame was just shown, and pending timers and messages are handled first. Frames requested back to back would
    /// starve them.
    Others { wanted: bool, _rest: Timeout },
}

impl Frame {
    /// Creates an idle scheduler. `show` is called for each requested frame, `rest` when no other frame is scheduled.
    pub(super) fn new(window: Window, show: impl Fn(bool) + 'static, rest: impl Fn() + 'static) -> Rc<Frame> {
        let (show, rest) = (Box::new(show), Box::new(rest));
        Rc::new(Frame { window, show, rest, waiting: RefCell::default(), changed: Cell::default() })
    }

    /// Returns whether no frame is scheduled.
    pub(super) fn is_resting(&self) -> bool {
        matches!(*self.waiting.borrow(), Waiting::Nobody)
    }

    /// Schedules a frame that renders the changed state.
    pub(super) fn request(self: &Rc<Self>) {
        self.changed.set(true);
        self.go_on();
    }

    /// Schedules a frame that continues unfinished work.
    pub(super) fn go_on(self: &Rc<Self>) {
        let waiting = &mut *self.waiting.borrow_mut();
        match waiting {
            Waiting::Browser { .. } => {}
            Waiting::Others { wanted, .. } => *wanted = true,
            Waiting::Nobody => {
                let frame = self.clone();
                let shown = Closure::once(move || frame.shown());
                // Fails only in a document that was closed.
                let _ = self.window.request_animation_frame(shown.as_ref().unchecked_ref());
                *waiting = Waiting::Browser { _calls: shown };
            }
        }
    }

    fn shown(self: &Rc<Self>) {
        let frame = self.clone();
        // The timeout usually fires after this frame was painted and after events that were pending by then.
        let rest = Timeout::new(0, move || match frame.waiting.take() {
            Waiting::Others { wanted: true, .. } => frame.go_on(),
            _ => (frame.rest)(),
        });
        let running = self.waiting.replace(Waiting::Others { wanted: false, _rest: rest });
        (self.show)(self.changed.take());
        drop(running);
    }
}
