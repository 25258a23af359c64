//! Requests and replies ↔ bytes: how they cross between page and worker, which are the same build, so nothing is named or versioned.

use super::lean::Lean;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `value` as bytes.
pub fn encoded(value: &impl Serialize) -> Vec<u8> {
    // Only types that do not know their length could fail, and none of ours is one.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// The value that these bytes are; `None` when they are no such value, or more than one.
pub fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut from = postcard::Deserializer::from_bytes(bytes);
    let value = T::deserialize(Lean(&mut from)).ok()?;
    from.finalize().ok().filter(|rest| rest.is_empty()).map(|_| value)
}

#[cfg(test)]
#[path = "../../../tests/units/engine/protocol/message.rs"]
mod tests;
