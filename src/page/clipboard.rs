//! Text to the clipboard.

use super::app::App;
use super::dom;
use js_sys::{Array, Function, Object, Promise, Reflect};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::Action;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, ClipboardItem};

const PLAIN: &str = "text/plain";

/// What was promised to the clipboard.
#[derive(Default)]
pub(super) struct Clipboard {
    promised: RefCell<Option<Function>>,
    /// How many promises were made: only the last one's end is of interest.
    promises: Cell<u32>,
}

impl Clipboard {
    /// Promises the clipboard a text within the key press or click that asked for it: WebKit takes none that comes without one. Where
    /// there are no such promises, the text is copied when it comes.
    pub(super) fn promise(self: &Rc<Self>, app: &'static App) {
        self.promised.take();
        self.promises.set(self.promises.get() + 1);
        if !app.dom.window.is_secure_context() {
            return;
        }
        let text = Promise::new(&mut |resolve, _| drop(self.promised.replace(Some(resolve))));
        let item = Object::new();
        let item = Reflect::set(&item, &PLAIN.into(), &text)
            .and_then(|_| ClipboardItem::new_with_record_from_str_to_blob_promise(&item));
        match item {
            Ok(item) => {
                let written = app.dom.window.navigator().clipboard().write(&Array::of1(&item));
                tell(app, written, Some((self.clone(), self.promises.get())));
            }
            Err(_) => drop(self.promised.take()),
        }
    }

    /// Copies the text that was promised.
    pub(super) fn copy_promised(&self, app: &'static App, text: &str) {
        let Some(promised) = self.promised.take() else { return copy(app, text) };
        let kind = BlobPropertyBag::new();
        kind.set_type(PLAIN);
        let text = Blob::new_with_str_sequence_and_options(&Array::of1(&text.into()), &kind);
        // What it returns says nothing.
        let _ = promised.call1(&JsValue::NULL, &text.map_or_else(|error| error, JsValue::from));
    }
}

/// Copies `text`, and says whether the browser allowed it.
pub(super) fn copy(app: &'static App, text: &str) {
    // Only secure contexts have one; a page served over plain http from another machine is none.
    if !app.dom.window.is_secure_context() {
        app.dispatch(Action::Copied(Err("this page was not served over https".to_owned())));
        return;
    }
    tell(app, app.dom.window.navigator().clipboard().write_text(text), None);
}

/// Says how copying ended; a promise that another one followed says nothing.
fn tell(app: &'static App, copied: Promise, promise: Option<(Rc<Clipboard>, u32)>) {
    spawn_local(async move {
        let result = JsFuture::from(copied).await;
        if promise.is_none_or(|(clipboard, promise)| promise == clipboard.promises.get()) {
            app.dispatch(Action::Copied(result.map(drop).map_err(|error| dom::cause(&error))));
        }
    });
}
