//! Typed messages between the page and its workers, which are WebAssembly programs.
//!
//! ```text
//! page → worker   the compiled WebAssembly module, then messages
//! worker → page   null when the worker is ready, messages, and a string if the worker crashes
//! message         an array: the buffer of a value encoded by `protocol::encode`, and attachments
//! ```
//!
//! Buffers and ports are transferred without a copy. Files and blobs are sent as handles.
//!
//! `serve.rs` is the worker's end. The page's end is `src/page/remote.rs`.

#![cfg(target_arch = "wasm32")]

// Output that is collected outside of wasm memory.
mod blob_writer;

// Encoding of messages.
mod message;

// The worker's end.
mod serve;

// Slices of work, between which a worker receives messages.
mod slices;

pub use blob_writer::BlobWriter;
pub use message::{attached_bytes, buffer, pack, transferred, unpack};
pub use serve::{Page, serve};
pub use slices::Slices;
