//! Synthetic snapshots with the truth beside them: any number of events, as Python or as torch's C++ pickler writes them.
//!
//! ```text
//!   workload ──malloc, free──▶ allocator          a training loop on a model of PyTorch's caching allocator
//!      │
//!      └──events──▶ tracer ──▶ Sink: survey (how many, what is left) │ pickled (the file) + truth (its numbers)
//! ```
//!
//! The loop runs twice with the same seed: lists tell their length first and `segments` stand before the traces, so the first
//! run counts and the second writes. Nothing but the live blocks is ever held, however long the trace.

mod allocator;
mod annotation;
mod options;
mod pickled;
mod random;
mod stacks;
mod tracer;
pub(crate) mod truth;
mod workload;

#[path = "../support/pickle_writer.rs"]
#[allow(dead_code, reason = "the tests of the machine use the rest")]
pub(crate) mod pickle_writer;

pub(crate) use options::Options;

use pickled::Pickled;
use std::io::{self, Write};
use tracer::Survey;
use truth::{Judge, Truth};

/// Writes the snapshot that `options` describes to `out`; returns what is true of it.
pub(crate) fn generate<W: Write>(options: &Options, out: W) -> io::Result<(W, Truth)> {
    let mut surveys: Vec<Survey> = Vec::new();
    for device in 0..options.devices {
        let mut survey = Survey::default();
        let end = workload::run(options, device, &mut survey)?;
        survey.end = Some(end);
        surveys.push(survey);
    }

    let mut file = Pickled::new(out, options, &surveys)?;
    let mut truth = Truth { devices: Vec::new() };
    file.begin_traces(surveys.len())?;
    for (device, survey) in surveys.iter().enumerate() {
        let kept = options.ring.map_or(survey.events, |ring| ring.min(survey.events));
        let mut judge = Judge::new(survey.events - kept, &mut file);
        file_trace(&mut judge, kept, options, device)?;
        truth.devices.push(judge.verdict(device, survey));
    }
    Ok((file.finish(&surveys)?, truth))
}

fn file_trace<W: Write>(judge: &mut Judge<'_, W>, kept: u64, options: &Options, device: usize) -> io::Result<()> {
    judge.file().begin_trace(kept)?;
    workload::run(options, device, judge)?;
    judge.file().end_trace()
}
