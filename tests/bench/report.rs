//! Report of the benchmark `open`: goals, then all figures.

use crate::browser::ChromiumFigures;
use crate::browser_tables::{OtherPrograms, tables_by_browser};
use crate::figure::{Figure, three_digits};
use crate::goals;
use crate::memory_viz::Drawings;
use crate::native::Memory;
use crate::opening::Openings;
use crate::trace::Trace;
use memscape::units::{Bytes, group_digits};
use std::collections::BTreeSet;

/// Measurements of a file.
pub(crate) struct FileMeasurements {
    pub(crate) name: &'static str,
    pub(crate) options: &'static str,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) native: Figure,
    pub(crate) memory: Memory,
    /// Seconds of all insights natively: without the simulations that they quote, and with them.
    pub(crate) insights: Figure,
    pub(crate) simulated: Figure,
    /// Milliseconds of call trees natively, one after another.
    pub(crate) trees_ms: Figure,
    pub(crate) page: ChromiumFigures,
    /// Figures of each of the other browsers, in order, or the reason why there are none.
    pub(crate) other_browsers: Vec<Result<Openings, String>>,
    pub(crate) memory_viz: Result<Drawings, String>,
    pub(crate) trace: Option<Trace>,
    /// Figures with the garbage collector on and off, or the reason why there are none.
    pub(crate) cpython: Result<[Figure; 2], String>,
}

/// Result for a file: measurements, or its name and the reason why it was skipped.
pub(crate) type Outcome = Result<FileMeasurements, (&'static str, String)>;

/// Formats the report.
pub(crate) fn report(machine: &str, besides: &OtherPrograms, outcomes: &[Outcome]) -> String {
    let measured: Vec<&FileMeasurements> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
    let mut text = format!(
        "# What opening a snapshot takes\n\nWritten by `./run measure`; never by hand. Generated files (`cargo run --example generate`), \
         each run in a process or a browser of its own. Figures are medians of three runs; of one with `--quick`, and of large files in \
         other browsers than Chromium. A figure that misses its goal is bold.\n\n{machine}\n"
    );
    for (name, reason) in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        text += &format!("Skipped: {name}: {reason}.\n\n");
    }
    text += &tables_by_browser(besides, &measured);
    text += &goals::throughput_and_memory(&measured);
    for file in &measured {
        text += &figures(file);
    }
    text + &tables(&measured)
}

pub(crate) fn cells(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| cell + "|").collect()
}

impl FileMeasurements {
    pub(crate) fn native(&self) -> &Figure {
        &self.native
    }

    pub(crate) fn work(&self) -> &Figure {
        &self.page.work
    }

    /// Ratio of CPython's time, with its garbage collector on, to this figure.
    pub(crate) fn faster_than_cpython(&self, figure: &Figure) -> Option<f64> {
        self.cpython.as_ref().ok()?[0].ratio_to(figure)
    }

    pub(crate) fn per_event(&self, of_all: f64) -> f64 {
        of_all / self.events.max(1) as f64
    }
}

fn figures(file: &FileMeasurements) -> String {
    let FileMeasurements { name, options, bytes, events, native, memory, page, trace, cpython, .. } = file;
    let ChromiumFigures { openings, .. } = page;
    let mut text =
        format!("## {name}\n\n`generate {options}`: {}, {} events.\n\n", Bytes(*bytes), group_digits(*events));
    text += "| | median | best | spread | of the file | |\n| --- | --- | --- | --- | --- | --- |\n";
    let mut row = |what: &str, figure: &Figure, beside: String| {
        let rate =
            figure.median().map_or_else(String::new, |seconds| format!("{:.0} MB/s", *bytes as f64 / 1e6 / seconds));
        text += &format!("| {what}, s | {figure} | {rate} | {beside} |\n");
    };
    let beside = |figure: &Figure| {
        file.faster_than_cpython(figure).map_or_else(String::new, |times| format!("{}× CPython", three_digits(times)))
    };
    match cpython {
        Ok([on, off]) => {
            row("CPython `pickle.load`, collector on (as it comes)", on, beside(on));
            row("CPython `pickle.load`, collector off", off, beside(off));
        }
        Err(reason) => row("CPython `pickle.load`", &Figure::default(), format!("skipped: {reason}")),
    }
    row("native: decode + replay + index", native, beside(native));
    row("worker: decode + replay + index", &page.work, beside(&page.work));
    row("worker, the same file again", &page.work_again, beside(&page.work_again));
    row("page: file to summary", &openings.summary, beside(&openings.summary));
    let over_bare = openings
        .picture
        .ratio_to(&openings.bare)
        .map_or_else(String::new, |times| format!("{}× the bare read", three_digits(times)));
    row("page: file to first picture", &openings.picture, over_bare);
    row("page: file to everything shown, the last insight on the page", &openings.everything, String::new());
    row("page: file to simulated settings in the insights", &openings.simulated, String::new());
    row("page: bare `File.stream()` read", &openings.bare, String::new());
    text += &format!("| longest gap of the page, ms | {} | | |\n", openings.gap_ms);
    text += &format!("| the same, until settings are simulated, ms | {} | | |\n", openings.simulated_gap_ms);
    let mut size = |what: &str, bytes: Option<f64>| {
        if let Some(bytes) = bytes {
            text += &format!(
                "| {what} | {} | | | | {} bytes an event |\n",
                Bytes(bytes as u64),
                three_digits(file.per_event(bytes))
            );
        }
    };
    size("worker's wasm memory", page.wasm_bytes.median());
    size("renderer process, largest resident set", openings.resident.median());
    size("the same before the file was chosen", openings.empty_resident.median());
    size("native process, growth of its largest resident set", Some(memory.resident as f64));
    text + "\n" + &trace.as_ref().map_or_else(String::new, Trace::report)
}

fn tables(measured: &[&FileMeasurements]) -> String {
    let mut text =
        "## Memory by table\n\nBytes an event, natively: at the peak of decoding, and when open.\n\n".to_owned();
    text += &format!("| |{}\n", cells(measured.iter().map(|file| format!(" {}: peak | open ", file.name))));
    text += &format!("| --- |{}\n", cells(measured.iter().map(|_| " --- | --- ".to_owned())));
    let names: BTreeSet<&String> = measured.iter().flat_map(|file| file.memory.tables.keys()).collect();
    let row = |name: &str, of: &dyn Fn(&FileMeasurements) -> [u64; 2]| {
        let values = |file: &&FileMeasurements| {
            let [peak, open] = of(file)
                .map(|bytes| if bytes == 0 { "–".to_owned() } else { three_digits(file.per_event(bytes as f64)) });
            format!(" {peak} | {open} ")
        };
        format!("| {name} |{}\n", cells(measured.iter().map(values)))
    };
    for name in names {
        text += &row(name, &|file| file.memory.tables.get(name).copied().unwrap_or_default());
    }
    text + &row("**sum**", &|file| file.memory.sums())
}
