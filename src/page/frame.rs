//! The only animation frame: asked for when something changed, shown once.

use gloo::timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::Window;

/// The animation frame that is on its way, if one is.
pub(super) struct Frame {
    window: Window,
    /// Told whether the frame was asked for because something changed, or only to go on.
    show: Box<dyn Fn(bool)>,
    /// Called when a frame was shown and no other is due.
    rest: Box<dyn Fn()>,
    waiting: RefCell<Waiting>,
    changed: Cell<bool>,
}

/// What has to happen before the next frame is shown.
#[derive(Default)]
enum Waiting {
    /// No frame was asked for.
    #[default]
    Nobody,
    /// A frame was asked for. The closure lives until it has run.
    Browser { _calls: Closure<dyn FnMut()> },
    /// A frame was just shown: what came meanwhile, timers and messages, is heard first. Frames asked for back to back would starve it.
    Others { wanted: bool, _rest: Timeout },
}

impl Frame {
    /// A frame loop that rests. `show` is called at each frame that is requested, `rest` when no other is due.
    pub(super) fn new(window: Window, show: impl Fn(bool) + 'static, rest: impl Fn() + 'static) -> Rc<Frame> {
        let (show, rest) = (Box::new(show), Box::new(rest));
        Rc::new(Frame { window, show, rest, waiting: RefCell::default(), changed: Cell::default() })
    }

    /// Whether no frame is due.
    pub(super) fn is_resting(&self) -> bool {
        matches!(*self.waiting.borrow(), Waiting::Nobody)
    }

    /// Shows the state at the next frame.
    pub(super) fn request(self: &Rc<Self>) {
        self.changed.set(true);
        self.go_on();
    }

    /// Shows what the last frame had no time for at the next.
    pub(super) fn go_on(self: &Rc<Self>) {
        let waiting = &mut *self.waiting.borrow_mut();
        match waiting {
            Waiting::Browser { .. } => {}
            Waiting::Others { wanted, .. } => *wanted = true,
            Waiting::Nobody => {
                let frame = self.clone();
                let shown = Closure::once(move || frame.shown());
                // It fails only in a document that is gone.
                let _ = self.window.request_animation_frame(shown.as_ref().unchecked_ref());
                *waiting = Waiting::Browser { _calls: shown };
            }
        }
    }

    fn shown(self: &Rc<Self>) {
        let frame = self.clone();
        // Usually it runs after this frame is painted and after what waits by then.
        let rest = Timeout::new(0, move || match frame.waiting.take() {
            Waiting::Others { wanted: true, .. } => frame.go_on(),
            _ => (frame.rest)(),
        });
        let running = self.waiting.replace(Waiting::Others { wanted: false, _rest: rest });
        (self.show)(self.changed.take());
        drop(running);
    }
}
