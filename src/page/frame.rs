//! The only animation frame: asked for when something changed, shown once.

use super::App;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// The animation frame that is on its way, if one is.
#[derive(Default)]
pub(super) struct Frame {
    waiting: RefCell<Option<Closure<dyn FnMut()>>>,
}

impl Frame {
    /// Shows the state at the next frame.
    pub(super) fn request(&self, app: &Rc<App>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_some() {
            return;
        }
        let app = app.clone();
        let window = app.elements.window.clone();
        let shown = Closure::once(move || {
            // What comes while it is shown gets a frame of its own. The closure lives until it returns.
            let running = app.frame.waiting.take();
            app.show();
            drop(running);
        });
        // It fails only in a document that is gone.
        let _ = window.request_animation_frame(shown.as_ref().unchecked_ref());
        *waiting = Some(shown);
    }
}
