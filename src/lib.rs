//! memscape opens PyTorch CUDA memory snapshots and answers questions about them.
//!
//! This crate re-exports the workspace's crates under one name, for tests, benches and programs that embed memscape. In
//! the order of the data: `history` parses a file into allocations with lifetimes, `allocator` simulates PyTorch's
//! allocator, `analysis` computes reports (`yaml` reads its category rules), `picture` turns allocations into
//! rectangles and draws them (`gpu` with WebGPU), `intake` loads a file with `history` in time slices, and `engine`
//! runs all of this behind the messages of `protocol`. `compare` diffs snapshots, `exports` writes other tools'
//! formats, `sql` exposes SQLite tables (through `sqlite`), `ui` holds the state of the views, and `base` formats
//! quantities. The front ends are `page` (browser), `cli` (command line) and `tui`.
//!
//! Read first: `src/engine/lib.rs`, `src/protocol/lib.rs` and `src/ui/lib.rs`.
//!
//! Rules that hold everywhere:
//! * Dependencies point one way. Cargo enforces it for crates, `tests/layers.rs` for modules of `history` and
//!   `picture`.
//! * Only `gpu` and the crates above it know about GPUs, only `page` knows about browsers, and `pickle` knows
//!   nothing about torch.
//! * Nothing in a file is ever imported or executed, and no bytes leave the machine.
//! * An id is valid only for the table that made it.
//! * *Requested* bytes (asked for by the program), *rounded* bytes (handed out by the allocator) and *reserved* bytes
//!   (taken from the driver) are never added to each other.
//!
//! Out of scope by design: a tree of Python values, a copy of the file, a top-N cut, a WebGL backend, hand-written
//! JavaScript.

pub use allocator;
pub use analysis;
pub use base::{column, heap, slice, sorted, units};
pub use compare;
pub use engine;
pub use exports;
#[cfg(feature = "gpu")]
pub use gpu;
pub use history::{compact, container, json, pickle, replay, snapshot, writing};
pub use intake;
pub use picture::{outline, render, shapes, svg, timeline};
pub use protocol;
pub use sql;
pub use ui;
pub use yaml;
