//! The YAML worker. It parses a text and sends its values to the page.
//!
//! ```text
//! ["read", text]     text to parse
//! ["ready"]          the worker is ready
//! ["values", bytes]  document or error
//! ["died", text]     the worker panicked
//! ```

use gloo::events::EventListener;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    if let Err(cause) = listen() {
        // The bootstrap reports it to the page.
        wasm_bindgen::throw_val(cause);
    }
}

fn listen() -> Result<(), JsValue> {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().dyn_into()?;
    std::panic::set_hook(Box::new({
        let scope = scope.clone();
        move |panic| post(&scope, &Array::of2(&"died".into(), &panic.to_string().into()))
    }));
    let answering = scope.clone();
    let listener = EventListener::new(&scope, "message", move |event| {
        let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
        let message: Array = event.data().unchecked_into();
        // Invalid messages are ignored.
        let Some(text) = message.get(1).as_string() else { return };
        let bytes = postcard::to_allocvec(&yaml::read(&text)).unwrap_or_default();
        post(&answering, &Array::of2(&"values".into(), &Uint8Array::from(&*bytes)));
    });
    // The listener lives as long as the worker.
    listener.forget();
    post(&scope, &Array::of1(&"ready".into()));
    Ok(())
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &Array) {
    // Fails only for values that cannot be cloned. Strings and bytes can be.
    let _ = scope.post_message(message);
}
