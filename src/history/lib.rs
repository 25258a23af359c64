//! Decoding of PyTorch memory snapshots into a history of allocations.
//!
//! The input is the bytes of a file, in chunks of any size. The output is the decoded snapshot and, for each device,
//! the replayed history: allocations with lifetimes, totals, peaks and segments.
//!
//! ```text
//! chunks ──▶ container ──▶ pickle │ json ──▶ snapshot ──▶ replay
//!            (gzip, zstd,   (values)        (tables)     (allocations with lifetimes, totals, peaks)
//!             zip, HTML)                    compact ↕ columns
//! ```
//!
//! Start with `snapshot/mod.rs` (the tables of a file), `replay/mod.rs` (the replay of a history) and
//! `container/mod.rs` (unpacking of a file).

// Outer formats, recognized by content: gzip, zstd, zip and HTML around a pickle or JSON.
pub mod container;

// Pickle parser. It produces Python values and knows nothing about torch.
pub mod pickle;

// JSON parser. It produces the same values as the pickle parser.
pub mod json;

// Additions of memscape's recorder to a snapshot: tensors, steps, sources, facts about process and device.
pub mod recorder;

// Paths of Python itself and of installed packages.
pub mod python_path;

// Snapshot tables: frames, stacks, events and segments, faithful to the file and without inference.
pub mod snapshot;

// Snapshot tables as compact columns, which pages embed and servers send.
pub mod compact;

// Writers of values as pickle or JSON, which know nothing about torch.
pub mod writing;

// Replay of events into a history: allocations with lifetimes, totals, peaks, the state before the trace.
pub mod replay;
