//! The worker's end of a channel.

use crate::message::{pack, transferred, unpack};
use gloo::events::EventListener;
use js_sys::Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// The page, to which a worker sends its replies.
pub struct Page<Reply> {
    scope: DedicatedWorkerGlobalScope,
    replies: PhantomData<fn(Reply)>,
}

impl<Reply: Serialize> Page<Reply> {
    /// Returns the page that has started this worker.
    ///
    /// # Errors
    /// Returns an error if this is not a worker.
    pub fn new() -> Result<Page<Reply>, JsValue> {
        Ok(Page { scope: js_sys::global().dyn_into()?, replies: PhantomData })
    }

    /// Sends a reply without attachments.
    pub fn send(&self, reply: &Reply) {
        self.send_with(reply, &Array::new());
    }

    /// Sends a reply with attachments.
    pub fn send_with(&self, reply: &Reply, attachments: &Array) {
        let message = pack(reply, attachments);
        // Fails only for a buffer that was transferred before, and ours are new.
        let _ = self.scope.post_message_with_transfer(&message, &transferred(&message));
    }
}

/// Serves the page until it terminates the worker. `start` creates the handler, which is called with each request and
/// its attachments. Invalid requests are ignored.
pub fn serve<Request, Reply, Handler>(start: impl FnOnce(Page<Reply>) -> Result<Handler, JsValue>)
where
    Request: DeserializeOwned,
    Reply: Serialize,
    Handler: Fn(Request, Array) + 'static,
{
    let listen = || {
        let page = Page::new()?;
        let scope = page.scope.clone();
        std::panic::set_hook(Box::new({
            let scope = scope.clone();
            // Fails only for values that cannot be cloned. Strings can be.
            move |panic| drop(scope.post_message(&panic.to_string().into()))
        }));
        let handler = start(page)?;
        let listener = EventListener::new(&scope, "message", move |event| {
            let message = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().dyn_into().ok());
            if let Some((request, attachments)) = message.and_then(unpack) {
                handler(request, attachments);
            }
        });
        // The listener lives as long as the worker.
        listener.forget();
        scope.post_message(&JsValue::NULL)
    };
    if let Err(cause) = listen() {
        // The bootstrap script sends it to the page.
        wasm_bindgen::throw_val(cause);
    }
}
