//! Slices of work, between which a worker receives messages.

use js_sys::Promise;
use js_sys::futures::JsFuture;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, Performance};

/// Maximum duration, in milliseconds, of a slice of work. Messages wait until it ends.
const SLICE_MS: f64 = 8.0;

/// Clock and message queue of a worker that works in slices.
pub struct Slices {
    pub clock: Performance,
    turns: MessageChannel,
}

impl Slices {
    /// Creates the slices of this worker.
    ///
    /// # Errors
    /// Returns an error if the browser has no clock or no message channels in workers.
    pub fn new() -> Result<Slices, JsValue> {
        let scope: DedicatedWorkerGlobalScope = js_sys::global().dyn_into()?;
        let clock = scope.performance().ok_or("a worker without a clock")?;
        Ok(Slices { clock, turns: MessageChannel::new()? })
    }

    /// Returns the time in milliseconds at which a slice ends that starts now.
    pub fn end_of_next(&self) -> f64 {
        self.clock.now() + SLICE_MS
    }

    /// Waits until pending messages have been received. Uses a message channel, because a timer would wait 4 ms.
    pub async fn yield_to_queue(&self) {
        let passed = Promise::new(&mut |resolve, _| self.turns.port1().set_onmessage(Some(&resolve)));
        if self.turns.port2().post_message(&JsValue::NULL).is_ok() {
            let _ = JsFuture::from(passed).await;
        }
    }
}
