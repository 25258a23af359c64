//! Writes a synthetic snapshot, and what is true of it to standard output.
//!
//! ```text
//! cargo run --release --example generate -- OUT.pickle[.gz] [--events N | --steps N] [--seed N] [--devices N] [--frames N]
//!     [--layers N] [--hidden N] [--protocol 2..5] [--style python|cpp] [--ring N] [--prerecord-mib N | --record-from-start]
//!     [--pending] [--oom] [--expandable] [--leak] [--no-annotations] [--no-time] [--compile-contexts]
//! ```
//!
//! The example that ships with the page: `cargo run --example generate -- www/example.pickle.gz --example`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a tool for tests may fail loudly")]

#[path = "mod.rs"]
mod generate;

use flate2::{Compression, write::GzEncoder};
use generate::{Options, truth::Truth};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
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

fn write(options: &Options, path: &str) -> io::Result<Truth> {
    let file = BufWriter::new(File::create(path)?);
    if path.ends_with(".gz") {
        // No time stamp inside, so that the same options give the same bytes.
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
