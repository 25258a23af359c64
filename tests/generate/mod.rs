//! Synthetic snapshots with expected values: any number of events, written as by Python's or torch's C++ pickler.
//!
//! ```text
//!   workload ──malloc, free──▶ allocator          a training loop on a model of PyTorch's caching allocator
//!      │
//!      └──events──▶ tracer ──▶ Sink: survey (counts events) │ pickled (the file) + truth (its expected values)
//! ```
//!
//! The loop runs twice with the same seed, because list lengths and `segments` come before the traces: the first run
//! counts and the second writes. Besides live blocks, memory use is a few bytes per training step, however long the
//! trace.

mod allocator;
mod annotation;
pub(crate) mod expected;
mod modules;
mod options;
mod pool;
mod programs;
mod random;
mod snapshot_writer;
mod stacks;
mod tracer;
mod workload;

#[path = "../support/pickle_writer.rs"]
#[allow(dead_code, reason = "the tests of the machine use the rest")]
pub(crate) mod pickle_writer;

pub(crate) use options::Options;

use expected::{Expected, ExpectedDevice, TruthSink};
use snapshot_writer::SnapshotWriter;
use std::io::{self, Write};
use tracer::Survey;

/// Writes the snapshot that `options` describes to `out`. Returns the output and the expected values.
pub(crate) fn generate<W: Write>(options: &Options, out: W) -> io::Result<(W, Expected)> {
    let mut surveys: Vec<Survey> = Vec::new();
    for device in 0..options.devices {
        let mut survey = Survey::default();
        let end = workload::run(options, device, &mut survey)?;
        survey.end = Some(end);
        surveys.push(survey);
    }

    let mut file = SnapshotWriter::new(out, options, &surveys)?;
    let mut truth = Expected { devices: Vec::new() };
    file.begin_traces(surveys.len())?;
    for (device, survey) in surveys.iter().enumerate() {
        let kept = options.kept(survey.events);
        file.begin_trace(kept)?;
        let mut judge = TruthSink::new(survey.events - kept, &mut file);
        workload::run(options, device, &mut judge)?;
        truth.devices.push(judge.verdict(device as i64, survey));
        file.end_trace()?;
    }
    file.end_traces()?;
    file.annotations(&surveys)?;
    if options.host {
        let batches = surveys.first().and_then(|survey| survey.end.as_ref()).map_or(0, |end| end.steps);
        truth.devices.push(host(options, batches, &mut file)?);
    }
    Ok((file.finish()?, truth))
}

fn host<W: Write>(options: &Options, batches: u64, file: &mut SnapshotWriter<W>) -> io::Result<ExpectedDevice> {
    let mut survey = Survey::default();
    survey.end = Some(workload::run_host(options, options.devices, batches, &mut survey)?);
    let kept = options.kept(survey.events);
    file.begin_host(&survey, kept)?;
    let mut judge = TruthSink::new(survey.events - kept, file);
    workload::run_host(options, options.devices, batches, &mut judge)?;
    let truth = judge.verdict(snapshot_writer::HOST, &survey);
    file.end_trace()?;
    Ok(truth)
}
