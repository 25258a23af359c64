//! Writes a synthetic snapshot, and prints its expected values as JSON.
//!
//! ```text
//! cargo run --release --example generate -- OUT.pickle[.gz] [OPTIONS]        --help lists them
//! ```
//!
//! For a sample of the page: `cargo run --example generate -- www/leak.pickle.gz --sample leak`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test tool may panic")]

#[path = "mod.rs"]
mod generate;

use flate2::{Compression, write::GzEncoder};
use generate::{Options, expected::Expected};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const HELP: &str = "generate OUT.pickle[.gz] [OPTIONS]

Writes a PyTorch memory snapshot of a training loop, and what is true of it, as JSON, to standard output.

  --sample NAME           a sample that ships with the page: out-of-memory, leak, training or cuda-graphs, or with the
                          tutorials: before, after or rank; give it first
  --example               a model made, three steps trained, and memory runs out; give it first, others change it

How much
  --events N              stop at the first event from this one on (20000)
  --steps N               stop after whole training steps instead
  --ring N                keep the last N events of each device, as max_entries does
  --devices N             train on so many devices (1)
  --host                  record pinned host memory as well
  --seed N                another story of the same kind (1)

The model
  --layers N              layers of the model (24)
  --hidden N              width of the model (2048)
  --prerecord-mib N       parameters that exist before recording (2048)
  --record-from-start     parameters are made while it is recorded
  --batch N               sequences in a batch (4)
  --sequence N            tokens in a sequence, the same in every step; attention saves its scores
  --precision 16|32       bits of an activation (32)

What happens
  --pending               some frees wait for another stream, as after record_stream
  --leak                  every step keeps a tensor by mistake
  --extra-leak MIB        every step keeps so much more
  --oom                   the last thing is an allocation that fails
  --expandable            expandable segments: map and unmap
  --private-pools         what attention needs for itself comes out of a MemPool; events have pool_id
  --snapshots             a snapshot event after each step

How it is written
  --style python|cpp      Python's pickler or torch's (python)
  --protocol 2..5         of Python's pickler (4)
  --frames N              frames in a stack, at least (30)
  --no-annotations        no external_annotations
  --layer-annotations     a range around each layer's forward pass as well
  --no-time               no time_us
  --compile-contexts      compile_context in every event
  --metadata              user_metadata in every event";

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let (options, files) = match Options::parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(complaint) => return complain(&complaint),
    };
    let [path] = files.as_slice() else { return complain("name one file to write") };
    match write(&options, path) {
        Ok(truth) => {
            println!("{}", serde_json::to_string_pretty(&truth).expect("numbers are JSON"));
            ExitCode::SUCCESS
        }
        Err(error) => complain(&format!("{path}: {error}")),
    }
}

fn write(options: &Options, path: &str) -> io::Result<Expected> {
    let file = BufWriter::new(File::create(path)?);
    if path.ends_with(".gz") {
        // Without a time stamp, so that the same options give the same bytes.
        let (encoder, truth) = generate::generate(options, GzEncoder::new(file, Compression::best()))?;
        encoder.finish()?.flush()?;
        Ok(truth)
    } else {
        let (mut file, truth) = generate::generate(options, file)?;
        file.flush()?;
        Ok(truth)
    }
}

fn complain(complaint: &str) -> ExitCode {
    eprintln!("generate: {complaint}");
    ExitCode::from(2)
}
