//! What opening a snapshot takes, beside what others take for the same file in the same run: natively and in the page against
//! CPython's `pickle.load`, drop to picture against a bare `File.stream()` read. Prints; judges nothing.
//!
//! `./run measure` builds what this needs, runs it and writes `tests/bench/results.md`; with `--quick` it stops at a million events
//! and only prints.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench may fail loudly")]

mod browser;
#[allow(dead_code, reason = "the bench of pictures uses the rest")]
mod cases;
mod cpython;
#[allow(dead_code, reason = "the bench of pictures uses the rest")]
mod figure;
#[allow(dead_code, reason = "the bench of pictures uses the rest")]
mod machine;
mod native;
mod report;
mod trace;

#[path = "../browser/asking.rs"]
mod asking;
#[path = "../browser/chromium.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod chromium;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod generate;
#[path = "../browser/page.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod page;
#[path = "../browser/server.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod server;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod site;

use browser::InPage;
use cases::{Case, Extent};
use cpython::Collector;
use report::{Measured, Outcome};
use std::path::Path;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, path] = words.as_slice()
        && [native::OPEN, native::WEIGH].contains(&what.as_str())
    {
        native::run_child(what, Path::new(path));
        return;
    }
    let has = |option: &str| words.iter().any(|word| word == option);
    let extent = if has("--quick") { Extent::Quick } else { Extent::Whole };
    let machine = machine::describe(&browser::version());
    let mut outcomes: Vec<Outcome> = Vec::new();
    for case in cases::cases(extent) {
        outcomes.push(measure(&case));
        // After each file, so that a failure with the last does not take the first along.
        if has("--write") {
            let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results.md");
            std::fs::write(results, report::report(&machine, &outcomes)).expect("writable");
        }
    }
    print!("{}", report::report(&machine, &outcomes));
}

/// Everything once, then everything again: what else the machine does changes slowly, and so is the same for all that is compared.
fn measure(case: &Case) -> Outcome {
    let file = case.generate().map_err(|reason| (case.name, reason))?;
    let room = cpython::room_for(file.bytes);
    let (mut native, mut cpython, mut openings) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
    for run in 1..=case.runs {
        eprintln!("measure: {}, run {run} of {}", case.name, case.runs);
        native.push(native::open(&file.path));
        openings.push(browser::open(&file));
        if room.is_ok() {
            cpython[0].push(cpython::load(&file.path, Collector::On));
            cpython[1].push(cpython::load(&file.path, Collector::Off));
        }
    }
    Ok(Measured {
        name: case.name,
        words: case.words,
        bytes: file.bytes,
        events: file.events,
        native: native.into_iter().collect(),
        memory: native::weigh(&file.path),
        page: InPage::of(&openings),
        // Of a larger file, a trace is hundreds of megabytes.
        trace: (file.bytes < 200_000_000).then(|| trace::of(&file)),
        cpython: room.map(|()| cpython.map(|seconds| seconds.into_iter().collect())),
    })
}
