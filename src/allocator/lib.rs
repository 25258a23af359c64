//! PyTorch's CUDA caching allocator as rules: what a recorded program would have reserved under other settings.
//!
//! ```text
//! history ──▶ recording ──▶ check ──▶ verdict: does the model reproduce this recording?
//!             (requests)      ▲
//!                           model ◀── settings, driver (addresses, capacity)
//!                             ▼
//!                            run ──▶ outcome: peak reserved, driver calls, retries, OOM
//!                             ▼
//!                      band, search, grade
//! ```
//! Pure: no clock, no chance, no files. Whatever takes longer than a slice is called again until it is done.

// `PYTORCH_CUDA_ALLOC_CONF`: the settings, and the line they are written in.
pub mod conf;
pub mod settings;

// Requested → rounded bytes.
mod rounding;

// Blocks and the pools that hold what is free.
pub mod blocks;
mod pool;

// Where addresses come from, and when there is no more memory.
pub mod driver;

// The allocator itself: placing and freeing, growing expandable segments, giving back.
mod expandable;
pub mod model;
mod release;

// What the program asked for, as a device's history has it.
mod ranks;
pub mod reading;
mod recorded;
pub mod recording;
pub mod transfer;

// The state before the first event.
mod start;

// Does the model reproduce the recording? Under which settings?
pub mod check;
pub mod infer;

// What if: one run, a band of runs, the smallest memory that is enough, several settings in one table, a run as a trace.
pub mod bands;
pub mod course;
pub mod grade;
pub mod run;
pub mod search;
pub mod trace;

// All of it as one question and its answer.
pub mod answer;
mod done;
mod rows;
pub mod simulation;

pub use check::{Check, Verdict};
pub use conf::{LineError, Problem};
pub use driver::Order;
pub use grade::Grade;
pub use infer::{Inference, Proof};
pub use model::{Allocator, Exercised, Totals};
pub use recording::{Place, Recording};
pub use run::{EmptyCache, Outcome, Plan, Run, StartState};
pub use settings::{Backend, Limits, Settings};

#[cfg(test)]
#[path = "../../tests/units/allocator/files.rs"]
mod files;

#[cfg(test)]
#[path = "../../tests/units/allocator/referee.rs"]
mod referee;
