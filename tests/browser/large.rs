//! Responsiveness of the page while a file of 300 MB loads.

use crate::generate::{Options, generate};
use crate::opening::open_empty_page;
use crate::page::Page;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Options of the generator for a file of 312 MB.
const OPTIONS: &str = "--events 2000000 --frames 60";

/// Maximum delay of a timer: four times the goal of 50 ms, so that noise does not fail the test.
const MAX_GAP_MS: f64 = 200.0;

/// Maximum number of loads. On a busy machine a timer is late now and then; a page that blocks is late every time.
const ATTEMPTS: usize = 3;

/// Measurements while the file loaded.
#[derive(Debug)]
struct Load {
    /// Longest delay of a timer, in ms.
    gap_ms: f64,
    /// Time until the help dialog was open, in ms.
    help_ms: f64,
    /// Values of the progress bar, without repetitions.
    progress: Vec<f64>,
}

impl Load {
    fn is_smooth(&self) -> bool {
        self.gap_ms <= MAX_GAP_MS && self.help_ms < 4.0 * MAX_GAP_MS && self.progress.len() >= 8
    }
}

/// Script that measures from the choice of a file to its first frame: delays of timers, number of frames, values of the
/// progress bar, and the time until the help dialog is open.
const TIMING_SCRIPT: &str = "{ const seen = window.seen = { gap: 0, frames: 0, progress: [], help: null }; let last = null; \
    const picture = new MutationObserver(() => { if (document.body.dataset.state === 'ready') { seen.done = true; picture.disconnect(); } }); \
    document.querySelector('input#file').addEventListener('change', () => { last = performance.now(); \
        picture.observe(document.body, { attributes: true, subtree: true, attributeFilter: ['data-frames'] }); }, { capture: true, once: true }); \
    const tick = () => { const now = performance.now(); \
        if (last !== null) { if (now - last > seen.gap) seen.gap = now - last; last = now; } if (!seen.done) setTimeout(tick); }; \
    const frame = () => { const state = document.body.dataset.state; if (state === 'loading') { seen.frames += 1; \
        const { value } = document.querySelector('#progress'); if (seen.progress.at(-1) !== value) seen.progress.push(value); } \
        if (!seen.done) requestAnimationFrame(frame); }; \
    document.addEventListener('keydown', () => { const pressed = performance.now(); new MutationObserver((_, observer) => { \
        seen.help ??= performance.now() - pressed; seen.state ??= document.body.dataset.state; observer.disconnect(); }) \
        .observe(document.querySelector('dialog#help'), { attributes: true, attributeFilter: ['open'] }); }, { capture: true, once: true }); \
    tick(); requestAnimationFrame(frame); }";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_stays_responsive_while_large_file_loads() {
    let file = large_file();
    let mut loads = Vec::new();
    while loads.len() < ATTEMPTS && !loads.last().is_some_and(Load::is_smooth) {
        loads.push(load(&file));
    }
    println!("longest gaps of the page: {:.0?} ms", loads.iter().map(|load| load.gap_ms).collect::<Vec<_>>());
    assert!(loads.iter().any(Load::is_smooth), "the page was not responsive in any attempt: {loads:.0?}");
}

/// Loads the file, and opens and closes the help dialog meanwhile.
fn load(file: &Path) -> Load {
    let page = open_empty_page();
    page.evaluate(TIMING_SCRIPT);
    page.choose_files("input#file", &[file]);
    page.wait_for_state("loading");
    page.press("?");
    let is_open = |page: &Page| page.evaluate("document.querySelector('dialog#help').open") == true;
    page.wait_until("the help is open", || is_open(&page));
    page.click("#help-close");
    page.wait_until("the help is closed", || !is_open(&page));
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || page.evaluate("seen.done === true") == true);
    let seen = page.evaluate("seen");
    let progress: Vec<f64> = serde_json::from_value(seen["progress"].clone()).expect("numbers");
    assert!(progress.is_sorted(), "the progress decreased: {progress:?}");
    assert!(seen["frames"].as_u64() >= Some(progress.len() as u64), "{seen}");
    assert_eq!(seen["state"], "loading", "the help opened after the file was loaded");
    assert_eq!(page.errors(), Vec::<String>::new());
    let ms = |name: &str| seen[name].as_f64().expect("milliseconds");
    Load { gap_ms: ms("gap"), help_ms: ms("help"), progress }
}

/// Returns the large file, which is kept under `target/` until the generator changes.
pub(crate) fn large_file() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    OPTIONS.hash(&mut hasher);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generate");
    let mut sources: Vec<PathBuf> =
        fs::read_dir(sources).expect("the generator's folder exists").flatten().map(|entry| entry.path()).collect();
    sources.sort();
    sources.iter().for_each(|source| fs::read(source).expect("readable").hash(&mut hasher));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large");
    let path = folder.join(format!("{:016x}.pickle", hasher.finish()));
    if !path.is_file() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("target/tmp can be written");
        let partial = path.with_extension("part");
        let file = BufWriter::with_capacity(1 << 20, File::create(&partial).expect("target/tmp can be written"));
        let (options, _) = Options::parse(OPTIONS.split(' ').map(str::to_owned)).expect("known options");
        let (mut file, _) = generate(&options, file).expect("the disk has space");
        file.flush().expect("the disk has space");
        fs::rename(&partial, &path).expect("just written");
    }
    path
}
