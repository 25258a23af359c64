//! The report: goals first, then every figure they come from.

use crate::browser::InPage;
use crate::figure::{Figure, digits};
use crate::native::Memory;
use crate::trace::Trace;
use memscape::units::{Bytes, grouped};
use std::collections::BTreeSet;

/// What was measured of one file.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) native: Figure,
    pub(crate) memory: Memory,
    pub(crate) page: InPage,
    pub(crate) trace: Option<Trace>,
    /// With the collector on and off, or why not.
    pub(crate) cpython: Result<[Figure; 2], String>,
}

/// One file, measured or left out with its reason.
pub(crate) type Outcome = Result<Measured, (&'static str, String)>;

/// The whole report.
pub(crate) fn report(machine: &str, outcomes: &[Outcome]) -> String {
    let measured: Vec<&Measured> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
    let mut text = format!(
        "# What opening a snapshot takes\n\nWritten by `./run measure`; never by hand. Generated files (`cargo run --example generate`), \
         every figure the median of three runs (of the largest file: one), each in a process or a page of its own.\n\n{machine}\n"
    );
    for (name, reason) in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        text += &format!("Skipped: {name}: {reason}.\n\n");
    }
    text += &goals(&measured);
    for file in &measured {
        text += &figures(file);
    }
    text + &tables(&measured)
}

/// A goal, what is still acceptable, and how to read it off a file.
struct Goal {
    what: &'static str,
    goal: &'static str,
    floor: &'static str,
    of: fn(&Measured) -> Option<f64>,
    /// For what cannot be said of a file alone.
    unit: &'static str,
}

const GOALS: [Goal; 12] = [
    Goal {
        what: "native against `pickle.load`",
        goal: "≥ 25×",
        floor: "≥ 12×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.native),
    },
    Goal {
        what: "worker against `pickle.load`",
        goal: "≥ 15×",
        floor: "≥ 8×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.page.work),
    },
    Goal {
        what: "worker, second file",
        goal: "≥ 15×",
        floor: "≥ 8×",
        unit: "×",
        of: |file| file.faster_than_cpython(&file.page.work_again),
    },
    Goal {
        what: "empty page, its program runs, s",
        goal: "≤ 0.25",
        floor: "",
        unit: "",
        of: |file| file.page.empty.median(),
    },
    Goal {
        what: "the same once more, s",
        goal: "≤ 0.15",
        floor: "",
        unit: "",
        of: |file| file.page.empty_again.median(),
    },
    Goal {
        what: "first picture, s",
        goal: "≤ 0.2 below 20 MB",
        floor: "",
        unit: "",
        of: |file| file.page.picture.median(),
    },
    Goal {
        what: "everything shown, s",
        goal: "≤ 0.7 below 20 MB, ≤ 1.5 at 1 M",
        floor: "",
        unit: "",
        of: |file| file.page.all.median(),
    },
    Goal {
        what: "picture against the bare read",
        goal: "≤ 3× at 1 M, ≤ 1.5× above",
        floor: "≤ 2×",
        unit: "×",
        of: |file| file.page.picture.over(&file.page.bare),
    },
    Goal {
        what: "held, bytes an event",
        goal: "≤ 64",
        floor: "",
        unit: "",
        of: |file| Some(file.an_event(file.memory.sums()[1] as f64)),
    },
    Goal {
        what: "peak, bytes an event: all the process grew by",
        goal: "≤ 128",
        floor: "",
        unit: "",
        of: |file| Some(file.an_event(file.memory.resident as f64)),
    },
    Goal {
        what: "peak, bytes an event: the worker's wasm memory",
        goal: "≤ 128",
        floor: "",
        unit: "",
        of: |file| Some(file.an_event(file.page.wasm_bytes.median()?)),
    },
    Goal {
        what: "longest gap of the page, ms",
        goal: "≤ 30",
        floor: "",
        unit: "",
        of: |file| file.page.gap_ms.median(),
    },
];

