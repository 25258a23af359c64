//! One opening of a file in the page, in whichever browser: until its picture, until everything is shown, and once more from what the
//! browser has kept.

use crate::cases::Generated;
use crate::figure::Figure;
use crate::watch;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long any step may take, and how much longer for each byte of the file.
const PATIENCE: Duration = Duration::from_secs(60);
const MORE_PATIENCE: Duration = Duration::from_nanos(200);
/// How often the page is asked whether it is done; each question disturbs it.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(100);
/// A page that has just been loaded is still busy with its worker and its device: nobody chooses a file that fast.
pub(crate) const SETTLING: Duration = Duration::from_millis(1500);
/// A browser that has just been started is busy with itself for longer than the page takes to load.
pub(crate) const STARTING: Duration = Duration::from_secs(3);
/// Files of fewer bytes are not kept (`memscape::ui::kept::LEAST`).
const LEAST_KEPT: u64 = memscape::ui::kept::LEAST;
/// How long the storage may take once everything is shown: a browser may keep nothing.
const KEEPING: Duration = Duration::from_secs(8);
/// Whether the browser gives pages a file system of their own (OPFS).
const HAS_FILES: &str = "navigator.storage?.getDirectory !== undefined";

/// A tab of a browser.
pub(crate) trait Tab {
    /// Goes to the page, in a document of its own that notes its times, and waits until its program runs.
    fn load(&self);
    /// The value of an expression in the page.
    fn evaluate(&self, expression: &str) -> Value;
    /// Chooses a file.
    fn choose(&self, file: &Path);
    /// The largest resident set that the process of a page has had, in bytes.
    fn resident(&self) -> Option<u64>;
}

/// What opening a file took, once. Seconds, unless the name says otherwise.
pub(crate) struct Opening {
    /// From the address to a page whose program runs: of a browser that has never seen it, and then once more.
    pub(crate) cold: f64,
    pub(crate) warm: f64,
    /// From the choice of the file to its summary, to its picture, to the last insight on the page.
    pub(crate) summary: f64,
    pub(crate) picture: f64,
    pub(crate) all: f64,
    /// The longest that a timer of the page had to wait, until everything is shown.
    pub(crate) gap_ms: f64,
    /// Whether the browser gives pages a file system of their own (OPFS).
    pub(crate) has_files: bool,
    /// From the choice of the file until it is in the browser's storage.
    pub(crate) kept: Option<f64>,
    /// In another document, from the storage: to the picture, and to everything.
    pub(crate) again: Option<[f64; 2]>,
    /// A bare `File.stream()` read of the same file in the same page, after all that.
    pub(crate) bare: f64,
    /// The largest resident set of the page's process, in bytes: before the file is chosen, and when everything is shown.
    pub(crate) empty_resident: Option<u64>,
    pub(crate) resident: Option<u64>,
}

/// The same of several openings.
#[derive(Default)]
pub(crate) struct Openings {
    pub(crate) cold: Figure,
    pub(crate) warm: Figure,
    pub(crate) summary: Figure,
    pub(crate) picture: Figure,
    pub(crate) all: Figure,
    pub(crate) gap_ms: Figure,
    /// Whether each had such a file system.
    pub(crate) has_files: bool,
    pub(crate) kept: Figure,
    pub(crate) again_picture: Figure,
    pub(crate) again_all: Figure,
    pub(crate) bare: Figure,
    pub(crate) empty_resident: Figure,
    pub(crate) resident: Figure,
}

impl Openings {
    /// Each figure of these openings.
    pub(crate) fn of(openings: &[Opening]) -> Openings {
        let figure = |of: fn(&Opening) -> f64| openings.iter().map(of).collect();
        let where_any = |of: fn(&Opening) -> Option<f64>| openings.iter().filter_map(of).collect();
        Openings {
            cold: figure(|opening| opening.cold),
            warm: figure(|opening| opening.warm),
            summary: figure(|opening| opening.summary),
            picture: figure(|opening| opening.picture),
            all: figure(|opening| opening.all),
            gap_ms: figure(|opening| opening.gap_ms),
            has_files: openings.iter().all(|opening| opening.has_files),
            kept: where_any(|opening| opening.kept),
            again_picture: where_any(|opening| opening.again.map(|[picture, _]| picture)),
            again_all: where_any(|opening| opening.again.map(|[_, all]| all)),
            bare: figure(|opening| opening.bare),
            empty_resident: where_any(|opening| opening.empty_resident.map(|bytes| bytes as f64)),
            resident: where_any(|opening| opening.resident.map(|bytes| bytes as f64)),
        }
    }
}

