//! What opening takes in the page: until the summary, until the picture; the worker's share, memory, and whether the page answered.

use crate::cases::Generated;
use crate::chromium::{Adapter, Chromium};
use crate::figure::Figure;
use crate::machine;
use crate::page::Page;
use crate::site::Site;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long any step may take, and how much longer for each byte of the file.
const PATIENCE: Duration = Duration::from_secs(60);
const MORE_PATIENCE: Duration = Duration::from_nanos(200);
/// How often the page is asked whether it is done; each question disturbs it.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(100);
/// A page that has just been loaded is still busy with its worker and its device: nobody drops a file that fast.
const SETTLING: Duration = Duration::from_millis(1500);

/// What opening a file in the page takes. Seconds, unless the name says otherwise.
#[derive(Default)]
pub(crate) struct InPage {
    /// The worker's engine, without the waiting for bytes.
    pub(crate) work: Figure,
    /// The same once more in the same page: the browser has optimised the wasm by then.
    pub(crate) work_again: Figure,
    /// From the choice of the file to its summary.
    pub(crate) summary: Figure,
    /// From the choice of the file to its picture.
    pub(crate) picture: Figure,
    /// A bare `File.stream()` read of the same file in the same page, after all that.
    pub(crate) bare: Figure,
    /// The longest that a timer of the page had to wait, until the picture.
    pub(crate) gap_ms: Figure,
    /// The worker's wasm memory, which never shrinks: its peak.
    pub(crate) wasm_bytes: Figure,
    /// The largest resident set of the renderer process: page, worker and Chromium's own.
    pub(crate) renderer_bytes: Figure,
    /// The same before the file is chosen.
    pub(crate) empty_renderer_bytes: Figure,
}

/// Notes when a file is chosen, when its summary stands and when its first picture is drawn, and how late a timer comes.
const WATCH: &str = "{ const times = window.times = { gap: 0 }; \
    document.querySelector('input#file').addEventListener('change', event => { \
        times.file = event.target.files[0]; times.start = times.tick = performance.now(); }, { capture: true, once: true }); \
    const state = new MutationObserver(() => { if (times.start && document.body.dataset.state === 'ready') { \
        times.summary = performance.now(); state.disconnect(); } }); \
    state.observe(document.body, { attributes: true, attributeFilter: ['data-state'] }); \
    const picture = new MutationObserver(() => { if (times.summary) { times.picture = performance.now(); picture.disconnect(); } }); \
    picture.observe(document.body, { attributes: true, subtree: true, attributeFilter: ['data-frames'] }); \
    const tick = () => { const now = performance.now(); \
        if (times.tick && now - times.tick > times.gap) { times.gap = now - times.tick; times.gapAt = times.tick - times.start; } \
        if (times.tick) times.tick = now; \
        if (!times.picture) setTimeout(tick); }; \
    tick(); }";

/// Reads the chosen file as a page that does nothing else would.
const READ: &str = "(async () => { const start = performance.now(); const reader = times.file.stream().getReader(); let bytes = 0; \
    for (;;) { const { done, value } = await reader.read(); if (done) break; bytes += value.length; } \
    if (bytes === times.file.size) times.bare = performance.now() - start; })(); undefined";

/// Opens the file in a page of its own, so many times.
pub(crate) fn open(file: &Generated, runs: usize) -> InPage {
    let runs: Vec<[f64; 9]> = (0..runs).map(|_| once(file)).collect();
    let figure = |at: usize| runs.iter().map(|run| run[at]).collect();
    InPage {
        work: figure(0),
        work_again: figure(1),
        summary: figure(2),
        picture: figure(3),
        bare: figure(4),
        gap_ms: figure(5),
        wasm_bytes: figure(6),
        renderer_bytes: figure(7),
        empty_renderer_bytes: figure(8),
    }
}

/// Which browser it is.
pub(crate) fn version() -> String {
    let version = Chromium::with(Adapter::Software).call("", "Browser.getVersion", json!({}));
    version["product"].as_str().unwrap_or("a browser without a name").to_owned()
}

fn once(file: &Generated) -> [f64; 9] {
    let page = Page::open(Chromium::with(Adapter::Software), &Site::shared().page());
    page.wait_for_state("empty");
    std::thread::sleep(SETTLING);
    let empty_renderer = largest_renderer();
    let time = |expression: &str| {
        let deadline = Instant::now() + PATIENCE + MORE_PATIENCE.mul_f64(file.bytes as f64);
        loop {
            if let Some(milliseconds) = page.evaluate(expression).as_f64() {
                return milliseconds / 1e3;
            }
            assert_ne!(page.state(), "error", "{}", page.text("#error"));
            let told = || format!("{}; {:#?}", page.evaluate("JSON.stringify(times)"), page.complaints());
            assert!(Instant::now() < deadline, "waited in vain for {expression}: {}", told());
            std::thread::sleep(BETWEEN_QUESTIONS);
        }
    };
    let open = || {
        page.evaluate(WATCH);
        page.choose("input#file", &[&file.path]);
        time("times.picture - times.start")
    };
    let picture = open();
    let summary = time("times.summary - times.start");
    let gap_ms = time("times.gap") * 1e3;
    let worker = page.workers().pop().expect("a worker");
    let (wasm, renderer) = (wasm_memory(&worker), largest_renderer());
    page.evaluate(READ);
    let bare = time("times.bare");
    open();
    // The worker says how long its engine worked for each file, without the waiting for bytes.
    let marks = "performance.getEntriesByType('mark').map(mark => +mark.name.match(/by (\\d+) ms/)[1])";
    let work: Vec<f64> = serde_json::from_value(page.evaluate_in(&worker, marks)).expect("numbers");
    let [work, work_again] = work.as_slice() else { panic!("two files were opened: {work:?}") };
    [work / 1e3, work_again / 1e3, summary, picture, bare, gap_ms, wasm, renderer, empty_renderer]
}

/// Bytes of wasm memory in a worker: nothing of it is exposed, so the debugger looks for its one `WebAssembly.Memory`.
fn wasm_memory(worker: &str) -> f64 {
    let chromium = Chromium::with(Adapter::Software);
    let prototype = json!({ "expression": "WebAssembly.Memory.prototype" });
    let prototype = chromium.call(worker, "Runtime.evaluate", prototype)["result"]["objectId"].take();
    let objects = json!({ "prototypeObjectId": prototype });
    let objects = chromium.call(worker, "Runtime.queryObjects", objects)["objects"]["objectId"].take();
    let sum = "function() { return this.reduce((sum, memory) => sum + memory.buffer.byteLength, 0); }";
    let sum = json!({ "objectId": objects, "functionDeclaration": sum, "returnByValue": true });
    chromium.call(worker, "Runtime.callFunctionOn", sum)["result"]["value"].as_f64().expect("bytes")
}

/// The largest resident set that any renderer process alive has had, in bytes: there is one page at a time.
fn largest_renderer() -> f64 {
    let processes = Chromium::with(Adapter::Software).call("", "SystemInfo.getProcessInfo", json!({}));
    let processes = processes["processInfo"].as_array().cloned().unwrap_or_default();
    let of_renderer = |process: &Value| (process["type"] == "renderer").then(|| process["id"].to_string());
    let peaks = processes.iter().filter_map(of_renderer).filter_map(|id| machine::peak_resident(&id));
    peaks.max().unwrap_or(0) as f64
}
