//! How long it takes to open a generated snapshot, beside what others take for the same file in the same run: natively and in
//! the page against CPython's `pickle.load`, drop to picture against a bare `File.stream()` read. Judges nothing.
//!
//! `./run measure` builds what this needs, runs it and writes `tests/bench/results.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench may fail loudly")]

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

use chromium::{Adapter, Chromium};
use memscape::engine::{Engine, Reply, Request, Want};
use memscape::units::{Bytes, grouped};
use page::Page;
use std::collections::BTreeMap;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const CHUNK: u64 = 1 << 20;

fn main() {
    let options = ["--events", "1000000", "--frames", "60", "--protocol", "4"];
    let file = generated(&options);
    let length = file.metadata().expect("just written").len();
    let mut report = format!(
        "Opening a generated snapshot of 1,000,000 events, 60 frames a stack, protocol 4 ({}), on {} cores shared with others.\n\n",
        Bytes(length),
        std::thread::available_parallelism().map_or(0, usize::from)
    );
    let native = (0..3).map(|_| open_natively(&file)).min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("three");
    let [collected, uncollected] = ["", "gc.disable();"].map(|before| cpython(&file, before));
    let page = in_the_page(&file);
    let rate = |seconds: f64| format!("{:.0} MB/s", length as f64 / 1e6 / seconds);
    let ratio = |seconds: f64| collected / seconds;
    let mut row = |what: &str, seconds: f64, beside: String| {
        report += &format!("| {what} | {seconds:.2} s | {} | {beside} |\n", rate(seconds));
    };
    row("**what**", 0.0, String::new());
    row("CPython `pickle.load`, collector on (as it comes)", collected, "1×".into());
    row("CPython `pickle.load`, collector off", uncollected, format!("{:.1}×", ratio(uncollected)));
    row("native: decode + replay + index", native.seconds, format!("{:.1}×", ratio(native.seconds)));
    row("page's worker: decode + replay + index", page.work, format!("{:.1}×", ratio(page.work)));
    row(
        "page's worker: the same again (the browser has optimised the wasm)",
        page.work_again,
        format!("{:.1}×", ratio(page.work_again)),
    );
    row(
        "page: drop to summary (worker: read + decode + replay + index)",
        page.summary,
        format!("{:.1}×", ratio(page.summary)),
    );
    row(
        "page: the same again (the browser has optimised the wasm by then)",
        page.summary_again,
        format!("{:.1}×", ratio(page.summary_again)),
    );
    row("page: drop to picture", page.picture, format!("{:.1}× the bare read", page.picture / page.bare));
    row("page: bare `File.stream()` read of the same file", page.bare, String::new());
    let report = report.replace(
        "| **what** | 0.00 s | inf MB/s |  |\n",
        "| what | time | of the file | beside CPython with its collector on |\n| --- | --- | --- | --- |\n",
    );
    let report = report + &native.tables;
    print!("{report}");
    if std::env::args().any(|argument| argument == "--write") {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results.md"), report).expect("writable");
    }
}

/// The generator's file for these options, made once.
fn generated(words: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    std::fs::create_dir_all(&folder).expect("target/ is writable");
    let path = folder.join(format!("{}.pickle", words.join("").trim_start_matches('-')));
    if !path.is_file() {
        let (options, _) = generate::Options::parse(words.iter().map(|&word| word.to_owned())).expect("known options");
        let file = BufWriter::new(std::fs::File::create(&path).expect("target/ is writable"));
        let (mut file, _) = generate::generate(&options, file).expect("space on the disk");
        file.flush().expect("space on the disk");
    }
    path
}

struct Native {
    seconds: f64,
    tables: String,
}