fn goals(measured: &[&Measured]) -> String {
    let mut text = format!("| | goal | floor |{}\n", cells(measured.iter().map(|file| format!(" {} ", file.name))));
    text += &format!("| --- | --- | --- |{}\n", cells(measured.iter().map(|_| " --- ".to_owned())));
    for Goal { what, goal, floor, of, unit } in GOALS {
        let value =
            |file: &&Measured| of(file).map_or(" – ".to_owned(), |value| format!(" {}{unit} ", digits(value)));
        text += &format!("| {what} | {goal} | {floor} |{}\n", cells(measured.iter().map(value)));
    }
    let million = measured.iter().find(|file| file.events / 1_000_000 == 1);
    for (what, figure) in [("native", Measured::native as fn(&Measured) -> &Figure), ("worker", Measured::work)] {
        let cost = |file: &Measured| Some(figure(file).median()? / file.events as f64);
        let against = |file: &&Measured| Some(cost(file)? / cost(million?)?);
        let value =
            |file: &&Measured| against(file).map_or(" – ".to_owned(), |times| format!(" {}× ", digits(times)));
        text += &format!(
            "| an event's cost against that at 1 M, {what} | ≤ 1.2× at 10 M | |{}\n",
            cells(measured.iter().map(value))
        );
    }
    text + "\n"
}

fn cells(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| cell + "|").collect()
}

impl Measured {
    fn native(&self) -> &Figure {
        &self.native
    }

    fn work(&self) -> &Figure {
        &self.page.work
    }

    /// How many times this goes into what CPython takes, its collector on as it comes.
    fn faster_than_cpython(&self, figure: &Figure) -> Option<f64> {
        self.cpython.as_ref().ok()?[0].over(figure)
    }

    fn an_event(&self, of_all: f64) -> f64 {
        of_all / self.events.max(1) as f64
    }
}

fn figures(file: &Measured) -> String {
    let Measured { name, words, bytes, events, native, memory, page, trace, cpython } = file;
    let mut text = format!("## {name}\n\n`generate {words}`: {}, {} events.\n\n", Bytes(*bytes), grouped(*events));
    text += "| | median | best | spread | of the file | |\n| --- | --- | --- | --- | --- | --- |\n";
    let mut row = |what: &str, figure: &Figure, beside: String| {
        let rate =
            figure.median().map_or_else(String::new, |seconds| format!("{:.0} MB/s", *bytes as f64 / 1e6 / seconds));
        text += &format!("| {what}, s | {figure} | {rate} | {beside} |\n");
    };
    let beside = |figure: &Figure| {
        file.faster_than_cpython(figure).map_or_else(String::new, |times| format!("{}× CPython", digits(times)))
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
    row("page: file to summary", &page.summary, beside(&page.summary));
    let over_bare =
        page.picture.over(&page.bare).map_or_else(String::new, |times| format!("{}× the bare read", digits(times)));
    row("page: file to first picture", &page.picture, over_bare);
    row("page: file to everything shown, all insights known", &page.all, String::new());
    row("page: bare `File.stream()` read", &page.bare, String::new());
    text += &format!("| longest gap of the page, ms | {} | | |\n", page.gap_ms);
    let mut size = |what: &str, bytes: Option<f64>| {
        if let Some(bytes) = bytes {
            text += &format!(
                "| {what} | {} | | | | {} bytes an event |\n",
                Bytes(bytes as u64),
                digits(file.an_event(bytes))
            );
        }
    };
    size("worker's wasm memory", page.wasm_bytes.median());
    size("renderer process, largest resident set", page.renderer_bytes.median());
    size("the same before the file was chosen", page.empty_renderer_bytes.median());
    size("native process, growth of its largest resident set", Some(memory.resident as f64));
    text + "\n" + &trace.as_ref().map_or_else(String::new, Trace::report)
}

fn tables(measured: &[&Measured]) -> String {
    let mut text =
        "## Memory by table\n\nBytes an event, natively: at the peak of decoding, and when open.\n\n".to_owned();
    text += &format!("| |{}\n", cells(measured.iter().map(|file| format!(" {}: peak | open ", file.name))));
    text += &format!("| --- |{}\n", cells(measured.iter().map(|_| " --- | --- ".to_owned())));
    let names: BTreeSet<&String> = measured.iter().flat_map(|file| file.memory.tables.keys()).collect();
    let row = |name: &str, of: &dyn Fn(&Measured) -> [u64; 2]| {
        let values = |file: &&Measured| {
            let [peak, open] =
                of(file).map(|bytes| if bytes == 0 { "–".to_owned() } else { digits(file.an_event(bytes as f64)) });
            format!(" {peak} | {open} ")
        };
        format!("| {name} |{}\n", cells(measured.iter().map(values)))
    };
    for name in names {
        text += &row(name, &|file| file.memory.tables.get(name).copied().unwrap_or_default());
    }
    text + &row("**sum**", &|file| file.memory.sums())
}
