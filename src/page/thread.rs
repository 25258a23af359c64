//! Web workers of the page. A worker is terminated when its [`WorkerThread`] is dropped.
//!
//! Workers are always started from blob URLs, because a worker loaded from a server does not inherit the page's content
//! security policy. The script consists of the JavaScript glue and a bootstrap. The page has already compiled the wasm
//! module.

use super::dom;
use crate::wire::BOOTSTRAP;
use gloo::events::EventListener;
use js_sys::{Array, Error};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, ErrorEvent, MessageEvent, Response, Url, Window, Worker};

/// Running web worker.
pub(super) struct WorkerThread {
    pub(super) worker: Worker,
    _listeners: [EventListener; 2],
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

impl WorkerThread {
    /// Starts a worker. `receive` is called with each message, and with the text of each error.
    pub(super) fn new(
        script: &str,
        module: &JsValue,
        receive: impl Fn(Result<JsValue, String>) + Clone + 'static,
    ) -> Result<WorkerThread, String> {
        let worker = Worker::new(script).map_err(|error| dom::error_message(&error))?;
        let fail = receive.clone();
        let on_message = EventListener::new(&worker, "message", move |event| {
            event.dyn_ref::<MessageEvent>().iter().for_each(|event| receive(Ok(event.data())));
        });
        let on_error = EventListener::new(&worker, "error", move |event| {
            fail(Err(event.dyn_ref::<ErrorEvent>().map_or_else(String::new, ErrorEvent::message)));
        });
        worker.post_message(module).map_err(|error| dom::error_message(&error))?;
        Ok(WorkerThread { worker, _listeners: [on_message, on_error] })
    }
}

/// Returns the URL of a script that starts a worker with this JavaScript glue.
pub(super) fn script_url(glue: &str) -> Result<String, String> {
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let parts = Array::of2(&glue.into(), &BOOTSTRAP.into());
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options).map_err(|error| dom::error_message(&error))?;
    Url::create_object_url_with_blob(&blob).map_err(|error| dom::error_message(&error))
}

/// Fetches a URL. A response with an error status is an error.
pub(super) async fn fetch(window: &Window, address: &str) -> Result<Response, JsValue> {
    let response: Response = JsFuture::from(window.fetch_with_str(address)).await?.dyn_into()?;
    if !response.ok() {
        return Err(Error::new(&format!("the server answered {}", response.status())).into());
    }
    Ok(response)
}
