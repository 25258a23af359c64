//! Performance goals and how each file meets them.

use crate::figure::{Figure, three_digits};
use crate::report::{FileMeasurements, cells};

/// A goal, its value for a file, and its limit for the file, if it applies to it.
struct Goal {
    what: &'static str,
    goal: &'static str,
    unit: &'static str,
    of: fn(&FileMeasurements) -> Option<f64>,
    limit: fn(&FileMeasurements) -> Option<f64>,
}

/// Files below this size, in bytes, are small.
const SMALL: u64 = 20_000_000;
/// Files from this size on, in bytes, are large.
const LARGE: u64 = 5_000_000_000;

const TIME_GOALS: [Goal; 6] = [
    Goal {
        what: "empty page, its program runs, cold, s",
        goal: "≤ 0.25",
        unit: "",
        of: |file| file.page.openings.cold.median(),
        limit: |_| Some(0.25),
    },
    Goal {
        what: "the same, warm, s",
        goal: "≤ 0.15",
        unit: "",
        of: |file| file.page.openings.warm.median(),
        limit: |_| Some(0.15),
    },
    Goal {
        what: "first picture, s",
        goal: "≤ 0.2 below 20 MB",
        unit: "",
        of: |file| file.page.openings.picture.median(),
        limit: |file| (file.bytes < SMALL).then_some(0.2),
    },
    Goal {
        what: "first picture against the bare read",
        goal: "≤ 3× at 1 M, ≤ 1.2× from 5 GB on",
        unit: "×",
        of: |file| file.page.openings.picture.ratio_to(&file.page.openings.bare),
        limit: |file| if file.bytes >= LARGE { Some(1.2) } else { file.is_million().then_some(3.0) },
    },
    Goal {
        what: "everything shown, s",
        goal: "≤ 0.7 below 20 MB, ≤ 1.5 at 1 M",
        unit: "",
        of: |file| file.page.openings.everything.median(),
        limit: |file| if file.bytes < SMALL { Some(0.7) } else { file.is_million().then_some(1.5) },
    },
    Goal {
        what: "longest gap of the page until then, ms",
        goal: "≤ 30",
        unit: "",
        of: |file| file.page.openings.gap_ms.median(),
        limit: |_| Some(30.0),
    },
];

/// Lower bounds. They are not checked, so they have no limit.
const SPEEDUP_GOALS: [Goal; 3] = [
    Goal {
        what: "native against `pickle.load`",
        goal: "≥ 25×, at least 12×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.native),
        limit: |_| None,
    },
    Goal {
        what: "worker against `pickle.load`",
        goal: "≥ 15×, at least 8×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.page.work),
        limit: |_| None,
    },
    Goal {
        what: "worker, second file",
        goal: "≥ 15×, at least 8×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.page.work_again),
        limit: |_| None,
    },
];

const MEMORY_GOALS: [Goal; 3] = [
    Goal {
        what: "held, bytes an event",
        goal: "≤ 64",
        unit: "",
        of: |file| Some(file.per_event(file.memory.sums()[1] as f64)),
        limit: |_| Some(64.0),
    },
    Goal {
        what: "peak, bytes an event: all the process grew by",
        goal: "≤ 128",
        unit: "",
        of: |file| Some(file.per_event(file.memory.resident as f64)),
        limit: |_| Some(128.0),
    },
    Goal {
        what: "peak, bytes an event: the worker's wasm memory",
        goal: "≤ 128",
        unit: "",
        of: |file| Some(file.per_event(file.page.wasm_bytes.median()?)),
        limit: |_| Some(128.0),
    },
];

impl FileMeasurements {
    fn is_million(&self) -> bool {
        self.events / 1_000_000 == 1
    }
}

/// Table of the goals for times that a user waits, in Chromium.
pub(crate) fn waiting_times(measured: &[&FileMeasurements]) -> String {
    head(measured) + &rows(&TIME_GOALS, measured) + "\n"
}

/// Table of the goals for throughput and memory.
pub(crate) fn throughput_and_memory(measured: &[&FileMeasurements]) -> String {
    let mut text = format!("## Throughput and memory\n\n{}", head(measured));
    text += &(rows(&SPEEDUP_GOALS, measured) + &rows(&MEMORY_GOALS, measured));
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

fn rows(goals: &[Goal], measured: &[&FileMeasurements]) -> String {
    let row = |Goal { what, goal, unit, of, limit }: &Goal| {
        let value = |file: &&FileMeasurements| value_cell(of(file), limit(file), unit);
        format!("| {what} | {goal} |{}\n", cells(measured.iter().map(value)))
    };
    goals.iter().map(row).collect()
}

/// Formats a value as a cell, bold if it exceeds its limit.
fn value_cell(value: Option<f64>, limit: Option<f64>, unit: &str) -> String {
    let Some(value) = value else { return " – ".to_owned() };
    let has_no_row = limit.is_some_and(|limit| value > limit);
    let bold = if has_no_row { "**" } else { "" };
    format!(" {bold}{}{unit}{bold} ", three_digits(value))
}
