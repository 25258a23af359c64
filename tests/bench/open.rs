//! What opening a snapshot takes, beside what others take for the same file in the same run: natively and in the page against
//! CPython's `pickle.load`, file to picture against a bare `File.stream()` read, and the page in each browser beside memory_viz. Prints;
//! judges nothing.
//!
//! `./run measure` builds what this needs, runs it and writes `tests/bench/results.md`; with `--quick` it stops at a million events,
//! measures once and only prints, with `--quick --smallest` (`cargo bench`) after the smallest file. `MEMORY_VIZ` names a folder with memory_viz (see `memory_viz.rs`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench may fail loudly")]

mod besides;
mod browser;
#[allow(dead_code, reason = "the bench of pictures uses the rest")]
mod cases;
mod cpython;
mod elsewhere;
#[allow(dead_code, reason = "the bench of pictures uses the rest")]
mod figure;
mod goals;
#[allow(dead_code, reason = "the bench of pictures uses the rest")]
mod machine;
mod memory_viz;
mod native;
mod opening;
mod report;
mod trace;
mod watch;

#[path = "../browser/asking.rs"]
mod asking;
#[path = "../browser/chromium.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod chromium;
#[path = "../browsers/driver.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod driver;
#[path = "../browsers/firefox.rs"]
mod firefox;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod generate;
#[path = "../browser/page.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod page;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod site;
#[path = "../browsers/webkit.rs"]
mod webkit;

use besides::Besides;
use browser::InPage;
use cases::{Case, Extent};
use cpython::Collector;
use memory_viz::{Drawings, MemoryViz};
use opening::{Opening, Openings};
use report::{Measured, Outcome};
use std::path::Path;

/// Files of so many bytes are opened once in what is measured beside Chromium.
const LARGE: u64 = 1_000_000_000;

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
    let browsers = elsewhere::browsers();
    let found = memory_viz::find();
    let mut peer = found.as_ref().map_err(|why| eprintln!("measure: without memory_viz: {why}")).ok();
    let versions = browsers.iter().map(|browser| match &browser.version {
        Ok(version) => version.clone(),
        Err(why) => format!("no {} ({why})", browser.name),
    });
    let versions: Vec<String> = std::iter::once(browser::version()).chain(versions).collect();
    let machine = machine::describe(&versions.join(", "));
    let besides = Besides { browsers, memory_viz: found.as_ref().map(|it| it.said.clone()).map_err(String::clone) };
    let mut outcomes: Vec<Outcome> = Vec::new();
    // To try the bench itself.
    let most = if has("--smallest") { 1 } else { usize::MAX };
    for case in cases::cases(extent).into_iter().take(most) {
        let outcome = measure(&case, &besides, peer);
        // What it does not survive, it survives no larger one of.
        if outcome.as_ref().is_ok_and(|it| it.memory_viz.is_err()) {
            peer = None;
        }
        outcomes.push(outcome);
        // After each file, so that a failure with the last does not take the first along.
        if has("--write") {
            let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results.md");
            std::fs::write(results, report::report(&machine, &besides, &outcomes)).expect("writable");
        }
    }
    print!("{}", report::report(&machine, &besides, &outcomes));
}

/// Everything once, then everything again: what else the machine does changes slowly, and so is the same for all that is compared.
fn measure(case: &Case, besides: &Besides, peer: Option<&MemoryViz>) -> Outcome {
    let file = case.generate().map_err(|reason| (case.name, reason))?;
    let room = cpython::room_for(file.bytes);
    let (mut native, mut cpython, mut openings) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
    let mut elsewhere: Vec<Result<Vec<Opening>, String>> = besides.browsers.iter().map(|_| Ok(Vec::new())).collect();
    let mut drawings =
        peer.map(|_| Vec::new()).ok_or_else(|| "not measured, or a smaller file was too much".to_owned());
    for run in 1..=case.runs {
        eprintln!("measure: {}, run {run} of {}", case.name, case.runs);
        native.push(native::open(&file.path));
        openings.push(browser::open(&file));
        let runs_elsewhere = run == 1 || file.bytes < LARGE;
        for (browser, openings) in besides.browsers.iter().zip(&mut elsewhere) {
            if runs_elsewhere
                && browser.version.is_ok()
                && let Ok(done) = openings
            {
                eprintln!("measure: {} in {}", case.name, browser.name);
                match survived(|| browser.open(&file)) {
                    Ok(opening) => done.push(opening),
                    Err(why) => *openings = Err(why),
                }
            }
        }
        if let (true, Some(peer), Ok(done)) = (runs_elsewhere, peer, &mut drawings) {
            eprintln!("measure: {} in memory_viz", case.name);
            match if memory_viz::may_read(&file.path) {
                survived(|| peer.draw(&file))
            } else {
                Err("browsers read no 2 GiB at once".to_owned())
            } {
                Ok(drawing) => done.push(drawing),
                Err(why) => drawings = Err(why),
            }
        }
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
        page: InPage::of(openings),
        elsewhere: elsewhere.into_iter().map(|openings| openings.map(|openings| Openings::of(&openings))).collect(),
        memory_viz: drawings.map(|drawings| Drawings::of(&drawings)),
        // Of a larger file, a trace is hundreds of megabytes.
        trace: (file.bytes < 200_000_000).then(|| trace::of(&file)),
        cpython: room.map(|()| cpython.map(|seconds| seconds.into_iter().collect())),
    })
}

/// What is beside the page in Chromium may fail, and the rest is measured all the same.
fn survived<T>(open: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(open));
    result.unwrap_or_else(|cause| Err(cause.downcast_ref::<String>().map_or("it failed", String::as_str).to_owned()))
}
