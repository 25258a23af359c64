//! Types and helpers shared by every crate of memscape.
//!
//! The crate knows nothing about snapshots. It provides byte counts, event indices and their text form, a chunked table
//! column, the heap usage of tables, escapes of text, compact sorting, natural name order, and the time slices that
//! keep long work interruptible.
//!
//! Start with `units.rs` (how positions in a trace are counted), `column.rs` (how tables are stored) and `slice.rs`
//! (how loops yield).

// Calls that are kept out of line, for smaller functions in WebAssembly.
pub mod out_of_line;

// Entries of code that the page fetches later.
pub mod later;

// Table column that grows in chunks, without reallocating.
pub mod column;

// Threads, for native programs.
pub mod cores;

// Heap usage of tables, with a macro that sums up fields.
pub mod heap;

// Escapes of HTML, XML and JSON.
pub mod escape;

// Macro for enums that list all their variants.
pub mod listed;

// Time budget of interruptible work.
pub mod slice;

// Natural order of names that contain numbers.
pub mod natural;

// One monomorphic sort for small or rare inputs.
pub mod sorted;

// Bytes, event indices and moments, with their text form.
pub mod units;
