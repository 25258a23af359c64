//! The only animation frame: asked for when something changed, shown once.

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
    waiting: RefCell<Option<Closure<dyn FnMut()>>>,
    changed: Cell<bool>,
}

impl Frame {
    /// None yet; `show` is called at each that is asked for.
    pub(super) fn new(window: Window, show: impl Fn(bool) + 'static) -> Rc<Frame> {
        Rc::new(Frame { window, show: Box::new(show), waiting: RefCell::default(), changed: Cell::default() })
    }

    /// Shows the state at the next frame.
    pub(super) fn request(self: &Rc<Self>) {
        self.changed.set(true);
        self.go_on();
    }

    /// Shows what the last frame had no time for at the next.
    pub(super) fn go_on(self: &Rc<Self>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_some() {
            return;
        }
        let frame = self.clone();
        let shown = Closure::once(move || {
            // What comes while it is shown gets a frame of its own. The closure lives until it returns.
            let running = frame.waiting.take();
            (frame.show)(frame.changed.take());
            drop(running);
        });
        // It fails only in a document that is gone.
        let _ = self.window.request_animation_frame(shown.as_ref().unchecked_ref());
        *waiting = Some(shown);
    }
}