fn open_natively(path: &Path) -> Native {
    let started = Instant::now();
    let file = std::fs::File::open(path).expect("just written");
    let mut engine = Engine::new();
    engine.request(Request::open("bench", None));
    let (mut peak, mut peak_tables) = (0, Vec::new());
    let mut events = 0;
    while engine.is_loading() {
        if engine.wants() == Some(Want::Next) {
            let tables = engine.heap_bytes();
            let sum = tables.iter().map(|(_, bytes)| bytes).sum::<usize>();
            if sum > peak {
                (peak, peak_tables) = (sum, tables);
            }
            let mut chunk = Vec::with_capacity(CHUNK as usize);
            match (&file).take(CHUNK).read_to_end(&mut chunk).expect("readable") {
                0 => engine.request(Request::EndOfFile),
                _ => engine.feed(chunk),
            }
        }
        engine.step(&mut || true);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Opened(summary) => events = summary.devices.iter().map(|device| device.events).sum(),
                Reply::Failed { message } => panic!("{message}"),
                _ => {}
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let mut tables = format!("\nMemory by table ({} events; bytes an event), natively:\n\n", grouped(events));
    tables += "| table | at the peak of decoding | when open |\n| --- | --- | --- |\n";
    let mut merged: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (at, list) in [peak_tables, engine.heap_bytes()].into_iter().enumerate() {
        for (name, bytes) in list {
            merged.entry(name).or_default()[at] += bytes;
        }
    }
    let sums = merged.values().fold([0, 0], |sum, bytes| [sum[0] + bytes[0], sum[1] + bytes[1]]);
    for (name, bytes) in merged.into_iter().chain([("**sum**", sums)]) {
        let cells = bytes.map(|bytes| match bytes {
            0 => "–".to_owned(),
            _ => format!("{} ({:.1})", Bytes(bytes as u64), bytes as f64 / events as f64),
        });
        tables += &format!("| {name} | {} | {} |\n", cells[0], cells[1]);
    }
    Native { seconds, tables }
}

/// Seconds `pickle.load` takes.
fn cpython(path: &Path, before: &str) -> f64 {
    let script = format!(
        "import gc, pickle, sys, time\n{before}\nf = open(sys.argv[1], 'rb')\nt = time.perf_counter()\npickle.load(f)\n\
         print(time.perf_counter() - t)"
    );
    let output =
        Command::new("python3").args(["-c", &script]).arg(path).output().expect("python3 is needed to compare");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of seconds")
}

struct InPage {
    work: f64,
    work_again: f64,
    summary: f64,
    summary_again: f64,
    picture: f64,
    bare: f64,
}

/// Notes when the file is chosen, when its summary stands, and when its first picture is drawn.
const WATCH: &str = "{ const times = window.times = {}; \
    document.querySelector('input#file').addEventListener('change', event => { \
        times.file = event.target.files[0]; times.start = performance.now(); }, true); \
    new MutationObserver(() => { if (times.start && document.body.dataset.state === 'ready') times.summary ??= performance.now(); }) \
        .observe(document.body, { attributes: true }); \
    window.pictured = new Promise(resolve => new MutationObserver(() => { if (times.summary) { times.picture ??= performance.now(); resolve(); } }) \
        .observe(document.body, \
                 { attributes: true, subtree: true, attributeFilter: ['data-band-px'] })); undefined }";

fn in_the_page(path: &Path) -> InPage {
    let page = Page::open(Chromium::with(Adapter::Software), &site::Site::shared().page());
    page.wait_for_state("empty");
    let seconds = |expression: &str| page.evaluate(expression).as_f64().expect("a time") / 1e3;
    let open = || {
        page.evaluate(WATCH);
        page.choose("input#file", &[path]);
        page.wait_until("the summary stands", || page.evaluate("times.summary > 0") == true);
        seconds("times.summary - times.start")
    };
    let summary = open();
    page.evaluate("window.pictured");
    let picture = seconds("times.picture - times.start");
    let summary_again = open();
    // The worker says how long its engine worked for each file, without the waiting for bytes.
    let marks = "performance.getEntriesByType('mark').map(mark => +mark.name.match(/by (\\d+) ms/)[1])";
    let worker = page.workers().pop().expect("a worker");
    let work: Vec<f64> = serde_json::from_value(page.evaluate_in(&worker, marks)).expect("numbers");
    let [work, work_again] = work.as_slice() else { panic!("two files were opened: {work:?}") };
    let read = "(async () => { const start = performance.now(); const reader = times.file.stream().getReader(); \
        let bytes = 0; for (;;) { const { done, value } = await reader.read(); if (done) break; bytes += value.length; } \
        if (bytes !== times.file.size) throw new Error('short read'); return performance.now() - start; })()";
    let bare = (0..3).map(|_| seconds(read)).fold(f64::INFINITY, f64::min);
    InPage { work: work / 1e3, work_again: work_again / 1e3, summary, summary_again, picture, bare }
}
