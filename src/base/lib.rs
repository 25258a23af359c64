//! What every layer speaks in: bytes and event numbers with their one text form, columns, sorting, slices of time, and data as bytes of a message.

// The derive of `codec` names this crate from outside.
extern crate self as base;

// Plain data ↔ bytes, for messages.
pub mod codec;

// A table column that grows by chunks, never by doubling.
pub mod column;

// The time that work has before it is called again.
pub mod slice;

// One sort for everything that is small or rare.
pub mod sorted;

// Bytes, event indices and moments, and their one text form.
pub mod units;
