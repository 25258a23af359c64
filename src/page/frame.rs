//! Scheduling of animation frames, which are requested when something has changed.

use gloo::timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::Window;

/// Scheduler for animation frames. At most one frame is scheduled at a time.
pub(super) struct Frame {
    window: Window,
    /// Called in each frame. The argument is true if the state has changed, and false if the frame only continues
    /// unfinished work.
    on_frame: Box<dyn Fn(bool)>,
    /// Called after a frame, if no other one is scheduled.
    on_idle: Box<dyn Fn()>,
    state: RefCell<FrameState>,
    changed: Cell<bool>,
}

/// State of the scheduler: idle, or waiting for the event that precedes the next frame.
#[derive(Default)]
enum FrameState {
    /// No frame is scheduled.
    #[default]
    Idle,
    /// A frame is scheduled. The closure lives until it has run.
    Scheduled { _calls: Closure<dyn FnMut()> },
    /// A frame has just been shown. Before the next one, pending timers and messages are handled, because back-to-back
    /// frames would delay them indefinitely.
    Yielding { wanted: bool, _rest: Timeout },
}

impl Frame {
    /// Creates a scheduler without a scheduled frame. `show` is called in each frame, and `rest` after a frame if no
    /// other one is scheduled.
    pub(super) fn new(window: Window, show: impl Fn(bool) + 'static, rest: impl Fn() + 'static) -> Rc<Frame> {
        let (on_frame, on_idle) = (Box::new(show), Box::new(rest));
        Rc::new(Frame { window, on_frame, on_idle, state: RefCell::default(), changed: Cell::default() })
    }

    /// Returns whether no frame is scheduled.
    pub(super) fn is_idle(&self) -> bool {
        matches!(*self.state.borrow(), FrameState::Idle)
    }

    /// Schedules a frame that renders the changed state.
    pub(super) fn request(self: &Rc<Self>) {
        self.changed.set(true);
        self.resume();
    }

    /// Schedules a frame that continues unfinished work.
    pub(super) fn resume(self: &Rc<Self>) {
        let state = &mut *self.state.borrow_mut();
        match state {
            FrameState::Scheduled { .. } => {}
            FrameState::Yielding { wanted, .. } => *wanted = true,
            FrameState::Idle => {
                let frame = self.clone();
                let shown = Closure::once(move || frame.run());
                // Fails only in a document that was closed.
                let _ = self.window.request_animation_frame(shown.as_ref().unchecked_ref());
                *state = FrameState::Scheduled { _calls: shown };
            }
        }
    }

    fn run(self: &Rc<Self>) {
        let frame = self.clone();
        // The timeout usually fires after this frame was painted and after events that were pending by then.
        let rest = Timeout::new(0, move || match frame.state.take() {
            FrameState::Yielding { wanted: true, .. } => frame.resume(),
            _ => (frame.on_idle)(),
        });
        let running = self.state.replace(FrameState::Yielding { wanted: false, _rest: rest });
        (self.on_frame)(self.changed.take());
        drop(running);
    }
}
