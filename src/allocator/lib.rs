//! Model of PyTorch's CUDA caching allocator. It predicts the memory that a recorded program would reserve under other
//! settings.
//!
//! The input is the history of a device. `reading` reduces it to the program's requests, a [`Recording`]. `check` tests
//! that the model reproduces the recorded addresses and segments. `run` then simulates the requests under other
//! settings or with another capacity. `simulation` answers a complete [`WhatIfQuestion`](answer::WhatIfQuestion).
//!
//! Start with `model.rs` (the allocator), `recording.rs` (its input) and `run.rs` (a simulated run).
//!
//! The crate uses no clock, randomness or files. Long operations take a [`TimeSlice`](base::slice::TimeSlice) and are
//! called repeatedly until they are done.

// Settings, and the `PYTORCH_CUDA_ALLOC_CONF` line that sets them.
pub mod conf;
pub mod settings;

// Rounding of requested bytes.
mod rounding;

// Blocks, and the pools of free blocks.
pub mod blocks;
mod pool;

// Source of addresses and memory.
mod addresses;
pub mod driver;
pub mod implied;
pub mod operation;

// Placing and freeing blocks, growing expandable segments, releasing cached memory.
mod counts;
mod expandable;
mod find;
mod frees;
pub mod model;
mod release;

// Requests of the program, read from a device's history.
mod private;
mod ranks;
pub mod reading;
mod reading_start;
mod recorded;
pub mod recording;
pub mod transfer;

// State before the first event.
mod start;

// Comparison of the model with the recording.
mod ages;
mod causes;
pub mod check;
mod chunk;
pub mod findings;
pub mod infer;
pub mod verdict;

// Simulated runs under other settings, and what is derived from them.
pub mod bands;
pub mod course;
pub mod grade;
pub mod plan;
pub mod program;
pub mod run;
pub mod search;
pub mod trace;

// Questions and answers that combine all of the above.
pub mod answer;
mod done;
mod ends;
mod job;
mod known;
mod rows;
pub mod simulation;

pub use addresses::Order;
pub use check::Check;
pub use conf::{LineError, Problem};
pub use counts::{Exercised, Totals};
pub use findings::{Cause, Findings};
pub use implied::Implied;
pub use infer::{Inference, Proof};
pub use model::Allocator;
pub use plan::{EmptyCache, Outcome, Plan, StartState};
pub use program::Program;
pub use recording::{Place, Recording};
pub use run::Run;
pub use settings::{Backend, BlockOrder, Limits, Settings};
pub use verdict::Verdict;

#[cfg(test)]
#[path = "../../tests/units/allocator/files.rs"]
mod files;

#[cfg(test)]
#[path = "../../tests/units/allocator/referee.rs"]
mod referee;

#[cfg(test)]
#[path = "../../tests/units/allocator/recordings.rs"]
mod recordings;

#[cfg(test)]
#[path = "../../tests/units/allocator/predictions.rs"]
mod predictions;
