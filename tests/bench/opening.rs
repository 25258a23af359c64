//! Measurement of opening a file in the page, in any browser: until the first frame, until everything is shown, and
//! again from the cache of decoded files. In between, the open file is moved.

use crate::cases::Generated;
use crate::figure::Figure;
use crate::moving::{self, Moving};
use crate::timing_script;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Timeout of a step, without the part that depends on the file.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Additional timeout per byte of the file.
const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(200);
/// Interval of polling the page; each poll disturbs it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Pause after the page is loaded, while it starts its worker and its GPU device. A user takes longer to choose a file.
pub(crate) const SETTLE_PAUSE: Duration = Duration::from_millis(1500);
/// Pause after a browser is started, until it is idle.
pub(crate) const START_PAUSE: Duration = Duration::from_secs(3);
/// Minimum size of files that are cached, in bytes.
const MIN_KEPT: u64 = memscape::ui::prefs::cache_index::MIN_FILE_BYTES;
/// Maximum time until the file is cached after everything is shown. A browser may cache nothing.
const CACHE_TIMEOUT: Duration = Duration::from_secs(8);
/// Expression that is true if the browser has the origin private file system (OPFS).
const HAS_OPFS: &str = "navigator.storage?.getDirectory !== undefined";

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
    pub(crate) everything: f64,
    /// Longest delay of a timer of the page, until everything is shown.
    pub(crate) gap_ms: f64,
    /// Until the reports quote simulated settings, and the longest delay until then.
    pub(crate) simulated: f64,
    pub(crate) simulated_gap_ms: f64,
    /// True if the browser has the origin private file system (OPFS).
    pub(crate) has_opfs: bool,
    /// From the choice of the file until it is cached. `None` if it is not.
    pub(crate) cached: Option<f64>,
    /// In a new document, from the cache: to the first frame, and to everything.
    pub(crate) reopened: Option<[f64; 2]>,
    /// A bare `File.stream()` read of the same file in the same page, afterwards.
    pub(crate) bare: f64,
    /// Largest resident set of the page's process, in bytes: before the file is chosen, and when everything is shown.
    pub(crate) empty_resident: Option<u64>,
    pub(crate) resident: Option<u64>,
    /// Growth between the two, in bytes an event.
    pub(crate) grown_per_event: Option<f64>,
    /// Movements of the open file, if they were measured.
    pub(crate) moving: Option<Moving>,
}

/// Figures of one measurement with their names.
pub(crate) type NamedFigures = Vec<(String, f64)>;

