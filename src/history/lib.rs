//! Bytes → history: what a file says, and what must have happened.
//!
//! ```text
//! chunks ──▶ container ──▶ pickle │ json ──▶ snapshot ──▶ replay
//!            (gzip, zstd,   (values)        (tables)     (allocations with lifetimes, totals, peaks)
//!             zip, HTML)                    compact ↕ columns
//! ```

// Outer formats, distinguished by content: gzip, zstd and HTML around a pickle or JSON.
pub mod container;

// Bytes → Python values. Knows opcodes, nothing of torch.
pub mod pickle;

// JSON → the same values. Knows tokens, nothing of torch.
pub mod json;

// What a recorder adds to a snapshot: tensors, steps, source, facts about process and device.
pub mod recorder;

// Values → frames, stacks, events, segments. Faithful to the file, draws no conclusions.
pub mod snapshot;

// Frames, stacks, events, segments ↔ compact columns, which the page carries and a server sends.
pub mod compact;

// Values → a pickle or JSON. Knows how they are written, nothing of torch.
pub mod writing;

// Events → history: allocations with lifetimes, totals, peaks, the state before the trace.
pub mod replay;
