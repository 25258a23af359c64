//! memscape opens PyTorch memory snapshots: bytes become a history of allocations, the history becomes rectangles,
//! the rectangles become pixels.
//!
//! A snapshot is a pickle, often packed, or the same as JSON: `container` unpacks it, `pickle` and `json` turn chunks of bytes
//! into values and hand each finished one to a builder; `snapshot` is that builder, it turns values into frames, stacks, trace
//! events and segments, which `compact` can write and read as columns; `replay` receives the events as they are decoded and turns them into allocations with a birth and a
//! death, totals and peaks; `analysis` answers questions about that history; `timeline` turns lifetimes into rectangles of
//! whole device pixels; `engine` runs all of this in slices behind one message type; `ui` decides what is looked at; `render`
//! draws, `svg` writes the same as text; `page` and `worker` are the two browser shells.
//!
//! What holds everywhere:
//! * dependencies point one way, in the order of the list below (`tests/layers.rs` keeps it so);
//! * nothing above `render` knows a GPU, nothing above `page` knows a browser, `pickle` knows nothing of torch;
//! * nothing in a file is ever imported or executed, and no bytes leave the machine;
//! * an id is valid only for the table that made it;
//! * bytes have a kind: *requested* (what the program asked for), *rounded* (what the allocator handed out), *reserved*
//!   (what it took from the driver). They are never added to each other.
//!
//! What is deliberately absent: a tree of values, a copy of the file, a top-N cut, a WebGL backend, hand-written JavaScript.

// Plain data ↔ bytes, for messages.

// Bytes, event indices and moments, and their one text form.
pub mod units;

// A table column that grows by chunks, never by doubling.
pub mod column;

// One sort for everything that is small or rare.
pub mod sorted;

// Outer formats, told apart by content: gzip, zstd and HTML around a pickle or JSON.
pub mod container;

// Bytes → Python values. Knows opcodes, nothing of torch.
pub mod pickle;

// JSON → the same values. Knows tokens, nothing of torch.
pub mod json;

// Values → frames, stacks, events, segments. Faithful to the file, draws no conclusions.
pub mod snapshot;

// Frames, stacks, events, segments ↔ compact columns, which the page carries and a server sends.
pub mod compact;

// Events → history: allocations with lifetimes, totals, peaks, the state before the trace.
pub mod replay;

// History → answers.
pub mod analysis;

// History → geometry in whole device pixels.
pub mod timeline;

// The app without a face: requests in, replies out, in slices.
pub mod engine;

// The face without a browser: state, actions, view models, keys.
pub mod ui;

// Geometry → pixels: the WebGPU renderer and its CPU twin.
pub mod render;

// Geometry and figure → SVG.
pub mod svg;

// Requests and replies ↔ messages between page and worker.
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod wire;

// The worker's shell: message queue ↔ engine.
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod worker;

// The page's shell: DOM ↔ ui, canvas ↔ render, worker ↔ engine.
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod page;