impl Opening {
    /// All figures with their names, which are unique.
    pub(crate) fn figures(self) -> NamedFigures {
        let moving = self.moving.unwrap_or_default();
        let reopened = |at: usize| self.reopened.map(|seconds| seconds[at]);
        let figures = [
            ("page load, cold, s", Some(self.cold)),
            ("page load, warm, s", Some(self.warm)),
            ("file to first picture, s", Some(self.picture)),
            ("file to everything shown, s", Some(self.everything)),
            ("longest gap of the page until then, ms", Some(self.gap_ms)),
            ("file to simulated settings in the reports, s", Some(self.simulated)),
            ("longest gap of the page until they are, ms", Some(self.simulated_gap_ms)),
            ("bare `File.stream()` read, s", Some(self.bare)),
            ("opened again from the storage: first picture, s", reopened(0)),
            ("opened again from the storage: everything shown, s", reopened(1)),
            ("page's process, largest resident set, MiB", self.resident.map(|bytes| bytes as f64 / f64::from(1 << 20))),
            ("page's process grew by, bytes an event", self.grown_per_event),
            ("panning, from frame to frame, ms", moving.pan.median()),
            ("turning the wheel, from frame to frame, ms", moving.wheel.median()),
            ("one turn of the wheel to the stable picture, ms", moving.stable.median()),
            ("moved cursor to the call tree, ms", moving.tree.median()),
            ("moved cursor to the call tree, 95 in 100, ms", moving.tree.percentile(95)),
            ("moved cursor to the table of allocations, ms", moving.table.median()),
            ("moved cursor to the table of allocations, 95 in 100, ms", moving.table.percentile(95)),
        ];
        figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// Says if panning, the wheel and the cursor are also measured. That takes half a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    Measured,
    LeftOut,
}

/// Measurements of opening a file several times, as in [`Opening`].
#[derive(Default)]
pub(crate) struct Openings {
    pub(crate) cold: Figure,
    pub(crate) warm: Figure,
    pub(crate) summary: Figure,
    pub(crate) picture: Figure,
    pub(crate) everything: Figure,
    pub(crate) gap_ms: Figure,
    pub(crate) simulated: Figure,
    pub(crate) simulated_gap_ms: Figure,
    /// True if all had the origin private file system.
    pub(crate) has_opfs: bool,
    pub(crate) cached: Figure,
    pub(crate) reopened_picture: Figure,
    pub(crate) reopened_everything: Figure,
    pub(crate) bare: Figure,
    pub(crate) empty_resident: Figure,
    pub(crate) resident: Figure,
    pub(crate) grown_per_event: Figure,
    /// Movements of the first opening that measures them.
    pub(crate) moving: Moving,
}

impl Openings {
    /// Collects the figures of these openings.
    pub(crate) fn from_runs(openings: Vec<Opening>) -> Openings {
        let figure = |of: fn(&Opening) -> f64| openings.iter().map(of).collect();
        let where_any = |of: fn(&Opening) -> Option<f64>| openings.iter().filter_map(of).collect();
        Openings {
            cold: figure(|opening| opening.cold),
            warm: figure(|opening| opening.warm),
            summary: figure(|opening| opening.summary),
            picture: figure(|opening| opening.picture),
            everything: figure(|opening| opening.everything),
            gap_ms: figure(|opening| opening.gap_ms),
            simulated: figure(|opening| opening.simulated),
            simulated_gap_ms: figure(|opening| opening.simulated_gap_ms),
            has_opfs: openings.iter().all(|opening| opening.has_opfs),
            cached: where_any(|opening| opening.cached),
            reopened_picture: where_any(|opening| opening.reopened.map(|[picture, _]| picture)),
            reopened_everything: where_any(|opening| opening.reopened.map(|[_, all]| all)),
            bare: figure(|opening| opening.bare),
            empty_resident: where_any(|opening| opening.empty_resident.map(|bytes| bytes as f64)),
            resident: where_any(|opening| opening.resident.map(|bytes| bytes as f64)),
            grown_per_event: where_any(|opening| opening.grown_per_event),
            moving: openings.into_iter().find_map(|opening| opening.moving).unwrap_or_default(),
        }
    }
}

/// Opens the file in a browser with a new profile. Calls `between` with the file open, before the page is left.
///
/// # Errors
/// The error that the page shows.
pub(crate) fn open<T: Tab, B>(
    tab: &T,
    file: &Generated,
    moves: Moves,
    between: impl FnOnce() -> B,
) -> Result<(Opening, B), String> {
    let load = || {
        tab.load();
        std::thread::sleep(SETTLE_PAUSE);
        wait_for_time(tab, file, timing_script::STARTED_MS)
    };
    std::thread::sleep(START_PAUSE);
    let (cold, warm) = (load()?, load()?);
    let empty_resident = tab.resident();
    tab.choose(&file.path);
    let picture = wait_for_time(tab, file, timing_script::PICTURE)?;
    let everything = wait_for_time(tab, file, &timing_script::everything_shown())?;
    let summary = wait_for_time(tab, file, timing_script::SUMMARY)?;
    let gap_ms = wait_for_time(tab, file, timing_script::GAP)? * 1e3;
    let resident = tab.resident();
    let simulated = wait_for_time(tab, file, timing_script::SIMULATED)?;
    let simulated_gap_ms = wait_for_time(tab, file, timing_script::GAP_SIMULATED)? * 1e3;
    tab.evaluate("times.over = true");
    let has_opfs = tab.evaluate(HAS_OPFS) == Value::Bool(true);
    let cached = if has_opfs { wait_until_cached(tab, file) } else { None };
    tab.evaluate(timing_script::READ_SCRIPT);
    let bare = wait_for_time(tab, file, "times.bare")?;
    let moving = match moves {
        // The rest is kept if this fails.
        Moves::Measured => moving::measure(tab, file.events).map_err(|why| eprintln!("measure: {why}")).ok(),
        Moves::LeftOut => None,
    };
    let between = between();
    let reopened = if cached.is_some() { open_again(tab, file, load)? } else { None };
    let opening = Opening {
        cold,
        warm,
        summary,
        picture,
        everything,
        gap_ms,
        simulated,
        simulated_gap_ms,
        has_opfs,
        cached,
        reopened,
        bare,
        empty_resident,
        resident,
        grown_per_event: empty_resident
            .zip(resident)
            .map(|(before, after)| file.per_event(after.saturating_sub(before) as f64)),
        moving,
    };
    Ok((opening, between))
}

/// Opens the file in a new document; `None` if it was not read from the cache.
fn open_again(
    tab: &impl Tab,
    file: &Generated,
    load: impl Fn() -> Result<f64, String>,
) -> Result<Option<[f64; 2]>, String> {
    load()?;
    tab.choose(&file.path);
    let picture = wait_for_time(tab, file, timing_script::PICTURE)?;
    let all = wait_for_time(tab, file, &timing_script::everything_shown())?;
    let is_of_storage = tab.evaluate(timing_script::WORKER_FILE_SIZE).as_u64() != Some(file.bytes);
    Ok(is_of_storage.then_some([picture, all]))
}

/// Returns the seconds until the file is cached; `None` if it is not.
fn wait_until_cached(tab: &impl Tab, file: &Generated) -> Option<f64> {
    if file.bytes < MIN_KEPT {
        return None;
    }
    let deadline = Instant::now() + CACHE_TIMEOUT + TIMEOUT_PER_BYTE.mul_f64(file.bytes as f64) / 10;
    loop {
        if let Some(milliseconds) = tab.evaluate(timing_script::CACHED_MS).as_f64() {
            return Some(milliseconds / 1e3);
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Timeout for a file of this size.
pub(crate) fn timeout(file: &Generated) -> Duration {
    TIMEOUT + TIMEOUT_PER_BYTE.mul_f64(file.bytes as f64)
}

/// Waits until an expression is a number of milliseconds, and returns it in seconds.
pub(crate) fn wait_for_time(tab: &impl Tab, file: &Generated, expression: &str) -> Result<f64, String> {
    let deadline = Instant::now() + timeout(file);
    loop {
        if let Some(milliseconds) = tab.evaluate(expression).as_f64() {
            return Ok(milliseconds / 1e3);
        }
        let text = |expression| tab.evaluate(expression).as_str().unwrap_or_default().to_owned();
        let state = text("document.body.dataset.state");
        if state == "error" {
            return Err(text("document.querySelector('#error').innerText"));
        }
        if Instant::now() > deadline {
            let (status, times) = (text("document.querySelector('#status').innerText"), text("JSON.stringify(times)"));
            return Err(format!("timeout waiting for {expression}: {state}, {status:?}, {times}"));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
