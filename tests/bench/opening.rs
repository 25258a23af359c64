//! Measurement of opening a file in the page, in any browser: until the first frame, until everything is shown, and
//! again from the cache of decoded files.

use crate::cases::Generated;
use crate::figure::Figure;
use crate::watch;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Timeout of a step, without the part that depends on the file.
const PATIENCE: Duration = Duration::from_secs(60);
/// Additional timeout per byte of the file.
const MORE_PATIENCE: Duration = Duration::from_nanos(200);
/// Interval of polling the page; each poll disturbs it.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(100);
/// Pause after the page is loaded, while it starts its worker and its GPU device. A user takes longer to choose a file.
pub(crate) const SETTLING: Duration = Duration::from_millis(1500);
/// Pause after a browser is started, until it is idle.
pub(crate) const STARTING: Duration = Duration::from_secs(3);
/// Minimum size of files that are cached, in bytes.
const LEAST_KEPT: u64 = memscape::ui::kept::LEAST;
/// Maximum time until the file is cached after everything is shown. A browser may cache nothing.
const KEEPING: Duration = Duration::from_secs(8);
/// Expression that is true if the browser has the origin private file system (OPFS).
const HAS_FILES: &str = "navigator.storage?.getDirectory !== undefined";

/// Browser tab that can open the page.
pub(crate) trait Tab {
    /// Loads the page in a new document that records its times, and waits until its program runs.
    fn load(&self);
    /// Evaluates an expression in the page.
    fn evaluate(&self, expression: &str) -> Value;
    fn choose(&self, file: &Path);
    /// Largest resident set of the page's process so far, in bytes.
    fn resident(&self) -> Option<u64>;
}

/// Measurements of opening a file once, in seconds unless the name says otherwise.
pub(crate) struct Opening {
    /// From the navigation until the page's program runs, in a new profile.
    pub(crate) cold: f64,
    /// The same for a second load.
    pub(crate) warm: f64,
    /// From the choice of the file to its summary, to its first frame, and to the last insight.
    pub(crate) summary: f64,
    pub(crate) picture: f64,
    pub(crate) all: f64,
    /// Longest delay of a timer of the page, until everything is shown.
    pub(crate) gap_ms: f64,
    /// True if the browser has the origin private file system (OPFS).
    pub(crate) has_files: bool,
    /// From the choice of the file until it is cached. `None` if it is not.
    pub(crate) kept: Option<f64>,
    /// In a new document, from the cache: to the first frame, and to everything.
    pub(crate) again: Option<[f64; 2]>,
    /// A bare `File.stream()` read of the same file in the same page, afterwards.
    pub(crate) bare: f64,
    /// Largest resident set of the page's process, in bytes: before the file is chosen, and when everything is shown.
    pub(crate) empty_resident: Option<u64>,
    pub(crate) resident: Option<u64>,
}

/// Measurements of opening a file several times, as in [`Opening`].
#[derive(Default)]
pub(crate) struct Openings {
    pub(crate) cold: Figure,
    pub(crate) warm: Figure,
    pub(crate) summary: Figure,
    pub(crate) picture: Figure,
    pub(crate) all: Figure,
    pub(crate) gap_ms: Figure,
    /// True if all had the origin private file system.
    pub(crate) has_files: bool,
    pub(crate) kept: Figure,
    pub(crate) again_picture: Figure,
    pub(crate) again_all: Figure,
    pub(crate) bare: Figure,
    pub(crate) empty_resident: Figure,
    pub(crate) resident: Figure,
}

impl Openings {
    /// Collects the figures of these openings.
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

/// Opens the file in a browser with a new profile. Calls `between` with the file open, before the page is left.
///
/// # Errors
/// The error that the page shows.
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

/// Opens the file in a new document; `None` if it was not read from the cache.
fn again(tab: &impl Tab, file: &Generated, load: impl Fn() -> Result<f64, String>) -> Result<Option<[f64; 2]>, String> {
    load()?;
    tab.choose(&file.path);
    let picture = time(tab, file, watch::PICTURE)?;
    let all = time(tab, file, &watch::everything())?;
    let is_of_storage = tab.evaluate(watch::HANDED).as_u64() != Some(file.bytes);
    Ok(is_of_storage.then_some([picture, all]))
}

/// Returns the seconds until the file is cached; `None` if it is not.
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

/// Timeout for a file of this size.
pub(crate) fn patience(file: &Generated) -> Duration {
    PATIENCE + MORE_PATIENCE.mul_f64(file.bytes as f64)
}

/// Waits until an expression is a number of milliseconds, and returns it in seconds.
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
            return Err(format!("timeout waiting for {expression}: {state}, {status:?}, {times}"));
        }
        std::thread::sleep(BETWEEN_QUESTIONS);
    }
}
