//! Encoding of requests and replies as bytes.
//!
//! The page and its workers are always from the same build. So the format does not contain field names or a version.

use super::lean::LeanDeserializer;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Encodes a value as bytes.
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    // Serialization only fails for sequences of unknown length, and no message has one.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// Decodes a value. Returns `None` if the bytes are invalid or too many.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut from = postcard::Deserializer::from_bytes(bytes);
    let value = T::deserialize(LeanDeserializer(&mut from)).ok()?;
    from.finalize().ok().filter(|rest| rest.is_empty()).map(|_| value)
}

#[cfg(test)]
#[path = "../../tests/units/protocol/message.rs"]
mod tests;
