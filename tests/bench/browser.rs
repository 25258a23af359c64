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
pub(crate) const SETTLING: Duration = Duration::from_millis(1500);

/// What opening a file in the page took, once. Seconds, unless the name says otherwise.
pub(crate) struct Opening {
    /// From the address to a page whose program runs, in a browser context of its own and then again in that.
    pub(crate) empty: f64,
    pub(crate) empty_again: f64,
    /// The worker's engine, without the waiting for bytes.
    pub(crate) work: f64,
    /// The same once more in the same page: the browser has optimised the wasm by then.
    pub(crate) work_again: f64,
    /// From the choice of the file to its summary.
    pub(crate) summary: f64,
    /// From the choice of the file to its picture.
    pub(crate) picture: f64,
    /// From the choice of the file to the last answer of the worker: everything is shown, all insights are known.
    pub(crate) all: f64,
    /// A bare `File.stream()` read of the same file in the same page, after all that.
    pub(crate) bare: f64,
    /// The longest that a timer of the page had to wait, until everything is shown.
    pub(crate) gap_ms: f64,
    /// The worker's wasm memory, which never shrinks: its peak.
    pub(crate) wasm_bytes: f64,
    /// The largest resident set of the renderer process: page, worker and Chromium's own.
    pub(crate) renderer_bytes: f64,
    /// The same before the file is chosen.
    pub(crate) empty_renderer_bytes: f64,
}

/// The same of several openings.
pub(crate) struct InPage {
    pub(crate) empty: Figure,
    pub(crate) empty_again: Figure,
    pub(crate) work: Figure,
    pub(crate) work_again: Figure,
    pub(crate) summary: Figure,
    pub(crate) picture: Figure,
    pub(crate) all: Figure,
    pub(crate) bare: Figure,
    pub(crate) gap_ms: Figure,
    pub(crate) wasm_bytes: Figure,
    pub(crate) renderer_bytes: Figure,
    pub(crate) empty_renderer_bytes: Figure,
}

impl InPage {
    /// Each figure of these openings.
    pub(crate) fn of(openings: &[Opening]) -> InPage {
        let figure = |of: fn(&Opening) -> f64| openings.iter().map(of).collect();
        InPage {
            empty: figure(|opening| opening.empty),
            empty_again: figure(|opening| opening.empty_again),
            work: figure(|opening| opening.work),
            work_again: figure(|opening| opening.work_again),
            summary: figure(|opening| opening.summary),
            picture: figure(|opening| opening.picture),
            all: figure(|opening| opening.all),
            bare: figure(|opening| opening.bare),
            gap_ms: figure(|opening| opening.gap_ms),
            wasm_bytes: figure(|opening| opening.wasm_bytes),
            renderer_bytes: figure(|opening| opening.renderer_bytes),
            empty_renderer_bytes: figure(|opening| opening.empty_renderer_bytes),
        }
    }
}

/// From before the page begins: notes when its program runs, which writes the snippet, and when a worker said something last.
pub(crate) const BEFORE: &str = "window.Worker = class extends Worker { constructor(...of) { super(...of); \
        this.addEventListener('message', () => window.heard = performance.now()); } }; \
    new MutationObserver((_, observer) => { if (document.getElementById('snippet')?.textContent) { \
        window.runs = performance.now(); observer.disconnect(); } }) \
        .observe(document, { childList: true, subtree: true });";

/// Without a word of the worker for so long, everything is shown.
pub(crate) const QUIET_MS: f64 = 1000.0;

/// Notes when a file is chosen, when its summary stands and when its first picture is drawn, and how late a timer comes.
pub(crate) const WATCH: &str = "{ const times = window.times = { gap: 0 }; \
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
        if (!times.over) setTimeout(tick); }; \
    tick(); }";

/// Reads the chosen file as a page that does nothing else would.
const READ: &str = "(async () => { const start = performance.now(); const reader = times.file.stream().getReader(); let bytes = 0; \
    for (;;) { const { done, value } = await reader.read(); if (done) break; bytes += value.length; } \
    if (bytes === times.file.size) times.bare = performance.now() - start; })(); undefined";

/// Which browser it is.
pub(crate) fn version() -> String {
    let version = Chromium::with(Adapter::Software).call("", "Browser.getVersion", json!({}));
    version["product"].as_str().unwrap_or("a browser without a name").to_owned()
}

/// Opens the file twice in a page of its own, and reads it once.
pub(crate) fn open(file: &Generated) -> Opening {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(BEFORE);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    std::thread::sleep(SETTLING);
    let empty = page.evaluate("window.runs").as_f64().expect("the program runs") / 1e3;
    page.reload();
    page.wait_for_state("empty");
    std::thread::sleep(SETTLING);
    let empty_again = page.evaluate("window.runs").as_f64().expect("the program runs") / 1e3;
    let empty_renderer_bytes = largest_renderer();
    let time = |expression: &str| {
        let deadline = Instant::now() + PATIENCE + MORE_PATIENCE.mul_f64(file.bytes as f64);
        loop {
            if let Some(milliseconds) = page.evaluate(expression).as_f64() {
                return milliseconds / 1e3;
            }
            assert_ne!(page.state(), "error", "{}", page.text("#error"));
            let told = || {
                let (state, status) = (page.state(), page.text("#status"));
                format!("{state} {status:?} {}; {:#?}", page.evaluate("JSON.stringify(times)"), page.complaints())
            };
            assert!(Instant::now() < deadline, "waited in vain for {expression}: {}", told());
            std::thread::sleep(BETWEEN_QUESTIONS);
        }
    };
    let choose = || {
        page.evaluate(WATCH);
        page.choose("input#file", &[&file.path]);
        time("times.picture - times.start")
    };
    let picture = choose();
    let summary = time("times.summary - times.start");
    let all = time(&format!("performance.now() - heard > {QUIET_MS} ? heard - times.start : null"));
    let gap_ms = time("(times.over = true, times.gap)") * 1e3;
    let worker = page.workers().pop().expect("a worker");
    let (wasm_bytes, renderer_bytes) = (wasm_memory(&worker), largest_renderer());
    // The worker says how long its engine worked for its file, without the waiting for bytes.
    let marks = "performance.getEntriesByType('mark').flatMap(mark => mark.name.match(/by (\\d+) ms/)?.slice(1) ?? []).map(Number)";
    let read_mark = |worker: &str| -> Option<f64> {
        let marks: Vec<f64> = serde_json::from_value(page.evaluate_in(worker, marks)).expect("numbers");
        marks.last().copied()
    };
    let work = read_mark(&worker).expect("the file is open") / 1e3;
    page.evaluate(READ);
    let bare = time("times.bare");
    // Not `choose`: a small file is open again before the next frame, and then nothing of the page's state changes.
    page.choose("input#file", &[&file.path]);
    // Another worker reads it, and the first one goes.
    let deadline = Instant::now() + PATIENCE + MORE_PATIENCE.mul_f64(file.bytes as f64);
    let work_again = loop {
        let next = page.workers().pop().filter(|next| *next != worker);
        if let Some(mark) = next.and_then(|next| read_mark(&next)) {
            break mark / 1e3;
        }
        assert!(Instant::now() < deadline, "waited in vain until the file is open again");
        std::thread::sleep(BETWEEN_QUESTIONS);
    };
    Opening {
        empty,
        empty_again,
        work,
        work_again,
        summary,
        picture,
        all,
        bare,
        gap_ms,
        wasm_bytes,
        renderer_bytes,
        empty_renderer_bytes,
    }
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
