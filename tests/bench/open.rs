//! Time and memory to open a snapshot, natively and in each browser, compared with CPython's `pickle.load`, a bare
//! `File.stream()` read and memory_viz.
//!
//! `./run measure` builds the page, runs `cargo bench --bench memscape -- open --write` and so writes
//! `tests/bench/results.md`. `--quick` stops at a million events and measures once; `--smallest` stops after the
//! smallest file. `MEMORY_VIZ` names a folder with memory_viz (see `memory_viz.rs`).

use crate::browser::ChromiumFigures;
use crate::browser_tables::OtherPrograms;
use crate::cases::{Case, Extent};
use crate::cpython::GarbageCollector;
use crate::insights;
use crate::memory_viz::{Drawings, MemoryViz};
use crate::opening::{Moves, Opening, Openings};
use crate::report::{FileMeasurements, Outcome};
use crate::{browser, cases, cpython, machine, memory_viz, native, other_browsers, report, trace};
use std::path::Path;

/// Minimum size of files that are opened only once in Firefox, WebKitGTK and memory_viz, in bytes.
const LARGE: u64 = 1_000_000_000;

pub(crate) fn run(arguments: &[String]) {
    let has = |option: &str| arguments.iter().any(|word| word == option);
    let extent = if has("--quick") { Extent::Quick } else { Extent::Whole };
    let browsers = other_browsers::browsers();
    let found = memory_viz::find();
    let mut peer = found.as_ref().map_err(|why| eprintln!("measure: without memory_viz: {why}")).ok();
    let versions = browsers.iter().map(|browser| match &browser.version {
        Ok(version) => version.clone(),
        Err(why) => format!("no {} ({why})", browser.name),
    });
    let versions: Vec<String> = std::iter::once(browser::version()).chain(versions).collect();
    let machine = machine::describe(&versions.join(", "));
    let besides =
        OtherPrograms { browsers, memory_viz: found.as_ref().map(|it| it.source.clone()).map_err(String::clone) };
    let mut outcomes: Vec<Outcome> = Vec::new();
    // For a trial of the benchmark itself.
    let most = if has("--smallest") { 1 } else { usize::MAX };
    for case in cases::cases(extent).into_iter().take(most) {
        let outcome = measure(&case, &besides, peer);
        // memory_viz fails on larger files as well.
        if outcome.as_ref().is_ok_and(|it| it.memory_viz.is_err()) {
            peer = None;
        }
        outcomes.push(outcome);
        // After each file, so that a later failure keeps the results of the earlier ones.
        if has("--write") {
            let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results.md");
            std::fs::write(results, report::report(&machine, &besides, &outcomes)).expect("writable");
        }
    }
    print!("{}", report::report(&machine, &besides, &outcomes));
}

/// Measures everything once, then everything again: the load of the machine changes slowly, so it is about the same for
/// all.
fn measure(case: &Case, besides: &OtherPrograms, peer: Option<&MemoryViz>) -> Outcome {
    let file = case.generate().map_err(|reason| (case.name, reason))?;
    let room = cpython::check_memory_for(file.bytes);
    let (mut native, mut answers, mut openings) = (Vec::new(), Vec::new(), Vec::new());
    let mut cpython = [Vec::new(), Vec::new()];
    let mut other_browsers: Vec<Result<Vec<Opening>, String>> =
        besides.browsers.iter().map(|_| Ok(Vec::new())).collect();
    let mut drawings =
        peer.map(|_| Vec::new()).ok_or_else(|| "not measured, or a smaller file was too much".to_owned());
    for run in 1..=case.runs {
        eprintln!("measure: {}, run {run} of {}", case.name, case.runs);
        native.push(native::open(&file.path));
        let moves = if run == 1 { Moves::Measured } else { Moves::LeftOut };
        openings.push(browser::open(&file, moves));
        answers.push(insights::measure(&file.path));
        let runs_elsewhere = run == 1 || file.bytes < LARGE;
        for (browser, openings) in besides.browsers.iter().zip(&mut other_browsers) {
            if runs_elsewhere
                && browser.version.is_ok()
                && let Ok(done) = openings
            {
                eprintln!("measure: {} in {}", case.name, browser.name);
                match catch_panic(|| browser.open(&file, moves)) {
                    Ok(opening) => done.push(opening),
                    Err(why) => *openings = Err(why),
                }
            }
        }
        if let (true, Some(peer), Ok(done)) = (runs_elsewhere, peer, &mut drawings) {
            eprintln!("measure: {} in memory_viz", case.name);
            match if memory_viz::is_small_enough(&file.path) {
                catch_panic(|| peer.draw(&file))
            } else {
                Err("browsers read no 2 GiB at once".to_owned())
            } {
                Ok(drawing) => done.push(drawing),
                Err(why) => drawings = Err(why),
            }
        }
        if room.is_ok() {
            cpython[0].push(cpython::load(&file.path, GarbageCollector::On));
            cpython[1].push(cpython::load(&file.path, GarbageCollector::Off));
        }
    }
    Ok(FileMeasurements {
        name: case.name,
        options: case.options,
        bytes: file.bytes,
        events: file.events,
        native: native.into_iter().collect(),
        memory: native::weigh(&file.path),
        insights: answers.iter().map(|it| it.insights).collect(),
        simulated: answers.iter().map(|it| it.simulated).collect(),
        trees_ms: answers.into_iter().flat_map(|it| it.trees_ms).collect(),
        page: ChromiumFigures::of(openings),
        other_browsers: other_browsers.into_iter().map(|openings| openings.map(Openings::from_runs)).collect(),
        memory_viz: drawings.map(|drawings| Drawings::from_runs(&drawings)),
        // The trace of a larger file has hundreds of megabytes.
        trace: (file.bytes < 200_000_000).then(|| trace::record(&file)),
        cpython: room.map(|()| cpython.map(|seconds| seconds.into_iter().collect())),
    })
}

/// Turns a panic into an error: the other browsers and memory_viz may fail, and the rest is still measured.
fn catch_panic<T>(open: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(open));
    result.unwrap_or_else(|cause| Err(cause.downcast_ref::<String>().map_or("it failed", String::as_str).to_owned()))
}
