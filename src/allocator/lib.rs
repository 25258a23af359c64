//! Model of PyTorch's CUDA caching allocator. It predicts the memory that a recorded program would reserve under other
//! settings.
//!
//! The input is a device's history. `reading` reduces it to the program's requests, a [`Recording`]. `check` tests that
//! the model reproduces the recorded addresses and segments. `run` then simulates the requests under other settings or
//! with another capacity. `simulation` answers a whole [`WhatIfQuestion`](answer::WhatIfQuestion).
//!
//! Start with `model.rs` (the allocator), `recording.rs` (its input) and `run.rs` (a simulated run).
//!
//! The crate uses no clock, randomness or files. Long operations take a [`Slice`](base::slice::Slice) and are called
//! again until they are done.

// Settings, and the `PYTORCH_CUDA_ALLOC_CONF` line that sets them.
pub mod conf;
pub mod settings;

// Rounding of requested bytes.
mod rounding;

// Blocks, and the pools of free blocks.
pub mod blocks;
mod pool;

// Source of addresses and memory.
pub mod driver;

// Placing and freeing blocks, growing expandable segments, releasing cached memory.
mod expandable;
pub mod model;
mod release;

// Requests of the program, read from a device's history.
mod ranks;
pub mod reading;
mod recorded;
pub mod recording;
pub mod transfer;

// State before the first event.
mod start;

// Comparison of the model with the recording.
pub mod check;
pub mod infer;

// Simulated runs under other settings, and what is derived from them.
pub mod bands;
pub mod course;
pub mod grade;
pub mod run;
pub mod search;
pub mod trace;

// Questions and answers that combine all of the above.
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
