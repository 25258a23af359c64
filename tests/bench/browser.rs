//! Measurement of opening a file in Chromium: times as in every browser, and time and memory of the worker.

use crate::cases::Generated;
use crate::chromium::{Adapter, Chromium};
use crate::figure::Figure;
use crate::machine;
use crate::opening::{self, Moves, NamedFigures, Opening, Openings, Tab};
use crate::page::Page;
use crate::site::Site;
use crate::timing_script;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Measurements of opening a file in Chromium once, in seconds unless the name says otherwise.
pub(crate) struct ChromiumOpening {
    opening: Opening,
    /// Time of the worker's engine, without waiting for bytes.
    work: f64,
    /// The same for opening it again in the same page, after the browser has optimized the wasm.
    work_again: f64,
    /// Size of the worker's wasm memory, which never shrinks, so this is its peak.
    wasm_bytes: f64,
}

impl ChromiumOpening {
    /// All figures with their names.
    pub(crate) fn figures(self, file: &Generated) -> NamedFigures {
        let ChromiumOpening { opening, work, wasm_bytes, .. } = self;
        let mut figures = opening.figures();
        figures.push(("worker: decode + replay + index, s".to_owned(), work));
        figures.push(("worker's wasm memory, bytes an event".to_owned(), file.per_event(wasm_bytes)));
        figures
    }
}

/// Measurements of opening a file in Chromium several times.
pub(crate) struct ChromiumFigures {
    pub(crate) openings: Openings,
    pub(crate) work: Figure,
    pub(crate) work_again: Figure,
    pub(crate) wasm_bytes: Figure,
}

impl ChromiumFigures {
    /// Collects the figures of these openings.
    pub(crate) fn of(openings: Vec<ChromiumOpening>) -> ChromiumFigures {
        let figure = |of: fn(&ChromiumOpening) -> f64| openings.iter().map(of).collect();
        ChromiumFigures {
            work: figure(|opening| opening.work),
            work_again: figure(|opening| opening.work_again),
            wasm_bytes: figure(|opening| opening.wasm_bytes),
            openings: Openings::from_runs(openings.into_iter().map(|opening| opening.opening).collect()),
        }
    }
}

/// Chromium with a new profile, and a tab in it; closed on drop.
pub(crate) struct FreshChromium {
    pub(crate) chromium: &'static Chromium,
    pub(crate) page: Page,
}

impl FreshChromium {
    pub(crate) fn start(adapter: Adapter) -> FreshChromium {
        let chromium = Chromium::start_fresh(adapter);
        FreshChromium { chromium, page: Page::blank_in_profile(chromium) }
    }

    /// Largest resident set of its running renderer processes so far, in bytes. There is only one page at a time.
    pub(crate) fn largest_renderer(&self) -> Option<u64> {
        let processes = self.chromium.call("", "SystemInfo.getProcessInfo", json!({}));
        let processes = processes["processInfo"].as_array().cloned().unwrap_or_default();
        let of_renderer = |process: &Value| (process["type"] == "renderer").then(|| process["id"].to_string());
        processes.iter().filter_map(of_renderer).filter_map(|id| machine::peak_resident(&id)).max()
    }
}

impl Drop for FreshChromium {
    fn drop(&mut self) {
        self.chromium.close_fresh();
    }
}

impl Tab for FreshChromium {
    fn load(&self) {
        self.page.navigate("about:blank");
        self.page.navigate(&Site::shared().page());
        self.page.wait_for_state("empty");
    }

    fn evaluate(&self, expression: &str) -> Value {
        self.page.evaluate(expression)
    }

    fn choose(&self, file: &Path) {
        self.page.choose_files("input#file", &[file]);
    }

    fn resident(&self) -> Option<u64> {
        self.largest_renderer()
    }
}

/// Name and version of Chromium, which is started for that.
pub(crate) fn version() -> String {
    let version = FreshChromium::start(Adapter::Software).chromium.call("", "Browser.getVersion", json!({}));
    version["product"].as_str().unwrap_or("an unnamed browser").to_owned()
}

/// Opens the file three times in a new browser, and reads it once without decoding.
pub(crate) fn open(file: &Generated, moves: Moves) -> ChromiumOpening {
    let tab = FreshChromium::start(Adapter::Software);
    tab.page.run_before_load(&timing_script::script());
    let between = || {
        let worker = tab.page.engine_workers().pop().expect("the page has a worker");
        let (work, wasm_bytes) = engine_costs(&tab.page, &worker).expect("the file is open");
        (work, engine_seconds_again(&tab.page, file, &worker), wasm_bytes)
    };
    let (opening, (work, work_again, wasm_bytes)) = opening::open(&tab, file, moves, between).expect("the file opens");
    ChromiumOpening { opening, work, work_again, wasm_bytes }
}

/// Seconds of the worker's engine for its file, without waiting for bytes, and bytes of its wasm memory once the file
/// is open. The worker sets a performance mark with both.
fn engine_costs(page: &Page, worker: &str) -> Option<(f64, f64)> {
    let marks = r"performance.getEntriesByType('mark').flatMap(mark => {
        const [, ms, pages] = mark.name.match(/by (\d+) ms of work, (\d+) memory pages/) ?? [];
        return ms ? [[ms / 1e3, pages * 65536]] : [];
    })";
    let marks: Vec<(f64, f64)> = serde_json::from_value(page.evaluate_in(worker, marks)).expect("numbers");
    marks.last().copied()
}

/// Opens the file again in the same page and returns the seconds of the engine. The list of cached files is removed
/// meanwhile, so that the file is decoded.
fn engine_seconds_again(page: &Page, file: &Generated, before: &str) -> f64 {
    page.evaluate("window.list = localStorage['memscape.kept']; delete localStorage['memscape.kept']");
    // Does not wait for a frame: a small file opens before the next one, so no change of the page's state would be
    // seen.
    page.choose_files("input#file", &[&file.path]);
    // A new worker reads the file, and the old one ends.
    let deadline = Instant::now() + opening::timeout(file);
    loop {
        let next = page.engine_workers().pop().filter(|next| next != before);
        if let Some((seconds, _)) = next.and_then(|next| engine_costs(page, &next)) {
            page.evaluate("list && (localStorage['memscape.kept'] = list)");
            return seconds;
        }
        assert!(Instant::now() < deadline, "timeout waiting until the file is open again");
        std::thread::sleep(Duration::from_millis(100));
    }
}
