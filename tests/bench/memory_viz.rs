//! Measurement of PyTorch's memory_viz with the same files in the same Chromium. It is not part of the repository: it
//! is loaded from a folder or from the network.
//!
//! `MEMORY_VIZ` names a folder with PyTorch's `MemoryViz.js` (torch/utils/viz), the scripts it imports, and
//! `node_modules/d3` (`npm install --prefix FOLDER d3@5` or `d3@7`, as it requires). A folder with an `index.html` is
//! served unchanged.

use crate::browser::FreshChromium;
use crate::cases::Generated;
use crate::chromium::Adapter;
use crate::figure::Figure;
use crate::opening::{SETTLE_PAUSE, START_PAUSE};
use serde_json::{Value, json};
use server::Response;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No WebGPU adapter: memory_viz does not use WebGPU, and a software GPU would paint its polygons slower than the
/// processor.
const ADAPTER: Adapter = Adapter::Missing;
/// URL that is used without a folder.
const PINNED_URL: &str = "https://cdn.jsdelivr.net/gh/pytorch/pytorch@v2.15.0/torch/utils/viz/MemoryViz.js";
/// Timeout for a file.
pub(crate) const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout for its start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Measurements for a file, once, in seconds unless the name says otherwise.
pub(crate) struct Drawing {
    cold: f64,
    warm: f64,
    picture: f64,
    settled: f64,
    gap_ms: f64,
    resident: f64,
    polygons: f64,
}

/// Measurements for a file of several runs.
#[derive(Default)]
pub(crate) struct Drawings {
    pub(crate) cold: Figure,
    pub(crate) warm: Figure,
    /// From the drop of the file to the frame with its first polygons, and until frames are no longer late.
    pub(crate) picture: Figure,
    pub(crate) settled: Figure,
    pub(crate) gap_ms: Figure,
    pub(crate) resident: Figure,
    /// Number of polygons: one for each allocation that is not summarized.
    pub(crate) polygons: Figure,
}

impl Drawings {
    pub(crate) fn from_runs(drawings: &[Drawing]) -> Drawings {
        let figure = |of: fn(&Drawing) -> f64| drawings.iter().map(of).collect();
        Drawings {
            cold: figure(|it| it.cold),
            warm: figure(|it| it.warm),
            picture: figure(|it| it.picture),
            settled: figure(|it| it.settled),
            gap_ms: figure(|it| it.gap_ms),
            resident: figure(|it| it.resident),
            polygons: figure(|it| it.polygons),
        }
    }
}

/// A working memory_viz, served by a local server.
pub(crate) struct MemoryViz {
    address: String,
    /// Source that the report names.
    pub(crate) source: String,
}

/// Finds memory_viz and checks that it starts.
///
/// # Errors
/// Why it can't be used, and how to install it.
pub(crate) fn find() -> Result<MemoryViz, String> {
    let folder = std::env::var_os("MEMORY_VIZ").map(PathBuf::from);
    let how = "set MEMORY_VIZ to a folder with MemoryViz.js and node_modules/d3 (tests/bench/memory_viz.rs says more)";
    let page = match &folder {
        Some(folder) if folder.join("index.html").is_file() => None,
        Some(folder) => {
            let script = std::fs::read_to_string(folder.join("MemoryViz.js"));
            Some(page_and_shim(&script.map_err(|error| format!("{}/MemoryViz.js: {error}; {how}", folder.display()))?))
        }
        None => Some((format!("{HEAD}<script type=\"module\" src=\"{PINNED_URL}\"></script>"), String::new())),
    };
    let source = if folder.is_some() { "a folder, without a network".to_owned() } else { PINNED_URL.to_owned() };
    let files = folder.unwrap_or_default();
    let at = server::start(std::iter::once(0), move |path| match (&page, path) {
        (Some((page, _)), "") => text(page.clone(), "text/html; charset=utf-8"),
        (Some((_, shim)), "measure-d3.js") => text(shim.clone(), "text/javascript; charset=utf-8"),
        _ if files.as_os_str().is_empty() => Response::not_found(),
        _ => Response::file(&files, path),
    });
    let address = format!("http://{}/", at.map_err(|error| error.to_string())?);
    let found = MemoryViz { address, source };
    let tab = FreshChromium::start(ADAPTER);
    tab.page.run_before_load(SCRIPT);
    found.load(&tab).map_err(|why| format!("{why}; {how}"))?;
    Ok(found)
}

