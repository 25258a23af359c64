//! Copying of text to the clipboard.

use super::app::App;
use super::dom;
use js_sys::{Array, Function, Object, Promise, Reflect};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::shell::action::Action;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, ClipboardItem};

const PLAIN: &str = "text/plain";

/// Clipboard content that was promised to the browser but is not available yet.
#[derive(Default)]
pub(super) struct Clipboard {
    pending: RefCell<Option<Function>>,
    /// Number of promises so far. Only the result of the latest one is reported.
    promises: Cell<u32>,
}

impl Clipboard {
    /// Promises the browser a text for the clipboard while a key press or click is being handled. WebKit rejects
    /// clipboard writes outside of a user gesture. Without support for promises, the text is copied once it is
    /// available.
    pub(super) fn promise(self: &Rc<Self>, app: &'static App) {
        self.pending.take();
        self.promises.set(self.promises.get() + 1);
        if !app.dom.window.is_secure_context() {
            return;
        }
        let text = Promise::new(&mut |resolve, _| drop(self.pending.replace(Some(resolve))));
        let item = Object::new();
        let item = Reflect::set(&item, &PLAIN.into(), &text)
            .and_then(|_| ClipboardItem::new_with_record_from_str_to_blob_promise(&item));
        match item {
            Ok(item) => {
                let written = app.dom.window.navigator().clipboard().write(&Array::of1(&item));
                report_result(app, written, Some((self.clone(), self.promises.get())));
            }
            Err(_) => drop(self.pending.take()),
        }
    }

    /// Delivers the promised text to the clipboard.
    pub(super) fn copy_promised(&self, app: &'static App, text: &str) {
        let Some(promised) = self.pending.take() else { return copy(app, text) };
        let kind = BlobPropertyBag::new();
        kind.set_type(PLAIN);
        let text = Blob::new_with_str_sequence_and_options(&Array::of1(&text.into()), &kind);
        // The resolve function returns nothing of interest.
        let _ = promised.call1(&JsValue::NULL, &text.map_or_else(|error| error, JsValue::from));
    }
}

/// Copies `text` and shows whether the browser allowed it.
pub(super) fn copy(app: &'static App, text: &str) {
    // The clipboard exists only in secure contexts. A page served over plain http from another machine is not one.
    if !app.dom.window.is_secure_context() {
        app.dispatch(Action::Copied(Err("this page was not served over https".to_owned())));
        return;
    }
    report_result(app, app.dom.window.navigator().clipboard().write_text(text), None);
}

/// Shows whether copying succeeded, unless a later promise replaced this one.
fn report_result(app: &'static App, copied: Promise, promise: Option<(Rc<Clipboard>, u32)>) {
    spawn_local(async move {
        let result = JsFuture::from(copied).await;
        if promise.is_none_or(|(clipboard, promise)| promise == clipboard.promises.get()) {
            app.dispatch(Action::Copied(result.map(drop).map_err(|error| dom::error_message(&error))));
        }
    });
}
