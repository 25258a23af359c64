//! Page that sent the open files with `postMessage` ([`super::embedding`]). It learns when they are open, why they
//! could not be opened, and which view is shown.

use super::recent::call_method;
use js_sys::{Object, Reflect};
use std::cell::Cell;
use ui::state::link::Link;
use ui::state::stage::Stage;
use wasm_bindgen::JsValue;
use web_sys::File;

/// Window that sent a message.
pub(super) struct Sender {
    window: JsValue,
    pub(super) origin: String,
    /// Link to the view in the sender's page, with a placeholder. Empty if the sender gave none.
    pub(super) link: String,
    /// Event that was sent last about the stage of the files.
    reported: Cell<&'static str>,
}

/// Files that a page has sent.
pub(super) struct SentFiles {
    pub(super) title: String,
    /// Name and content of each file.
    pub(super) files: Vec<(String, File)>,
    pub(super) sender: Sender,
    /// View to show once the files are open.
    pub(super) view: Link,
}

impl Sender {
    pub(super) fn new(window: JsValue, origin: String) -> Sender {
        Sender { window, origin, link: String::new(), reported: Cell::default() }
    }

    /// Sends a message. If the window now shows a page of another origin, the browser drops it.
    pub(super) fn send(&self, message: &JsValue) {
        // Sandboxed frames and files on disk have an origin that cannot be named.
        let target = if self.origin == "null" { "*" } else { &self.origin };
        // Fails if the window was closed.
        let _ = call_method(&self.window, "postMessage", &[message.clone(), target.into()]);
    }

    /// Sends the event `{memscape: {event, [key]: text}}`.
    pub(super) fn send_event(&self, event: &str, key: &str, text: &str) {
        let (message, inner) = (Object::new(), Object::new());
        for (object, key, value) in [
            (&inner, "event", JsValue::from(event)),
            (&inner, key, text.into()),
            (&message, "memscape", inner.clone().into()),
        ] {
            // An object accepts any property.
            let _ = Reflect::set(object, &key.into(), &value);
        }
        self.send(&message);
    }

    /// Reports that the files are open or could not be opened. Later calls do nothing until other files are loaded.
    pub(super) fn report_stage(&self, stage: &Stage) {
        let (event, message) = match stage {
            Stage::Ready(_) => ("ready", ""),
            Stage::Failed(message) => ("error", &**message),
            _ => ("", ""),
        };
        if self.reported.replace(event) != event && !event.is_empty() {
            self.send_event(event, "message", message);
        }
    }
}
