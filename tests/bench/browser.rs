//! What opening takes in Chromium: what every browser is asked, the worker's share, and its memory.

use crate::cases::Generated;
use crate::chromium::{Adapter, Chromium};
use crate::figure::Figure;
use crate::machine;
use crate::opening::{self, Opening, Openings, Tab};
use crate::page::Page;
use crate::site::Site;
use crate::watch;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// What opening a file in Chromium took, once. Seconds, unless the name says otherwise.
pub(crate) struct InChromium {
    opening: Opening,
    /// The worker's engine, without the waiting for bytes.
    work: f64,
    /// The same once more in the same page: the browser has optimised the wasm by then.
    work_again: f64,
    /// The worker's wasm memory, which never shrinks: its peak.
    wasm_bytes: f64,
}

/// The same of several openings.
pub(crate) struct InPage {
    pub(crate) openings: Openings,
    pub(crate) work: Figure,
    pub(crate) work_again: Figure,
    pub(crate) wasm_bytes: Figure,
}

impl InPage {
    /// Each figure of these openings.
    pub(crate) fn of(openings: Vec<InChromium>) -> InPage {
        let figure = |of: fn(&InChromium) -> f64| openings.iter().map(of).collect();
        InPage {
            work: figure(|opening| opening.work),
            work_again: figure(|opening| opening.work_again),
            wasm_bytes: figure(|opening| opening.wasm_bytes),
            openings: Openings::of(&openings.into_iter().map(|opening| opening.opening).collect::<Vec<_>>()),
        }
    }
}

/// A Chromium that has never seen a page, and a tab in its profile; it ends with this.
pub(crate) struct Fresh {
    pub(crate) chromium: &'static Chromium,
    pub(crate) page: Page,
}

impl Fresh {
    pub(crate) fn start(adapter: Adapter) -> Fresh {
        let chromium = Chromium::fresh(adapter);
        Fresh { chromium, page: Page::in_profile(chromium) }
    }

    /// The largest resident set that any of its renderer processes alive has had, in bytes: there is one page at a time.
    pub(crate) fn largest_renderer(&self) -> Option<u64> {
        let processes = self.chromium.call("", "SystemInfo.getProcessInfo", json!({}));
        let processes = processes["processInfo"].as_array().cloned().unwrap_or_default();
        let of_renderer = |process: &Value| (process["type"] == "renderer").then(|| process["id"].to_string());
        processes.iter().filter_map(of_renderer).filter_map(|id| machine::peak_resident(&id)).max()
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.chromium.end_fresh();
    }
}

impl Tab for Fresh {
    fn load(&self) {
        self.page.navigate("about:blank");
        self.page.navigate(&Site::shared().page());
        self.page.wait_for_state("empty");
    }

    fn evaluate(&self, expression: &str) -> Value {
        self.page.evaluate(expression)
    }

    fn choose(&self, file: &Path) {
        self.page.choose("input#file", &[file]);
    }

    fn resident(&self) -> Option<u64> {
        self.largest_renderer()
    }
}

/// Which browser it is.
pub(crate) fn version() -> String {
    let version = Chromium::with(Adapter::Software).call("", "Browser.getVersion", json!({}));
    version["product"].as_str().unwrap_or("a browser without a name").to_owned()
}

/// Opens the file in a browser of its own: three times, and reads it once.
pub(crate) fn open(file: &Generated) -> InChromium {
    let tab = Fresh::start(Adapter::Software);
    tab.page.run_before_load(&watch::script());
    let between = || {
        let worker = tab.page.workers().pop().expect("a worker");
        let wasm_bytes = wasm_memory(tab.chromium, &worker);
        let work = work_of(&tab.page, &worker).expect("the file is open");
        (work, work_again(&tab.page, file, &worker), wasm_bytes)
    };
    let (opening, (work, work_again, wasm_bytes)) = opening::open(&tab, file, between).expect("it opens");
    InChromium { opening, work, work_again, wasm_bytes }
}

/// Seconds that the worker says its engine worked for its file, without the waiting for bytes.
fn work_of(page: &Page, worker: &str) -> Option<f64> {
    let marks = "performance.getEntriesByType('mark').flatMap(mark => mark.name.match(/by (\\d+) ms/)?.slice(1) ?? []).map(Number)";
    let marks: Vec<f64> = serde_json::from_value(page.evaluate_in(worker, marks)).expect("numbers");
    marks.last().map(|milliseconds| milliseconds / 1e3)
}

/// The same when the file is opened once more in the same page, and read: what is kept of it is forgotten for so long.
fn work_again(page: &Page, file: &Generated, before: &str) -> f64 {
    page.evaluate("window.list = localStorage['memscape.kept']; delete localStorage['memscape.kept']");
    // The picture is not waited for: a small file is open again before the next frame, and then nothing of the page's state changes.
    page.choose("input#file", &[&file.path]);
    // Another worker reads it, and the first one goes.
    let deadline = Instant::now() + opening::patience(file);
    loop {
        let next = page.workers().pop().filter(|next| next != before);
        if let Some(seconds) = next.and_then(|next| work_of(page, &next)) {
            page.evaluate("list && (localStorage['memscape.kept'] = list)");
            return seconds;
        }
        assert!(Instant::now() < deadline, "waited in vain until the file is open again");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Bytes of wasm memory in a worker: nothing of it is exposed, so the debugger looks for its one `WebAssembly.Memory`.
fn wasm_memory(chromium: &Chromium, worker: &str) -> f64 {
    let prototype = json!({ "expression": "WebAssembly.Memory.prototype" });
    let prototype = chromium.call(worker, "Runtime.evaluate", prototype)["result"]["objectId"].take();
    let objects = json!({ "prototypeObjectId": prototype });
    let objects = chromium.call(worker, "Runtime.queryObjects", objects)["objects"]["objectId"].take();
    let sum = "function() { return this.reduce((sum, memory) => sum + memory.buffer.byteLength, 0); }";
    let sum = json!({ "objectId": objects, "functionDeclaration": sum, "returnByValue": true });
    chromium.call(worker, "Runtime.callFunctionOn", sum)["result"]["value"].as_f64().expect("bytes")
}
