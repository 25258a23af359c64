//! memscape opens PyTorch memory snapshots: bytes become a history of allocations, the history becomes rectangles,
//! the rectangles become pixels.
//!
//! The rooms are crates under `src`, in the order of the data: `base` has the units, `history` turns bytes into allocations with
//! lifetimes, `allocator` simulates PyTorch's allocator on what they asked for, `analysis` answers questions about them (`yaml` reads
//! rules for it), `picture` turns them into rectangles and draws those, `engine` runs all of this in slices behind one message type,
//! `compare` holds two of them against each other, `exports` writes them in the formats of other tools, `sql` makes
//! them tables of SQLite (through `sqlite`), `ui` decides what is looked at,
//! `page` (browser) and `cli` (command line) are the two shells.
//! This crate gives them under one name, to tests, benches and whoever embeds them.
//!
//! What holds everywhere:
//! * dependencies point one way (Cargo keeps it so; `tests/layers.rs` checks the same for the modules of `history` and `picture`);
//! * nothing above `picture` knows a GPU, nothing above `page` knows a browser, `pickle` knows nothing of torch;
//! * nothing in a file is ever imported or executed, and no bytes leave the machine;
//! * an id is valid only for the table that made it;
//! * bytes have a kind: *requested* (what the program asked for), *rounded* (what the allocator handed out), *reserved*
//!   (what it took from the driver). They are never added to each other.
//!
//! What is deliberately absent: a tree of values, a copy of the file, a top-N cut, a WebGL backend, hand-written JavaScript.

pub use allocator;
pub use analysis;
pub use base::{column, slice, sorted, units};
pub use compare;
pub use engine;
pub use exports;
pub use history::{compact, container, json, pickle, replay, snapshot, writing};
pub use picture::{outline, render, shapes, svg, timeline};
pub use sql;
pub use ui;
pub use yaml;