/// Opens the file in a tab of a browser that has never seen the page; `between` may do more with the open file, before the page is left.
///
/// # Errors
/// The page says so: its words.
pub(crate) fn open<T: Tab, B>(tab: &T, file: &Generated, between: impl FnOnce() -> B) -> Result<(Opening, B), String> {
    let load = || {
        tab.load();
        std::thread::sleep(SETTLING);
        time(tab, file, watch::RUNS)
    };
    std::thread::sleep(STARTING);
    let (cold, warm) = (load()?, load()?);
    let empty_resident = tab.resident();
    tab.choose(&file.path);
    let picture = time(tab, file, watch::PICTURE)?;
    let all = time(tab, file, &watch::everything())?;
    let summary = time(tab, file, watch::SUMMARY)?;
    let gap_ms = time(tab, file, watch::GAP)? * 1e3;
    tab.evaluate("times.over = true");
    let resident = tab.resident();
    let has_files = tab.evaluate(HAS_FILES) == Value::Bool(true);
    let kept = if has_files { is_kept(tab, file) } else { None };
    tab.evaluate(watch::READ);
    let bare = time(tab, file, "times.bare")?;
    let between = between();
    let again = if kept.is_some() { again(tab, file, load)? } else { None };
    let opening =
        Opening { cold, warm, summary, picture, all, gap_ms, has_files, kept, again, bare, empty_resident, resident };
    Ok((opening, between))
}

/// Opens it in another document; `None` where what was kept is not what was read.
fn again(tab: &impl Tab, file: &Generated, load: impl Fn() -> Result<f64, String>) -> Result<Option<[f64; 2]>, String> {
    load()?;
    tab.choose(&file.path);
    let picture = time(tab, file, watch::PICTURE)?;
    let all = time(tab, file, &watch::everything())?;
    let is_of_storage = tab.evaluate(watch::HANDED).as_u64() != Some(file.bytes);
    Ok(is_of_storage.then_some([picture, all]))
}

/// Seconds until the file is kept, where it is.
fn is_kept(tab: &impl Tab, file: &Generated) -> Option<f64> {
    if file.bytes < LEAST_KEPT {
        return None;
    }
    let deadline = Instant::now() + KEEPING + MORE_PATIENCE.mul_f64(file.bytes as f64) / 10;
    loop {
        if let Some(milliseconds) = tab.evaluate(watch::KEPT).as_f64() {
            return Some(milliseconds / 1e3);
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::sleep(BETWEEN_QUESTIONS);
    }
}

/// How long a file of this size may take.
pub(crate) fn patience(file: &Generated) -> Duration {
    PATIENCE + MORE_PATIENCE.mul_f64(file.bytes as f64)
}

/// Waits for an expression to be a number of milliseconds, and gives seconds.
pub(crate) fn time(tab: &impl Tab, file: &Generated, expression: &str) -> Result<f64, String> {
    let deadline = Instant::now() + patience(file);
    loop {
        if let Some(milliseconds) = tab.evaluate(expression).as_f64() {
            return Ok(milliseconds / 1e3);
        }
        let said = |expression| tab.evaluate(expression).as_str().unwrap_or_default().to_owned();
        let state = said("document.body.dataset.state");
        if state == "error" {
            return Err(said("document.querySelector('#error').innerText"));
        }
        if Instant::now() > deadline {
            let (status, times) = (said("document.querySelector('#status').innerText"), said("JSON.stringify(times)"));
            return Err(format!("waited in vain for {expression}: {state}, {status:?}, {times}"));
        }
        std::thread::sleep(BETWEEN_QUESTIONS);
    }
}