impl MemoryViz {
    /// Loads its page; returns the seconds until its controls exist.
    fn load(&self, tab: &FreshChromium) -> Result<f64, String> {
        tab.page.navigate("about:blank");
        tab.page.navigate(&self.address);
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            if let Some(milliseconds) = tab.page.evaluate("times.runs").as_f64() {
                return Ok(milliseconds / 1e3);
            }
            if Instant::now() > deadline {
                return Err("memory_viz did not start".to_owned());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Drops the file on its page, in a new browser.
    ///
    /// # Errors
    /// If it crashes, throws, or is not done within [`LIMIT`].
    pub(crate) fn draw(&self, file: &Generated) -> Result<Drawing, String> {
        let tab = FreshChromium::start(ADAPTER);
        tab.chromium.call("", "Target.setDiscoverTargets", json!({ "discover": true }));
        tab.page.run_before_load(SCRIPT);
        std::thread::sleep(START_PAUSE);
        let (cold, warm) = (self.load(&tab)?, self.load(&tab)?);
        std::thread::sleep(SETTLE_PAUSE);
        tab.page.choose_files("#measured", &[&file.path]);
        let times = wait_for_measurements(&tab)?;
        let of = |name: &str| times[name].as_f64().ok_or_else(|| format!("no {name} in {times}"));
        Ok(Drawing {
            cold,
            warm,
            picture: of("picture")? / 1e3,
            settled: of("settled")? / 1e3,
            gap_ms: of("gap")?,
            resident: tab.largest_renderer().unwrap_or(0) as f64,
            polygons: of("polygons")?,
        })
    }
}

/// Waits for the measurements that the page writes to its console once it has settled. A frozen or crashed page could
/// not be polled.
fn wait_for_measurements(tab: &FreshChromium) -> Result<Value, String> {
    let deadline = Instant::now() + FILE_TIMEOUT;
    loop {
        for complaint in tab.page.errors() {
            let complaint: Value = serde_json::from_str(&complaint).unwrap_or_default();
            let words = complaint["args"][0]["value"].as_str().and_then(|words| words.strip_prefix("measured: "));
            if let Some(times) = words.and_then(|words| serde_json::from_str(words).ok()) {
                return Ok(times);
            }
            let thrown = complaint["exceptionDetails"]["exception"]["description"].as_str();
            if let Some(thrown) = thrown.and_then(|thrown| thrown.lines().next()) {
                return Err(format!("it throws {thrown:?}"));
            }
        }
        if !tab.chromium.events(|event| event.method == "Target.targetCrashed").is_empty() {
            return Err("its page crashes".to_owned());
        }
        if Instant::now() > deadline {
            return Err(format!("not done after {} s", FILE_TIMEOUT.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

const HEAD: &str = "<!doctype html><meta charset=\"utf-8\"><title>memory_viz</title><body>";

/// Returns a page that loads the script, and a module that exports d3 from npm's single script, for its imports from
/// URLs.
fn page_and_shim(script: &str) -> (String, String) {
    let afar: Vec<&str> =
        script.split(['"', '\'']).filter(|word| word.starts_with("https://") && word.contains("d3")).collect();
    let imports: serde_json::Map<String, Value> =
        afar.iter().map(|address| ((*address).to_owned(), Value::from("./measure-d3.js"))).collect();
    let page = format!(
        "{HEAD}<script src=\"./node_modules/d3/dist/d3.min.js\"></script>\
         <script type=\"importmap\">{}</script><script type=\"module\" src=\"./MemoryViz.js\"></script>",
        json!({ "imports": imports })
    );
    let names = d3_names(script).into_iter().collect::<Vec<_>>().join(", ");
    (page, format!("const d3 = window.d3; export default d3; export const {{ {names} }} = d3;"))
}

/// Names that the script uses of d3: those after `d3.`, and those in the braces of its imports.
fn d3_names(script: &str) -> BTreeSet<&str> {
    let is_name = |it: &char| it.is_ascii_alphanumeric() || *it == '_';
    let behind = script.split("d3.").skip(1).map(|rest| {
        let length: usize = rest.chars().take_while(is_name).map(char::len_utf8).sum();
        &rest[..length]
    });
    let imports = script.lines().filter(|line| line.starts_with("import {") && line.contains("https://"));
    let between = imports.filter_map(|line| Some(line.split_once('{')?.1.split_once('}')?.0));
    behind.chain(between.flat_map(|names| names.split(',')).map(str::trim)).filter(|name| !name.is_empty()).collect()
}

fn text(text: String, content_type: &'static str) -> Response {
    let bytes = text.into_bytes();
    Response {
        status: "200 OK",
        content_type,
        headers: Vec::new(),
        length: bytes.len() as u64,
        body: Box::new(std::io::Cursor::new(bytes)),
    }
}

/// Returns whether the file is small enough: browsers read less than 2 GiB at once.
pub(crate) fn is_small_enough(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.len() < 2 << 30)
}

/// Script that runs before the page. All versions of memory_viz accept dropped files; the file input is ours. The page
/// has settled when no frame was late for half a second.
const SCRIPT: &str = r"{
    const times = window.times = { gap: 0 };
    const now = () => performance.now();
    const [LATE, CALM] = [50, 500];
    const tick = () => {
        const at = now();
        times.gap = Math.max(times.gap, at - times.tick);
        times.tick = at;
        if (!times.settled) setTimeout(tick);
    };
    const settle = (last, calm) => requestAnimationFrame(() => {
        const at = now();
        if (at - last > LATE) calm = at;
        if (at - calm < CALM) return settle(at, calm);
        [times.settled, times.picture] = [calm - times.start, times.picture - times.start];
        times.polygons = document.querySelectorAll('svg:first-of-type polygon').length;
        console.error('measured: ' + JSON.stringify(times));
    });
    new MutationObserver(() => {
        if (!times.runs && document.querySelector('select')) times.runs = now();
        if (!times.start || times.picture || !document.querySelector('svg polygon')) return;
        times.picture = -1;
        requestAnimationFrame(() => setTimeout(() => { times.picture = now(); settle(now(), now()); }));
    }).observe(document, { childList: true, subtree: true });
    document.addEventListener('DOMContentLoaded', () => {
        const input = Object.assign(document.createElement('input'), { type: 'file', id: 'measured', hidden: true });
        document.body.append(input);
        input.addEventListener('change', () => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(input.files[0]);
            times.start = times.tick = now();
            setTimeout(tick);
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
        });
    });
}";
