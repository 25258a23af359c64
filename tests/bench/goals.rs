//! Performance goals and how each file meets them.

mod page;

use crate::figure::{Figure, three_digits};
use crate::opening::Openings;
use crate::report::{FileMeasurements, cells};
use page::PAGE_GOALS;

/// A goal, its value in measurements of the kind `M`, and its limit for a file, if it applies to it.
struct Goal<M> {
    what: &'static str,
    goal: &'static str,
    unit: &'static str,
    of: fn(&M) -> Option<f64>,
    limit: fn(&FileMeasurements, Program) -> Option<f64>,
}

/// Program that a figure was measured in. Some limits depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Chromium,
    /// Firefox or WebKitGTK.
    OtherBrowser,
    /// No browser.
    Native,
}

/// Files below this size, in bytes, are small.
const SMALL: u64 = 20_000_000;
/// Files from this size on, in bytes, are large.
const LARGE: u64 = 5_000_000_000;

/// Goals of answers on the command line.
const NATIVE_GOALS: [Goal<FileMeasurements>; 3] = [
    Goal {
        what: "all insights natively, s",
        goal: "≤ 0.25 at 1 M",
        unit: "",
        of: |file| file.insights.median(),
        limit: |file, _| file.is_million().then_some(0.25),
    },
    Goal {
        what: "the same, with the simulated settings, s",
        goal: "≤ 0.5 at 1 M",
        unit: "",
        of: |file| file.simulated.median(),
        limit: |file, _| file.is_million().then_some(0.5),
    },
    Goal {
        what: "one call tree after another natively, 95 in 100, ms",
        goal: "≤ 16",
        unit: "",
        of: |file| file.trees_ms.percentile(95),
        limit: |_, _| Some(16.0),
    },
];

/// Lower bounds. They are not checked, so they have no limit.
const SPEEDUP_GOALS: [Goal<FileMeasurements>; 3] = [
    Goal {
        what: "native against `pickle.load`",
        goal: "≥ 25×, at least 12×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.native),
        limit: |_, _| None,
    },
    Goal {
        what: "worker against `pickle.load`",
        goal: "≥ 15×, at least 8×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.page.work),
        limit: |_, _| None,
    },
    Goal {
        what: "worker, second file",
        goal: "≥ 15×, at least 8×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.page.work_again),
        limit: |_, _| None,
    },
];

const MEMORY_GOALS: [Goal<FileMeasurements>; 3] = [
    Goal {
        what: "held, bytes an event",
        goal: "≤ 32 from 100 k on",
        unit: "",
        of: |file| Some(file.per_event(file.memory.sums()[1] as f64)),
        limit: |file, _| (file.thousands() >= 100).then_some(32.0),
    },
    Goal {
        what: "peak, bytes an event: all the process grew by",
        goal: "≤ 64 from 100 k on",
        unit: "",
        of: |file| Some(file.per_event(file.memory.resident as f64)),
        limit: |file, _| (file.thousands() >= 100).then_some(64.0),
    },
    Goal {
        what: "peak, bytes an event: the worker's wasm memory",
        goal: "≤ 64 from 100 k on",
        unit: "",
        of: |file| Some(file.per_event(file.page.wasm_bytes.median()?)),
        limit: |file, _| (file.thousands() >= 100).then_some(64.0),
    },
];

impl FileMeasurements {
    /// Number of events in thousands, rounded down.
    fn thousands(&self) -> u64 {
        self.events / 1000
    }

    fn is_million(&self) -> bool {
        self.thousands() == 1000
    }

    fn is_up_to_million(&self) -> bool {
        self.thousands() <= 1000
    }
}

/// Table of the goals of a page in a browser, which `of` selects.
pub(crate) fn of_page<'a>(
    measured: &[&'a FileMeasurements],
    program: Program,
    of: impl Fn(&'a FileMeasurements) -> Option<&'a Openings>,
) -> String {
    head(measured) + &rows(&PAGE_GOALS, measured, program, of) + "\n"
}

/// Table of the goals for throughput and memory.
pub(crate) fn throughput_and_memory(measured: &[&FileMeasurements]) -> String {
    let mut text = format!("## Throughput and memory\n\n{}", head(measured));
    text += &own_rows(&NATIVE_GOALS, measured);
    text += &own_rows(&SPEEDUP_GOALS, measured);
    text += &own_rows(&MEMORY_GOALS, measured);
    let million = measured.iter().find(|file| file.is_million());
    for (what, figure) in
        [("native", FileMeasurements::native as fn(&FileMeasurements) -> &Figure), ("worker", FileMeasurements::work)]
    {
        let cost = |file: &FileMeasurements| Some(figure(file).median()? / file.events as f64);
        let against = |file: &&FileMeasurements| Some(cost(file)? / cost(million?)?);
        let value = |file: &&FileMeasurements| {
            against(file).map_or(" – ".to_owned(), |times| format!(" {}× ", three_digits(times)))
        };
        text += &format!(
            "| an event's cost against that at 1 M, {what} | ≤ 1.2× at 10 M |{}\n",
            cells(measured.iter().map(value))
        );
    }
    text + "\n"
}

fn head(measured: &[&FileMeasurements]) -> String {
    let names = cells(measured.iter().map(|file| format!(" {} ", file.name)));
    format!("| | goal |{names}\n| --- | --- |{}\n", cells(measured.iter().map(|_| " --- ".to_owned())))
}

fn own_rows(goals: &[Goal<FileMeasurements>], measured: &[&FileMeasurements]) -> String {
    rows(goals, measured, Program::Native, Some)
}

fn rows<'a, M: 'a>(
    goals: &[Goal<M>],
    measured: &[&'a FileMeasurements],
    program: Program,
    measurements: impl Fn(&'a FileMeasurements) -> Option<&'a M>,
) -> String {
    let row = |Goal { what, goal, unit, of, limit }: &Goal<M>| {
        let value =
            |file: &&'a FileMeasurements| value_cell(measurements(file).and_then(of), limit(file, program), unit);
        format!("| {what} | {goal} |{}\n", cells(measured.iter().map(value)))
    };
    goals.iter().map(row).collect()
}

/// Formats a value as a cell, bold if it exceeds its limit.
fn value_cell(value: Option<f64>, limit: Option<f64>, unit: &str) -> String {
    let Some(value) = value else { return " – ".to_owned() };
    let misses = limit.is_some_and(|limit| value > limit);
    let bold = if misses { "**" } else { "" };
    format!(" {bold}{}{unit}{bold} ", three_digits(value))
}
