//! Encoding of messages as JavaScript arrays.

use js_sys::{Array, ArrayBuffer, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessagePort;

/// Creates a message from a value and its attachments.
pub fn pack(value: &impl Serialize, attachments: &Array) -> Array {
    let message = Array::of1(&buffer(&protocol::encode(value)));
    message.concat(attachments)
}

/// Splits a message into its value and its attachments. Returns `None` if it is not a valid message.
pub fn unpack<T: DeserializeOwned>(message: Array) -> Option<(T, Array)> {
    let value = protocol::decode(&to_vec(&message.shift())?)?;
    Some((value, message))
}

/// Returns the elements of a message that are transferred: its buffers and ports.
pub fn transferred(message: &Array) -> Array {
    message.iter().filter(|part| part.is_instance_of::<ArrayBuffer>() || part.is_instance_of::<MessagePort>()).collect()
}

/// Copies bytes into a new buffer, which can be attached to a message.
pub fn buffer(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).buffer().into()
}

/// Returns the bytes of the buffer that is the attachment with this index.
pub fn attached_bytes(attachments: &Array, index: u32) -> Option<Vec<u8>> {
    to_vec(&attachments.get(index))
}

fn to_vec(buffer: &JsValue) -> Option<Vec<u8>> {
    Some(Uint8Array::new(buffer.dyn_ref::<ArrayBuffer>()?).to_vec())
}
