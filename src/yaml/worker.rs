//! The worker's shell: a text → its values.
//!
//! ```text
//! ["read", text]
//! ["ready"]          it listens
//! ["values", bytes]  the document, or why there is none
//! ["died", text]
//! ```

use gloo::events::EventListener;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Reads for the page until the page ends the worker.
pub(super) fn start() {
    if let Err(cause) = listen() {
        // The bootstrap passes it on to the page.
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
        // What is not one of ours says nothing.
        let Some(text) = message.get(1).as_string() else { return };
        let bytes = postcard::to_allocvec(&yaml::read(&text)).unwrap_or_default();
        post(&answering, &Array::of2(&"values".into(), &Uint8Array::from(&*bytes)));
    });
    // It listens as long as the worker lives.
    listener.forget();
    post(&scope, &Array::of1(&"ready".into()));
    Ok(())
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &Array) {
    // It fails only for what can't be cloned, and texts and bytes can.
    let _ = scope.post_message(message);
}
