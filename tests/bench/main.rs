//! Benchmarks as subcommands of one program: `cargo bench --bench memscape -- NAME [OPTIONS]`; without a name it lists
//! them.
//!
//! They print measurements and enforce no limits. `./run measure` runs `open`, `picture` and `offscreen`;
//! `./run measure --quick` runs `beside`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a benchmark stops at the first failure")]

// The benchmarks.
mod answers;
mod beside;
mod columns;
mod compare;
#[cfg(feature = "gpu-test")]
mod offscreen;
mod open;
mod partial_results;
mod picture;
mod plots;
mod ranks;
mod scene;
mod serve;
mod simulate;
mod simulate_page;
mod sql;
mod stages;

// Parts of the benchmarks.
mod browser;
mod browser_tables;
mod cases;
mod cpython;
mod cursor_latency;
mod discard;
mod events;
mod figure;
mod goals;
mod insights;
mod machine;
mod memory_viz;
mod moving;
mod native;
mod opening;
mod other_browsers;
mod panning;
mod report;
mod states;
mod timing_script;
mod trace;
mod windows;

// Modules shared with the tests.
#[path = "../browser/chromium.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod chromium;
#[path = "../browsers/driver.rs"]
#[allow(dead_code, reason = "the tests in other browsers use the rest")]
mod driver;
#[path = "../browser/expressions.rs"]
mod expressions;
#[path = "../browsers/firefox.rs"]
mod firefox;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests of the generator use the rest")]
mod generate;
#[path = "../support/opened.rs"]
#[allow(dead_code, reason = "the native tests use the rest")]
mod opened;
#[path = "../browser/page.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod page;
#[path = "../support/served.rs"]
#[allow(dead_code, reason = "the native tests use the rest")]
mod served;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod site;
#[path = "../browsers/webkit.rs"]
mod webkit;

use std::process::ExitCode;

/// Exit code for wrong usage.
const USAGE: u8 = 2;

/// A subcommand.
struct Bench {
    name: &'static str,
    options: &'static str,
    measures: &'static str,
    /// True if it opens the page in `dist/`, which `./run build` creates.
    needs_page: bool,
    /// Runs it with the arguments after its name.
    run: fn(&[String]),
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "open",
        options: "[--quick] [--smallest] [--write]",
        measures: "time and memory to open a file, natively and in browsers, beside CPython and memory_viz",
        needs_page: true,
        run: open::run,
    },
    Bench {
        name: "picture",
        options: "[--quick] [--write]",
        measures: "time from an open file to a picture, natively and in the page; frames while panning",
        needs_page: true,
        run: picture::run,
    },
    Bench {
        name: "beside",
        options: "FOLDER [--smallest] [--browser NAME]",
        measures: "time and memory of the page and of the native engine beside those of another build, interleaved",
        needs_page: true,
        run: beside::run,
    },
    Bench {
        name: "answers",
        options: "[reports|events|state]",
        measures: "time to answer questions: trees, ranges, searches, reports, events, segments",
        needs_page: false,
        run: answers::run,
    },
    Bench {
        name: "compare",
        options: "",
        measures: "time and memory to compare two snapshots",
        needs_page: false,
        run: compare::run,
    },
    Bench {
        name: "ranks",
        options: "",
        measures: "time to survey many ranks, beside opening their files in turn",
        needs_page: false,
        run: ranks::run,
    },
    Bench {
        name: "unfinished",
        options: "",
        measures: "cost of partial results while a file loads",
        needs_page: false,
        run: partial_results::run,
    },
    Bench {
        name: "columns",
        options: "[FILE...]",
        measures: "size of snapshots as compact columns, and time to open them",
        needs_page: false,
        run: columns::run,
    },
    Bench {
        name: "plots",
        options: "[--quick]",
        measures: "time for windows of the plots of addresses and of reserved memory",
        needs_page: false,
        run: plots::run,
    },
    Bench {
        name: "scene",
        options: "",
        measures: "processor time for a scene of 2000 × 1000 pixels, by kind of history and zoom",
        needs_page: false,
        run: scene::run,
    },
    Bench {
        name: "serve",
        options: "",
        measures: "time to open a file over a connection of 20 MB/s, by how it is sent",
        needs_page: false,
        run: serve::run,
    },
    Bench {
        name: "simulate",
        options: "",
        measures: "events per second of the simulated allocator, by settings",
        needs_page: false,
        run: simulate::run,
    },
    Bench {
        name: "simulate-page",
        options: "",
        measures: "time of the simulated allocator in the page's worker, beside the native one",
        needs_page: true,
        run: simulate_page::run,
    },
    Bench {
        name: "sql",
        options: "",
        measures: "time of SQL queries over a million events",
        needs_page: false,
        run: sql::run,
    },
    Bench {
        name: "stages",
        options: "[FILTER] [criterion's options]",
        measures: "throughput of each stage, from the container to the scene",
        needs_page: false,
        run: stages::run,
    },
    #[cfg(feature = "gpu-test")]
    Bench {
        name: "offscreen",
        options: "",
        measures: "time of a frame on the GPU, beside the CPU twin",
        needs_page: false,
        run: offscreen::run,
    },
];

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let children = [native::run_as_child, insights::run_as_child, beside::run_as_child];
    if children.into_iter().any(|run| run(&arguments)) || stages::run_as_child() {
        return ExitCode::SUCCESS;
    }
    let Some((name, options)) = arguments.split_first() else {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    };
    match name.as_str() {
        "-h" | "--help" | "help" => {
            print!("{}", usage());
            return ExitCode::SUCCESS;
        }
        // nextest collects the tests of a program that has none.
        "--list" => return ExitCode::SUCCESS,
        _ => {}
    }
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        eprint!("error: no benchmark is called {name:?}\n\n{}", usage());
        return ExitCode::from(USAGE);
    };
    if bench.needs_page && !site::dist().join("index.html").is_file() {
        eprintln!("error: {name} opens the page, and {} is missing; run ./run build first", site::dist().display());
        return ExitCode::FAILURE;
    }
    (bench.run)(options);
    ExitCode::SUCCESS
}

/// Usage and the list of benchmarks.
fn usage() -> String {
    let mut text = "Usage: cargo bench --bench memscape -- NAME [OPTIONS]\n\n".to_owned();
    for Bench { name, options, measures, needs_page, .. } in BENCHES {
        let needs = if *needs_page { " (needs ./run build)" } else { "" };
        text += &format!("  {}\n      {measures}{needs}\n", format!("{name} {options}").trim_end());
    }
    if cfg!(not(feature = "gpu-test")) {
        text += "\nWith `--features gpu-test` there is also offscreen.\n";
    }
    text
}
