//! Profile of opening a file once: processor time of each browser thread by kind of work, until the first frame and
//! until everything is shown, and the longest tasks of the page's main thread and of its workers.
//!
//! Tracing itself takes time, so the sums show proportions and are larger than the other figures.

use crate::cases::Generated;
use crate::chromium::{Adapter, Chromium};
use crate::opening::SETTLE_PAUSE;
use crate::page::Page;
use crate::site::Site;
use crate::timing_script;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(120);
const CATEGORIES: [&str; 9] = [
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "toplevel",
    "blink.user_timing",
    "v8",
    "v8.wasm",
    "disabled-by-default-v8.wasm",
    "disabled-by-default-v8.gc",
    "gpu",
];

/// Kinds of work with parts of Chromium's event names. The first match counts.
const KINDS: [(&str, &[&str]); 7] = [
    ("compiling wasm", &["wasm", "Wasm", "Liftoff", "Turbofan"]),
    ("collecting garbage", &["GC", "Scavenge"]),
    ("style and layout", &["Layout", "UpdateLayerTree", "Style", "HitTest", "PrePaint"]),
    ("painting", &["Paint", "Commit", "Layerize", "Raster", "Composite", "ImageDecode", "BeginMainThreadFrame"]),
    ("parsing", &["ParseHTML", "ParseAuthorStyleSheet", "v8.compile"]),
    ("GPU", &["GPUTask", "Gpu"]),
    (
        "program",
        &[
            "FunctionCall",
            "EvaluateScript",
            "EventDispatch",
            "TimerFire",
            "FireAnimationFrame",
            "RunMicrotasks",
            "v8.",
            "V8.",
            "HandlePostMessage",
        ],
    ),
];
const OTHER: &str = "other tasks";

/// Result of a trace.
pub(crate) struct Trace {
    pub(crate) picture_ms: f64,
    pub(crate) everything_ms: f64,
    pub(crate) sums: BTreeMap<(&'static str, &'static str), [f64; 2]>,
    /// Longest tasks of the page's main thread and of its workers, longest first.
    longest: [(&'static str, Vec<Task>); 2],
}

/// A task of a thread: start and duration in milliseconds of the clock, and the kind of work that takes most of its
/// processor time.
struct Task {
    begin: f64,
    ms: f64,
    kind: &'static str,
}

/// Number of tasks of each thread in the report.
const LONGEST: usize = 5;

struct Span {
    begin: f64,
    end: f64,
    kind: &'static str,
    /// Processor time without nested spans, in milliseconds; where the browser does not count it, time of the clock.
    self_ms: f64,
}

/// Opens the file once while the browser records a trace.
pub(crate) fn record(file: &Generated) -> Trace {
    let chromium = Chromium::shared(Adapter::Software);
    let page = Page::blank(chromium);
    page.run_before_load(&timing_script::script());
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    std::thread::sleep(SETTLE_PAUSE);
    let before = chromium.events(|event| event.method.starts_with("Tracing.")).len();
    let config =
        json!({ "includedCategories": CATEGORIES, "excludedCategories": ["*"], "recordMode": "recordUntilFull" });
    chromium.call("", "Tracing.start", json!({ "transferMode": "ReportEvents", "traceConfig": config }));
    // A mark that relates the clocks of the page and of the trace.
    page.evaluate("performance.mark('measure')");
    let mark_ms =
        page.evaluate("performance.getEntriesByName('measure')[0].startTime").as_f64().expect("the time is a number");
    page.choose_files("input#file", &[&file.path]);
    let shown = format!("({}) ? [times.start, times.picture, times.shown] : null", timing_script::everything_shown());
    let deadline = Instant::now() + TIMEOUT;
    let times: Vec<f64> = loop {
        if let Ok(times) = serde_json::from_value(page.evaluate(&shown)) {
            break times;
        }
        assert!(Instant::now() < deadline, "timeout waiting until everything is shown");
        std::thread::sleep(Duration::from_millis(200));
    };
    chromium.call("", "Tracing.end", json!({}));
    let trace_events = loop {
        // Skips events of earlier traces.
        let mut trace_events = chromium.events(|event| event.method.starts_with("Tracing."));
        let trace_events = trace_events.split_off(before.min(trace_events.len()));
        if trace_events.iter().any(|event| event.method == "Tracing.tracingComplete") {
            break trace_events;
        }
        assert!(Instant::now() < deadline, "timeout waiting for the trace");
        std::thread::sleep(Duration::from_millis(100));
    };
    let events: Vec<&Value> =
        trace_events.iter().filter_map(|event| event.params["value"].as_array()).flatten().collect();
    let [start, picture, all] = times[..] else { panic!("expected three times, got {times:?}") };
    summarize(&events, mark_ms, [start, picture, all])
}

fn summarize(events: &[&Value], mark_ms: f64, [start, picture, all]: [f64; 3]) -> Trace {
    let thread = |event: &Value| (event["pid"].as_i64().unwrap_or(0), event["tid"].as_i64().unwrap_or(0));
    let mark = events.iter().find(|event| event["name"] == "measure").expect("the mark is in the trace");
    let renderer = thread(mark).0;
    let zero_us = mark["ts"].as_f64().expect("the time is a number") + (start - mark_ms) * 1e3;
    let name_of = |event: &Value| event["args"]["name"].as_str().unwrap_or_default().to_owned();
    let names: HashMap<_, _> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| (thread(event), name_of(event)))
        .collect();
    let whose = |of: (i64, i64)| -> Option<&'static str> {
        let name = names.get(&of).map_or("", String::as_str);
        match name {
            "CrRendererMain" if of.0 == renderer => Some("page"),
            "DedicatedWorker thread" if of.0 == renderer => Some("worker"),
            "ThreadPoolForegroundWorker" if of.0 == renderer => Some("other threads of the page"),
            "CrGpuMain" | "VizCompositorThread" => Some("GPU process"),
            _ => None,
        }
    };
    let mut spans: BTreeMap<(i64, i64), Vec<Span>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (Some(ts), Some(dur)) = (event["ts"].as_f64(), event["dur"].as_f64()) else { continue };
        let name = event["name"].as_str().unwrap_or_default();
        let is_of = |names: &[&str]| names.iter().any(|part| name.contains(part));
        let kind = KINDS.iter().find(|(_, names)| is_of(names)).map_or(OTHER, |(kind, _)| kind);
        let begin = (ts - zero_us) / 1e3;
        let work = event["tdur"].as_f64().unwrap_or(dur);
        let span = Span { begin, end: begin + dur / 1e3, kind, self_ms: work / 1e3 };
        spans.entry(thread(event)).or_default().push(span);
    }
    let ends = [picture - start, all - start];
    let mut sums = BTreeMap::new();
    let mut longest = ["page", "worker"].map(|whose| (whose, Vec::new()));
    for (of, mut spans) in spans {
        let Some(whose) = whose(of) else { continue };
        spans.sort_by(|a, b| a.begin.total_cmp(&b.begin).then(b.end.total_cmp(&a.end)));
        let mut open: Vec<usize> = Vec::new();
        let mut roots: Vec<(usize, BTreeMap<&'static str, f64>)> = Vec::new();
        for at in 0..spans.len() {
            while open.last().is_some_and(|&last| spans[last].end <= spans[at].begin) {
                open.pop();
            }
            let work = spans[at].self_ms;
            match open.last() {
                Some(&last) => spans[last].self_ms -= work,
                None => roots.push((at, BTreeMap::new())),
            }
            // Spans without a known kind take the kind of the span around them.
            if spans[at].kind == OTHER
                && let Some(&last) = open.last()
            {
                spans[at].kind = spans[last].kind;
            }
            open.push(at);
        }
        let mut root = 0;
        for (at, span) in spans.iter().enumerate() {
            while roots.get(root + 1).is_some_and(|(first, _)| *first <= at) {
                root += 1;
            }
            if let Some((_, kinds)) = roots.get_mut(root) {
                *kinds.entry(span.kind).or_default() += span.self_ms.max(0.0);
            }
            for (sum, end) in sums.entry((whose, span.kind)).or_insert([0.0; 2]).iter_mut().zip(ends) {
                if span.begin >= 0.0 && span.begin < end {
                    *sum += span.self_ms.max(0.0);
                }
            }
        }
        if let Some((_, tasks)) = longest.iter_mut().find(|(thread, _)| *thread == whose) {
            let while_opening = roots.iter().filter(|(at, _)| (0.0..ends[1]).contains(&spans[*at].begin));
            tasks.extend(while_opening.map(|(at, kinds)| {
                let kind = kinds.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or(OTHER, |(kind, _)| kind);
                Task { begin: spans[*at].begin, ms: spans[*at].end - spans[*at].begin, kind }
            }));
        }
    }
    for (_, tasks) in &mut longest {
        tasks.sort_by(|a, b| b.ms.total_cmp(&a.ms));
        tasks.truncate(LONGEST);
    }
    Trace { picture_ms: ends[0], everything_ms: ends[1], sums, longest }
}

impl Trace {
    /// Formats the result as a table.
    pub(crate) fn report(&self) -> String {
        let mut text = format!(
            "Processor time by thread and kind, in one opening that was traced (picture after {:.0} ms, everything after {:.0} ms):\n\n\
             | | | until the picture, ms | until everything is shown, ms |\n| --- | --- | --- | --- |\n",
            self.picture_ms, self.everything_ms
        );
        for ((whose, kind), [picture, all]) in &self.sums {
            if *all >= 0.5 {
                text += &format!("| {whose} | {kind} | {picture:.1} | {all:.1} |\n");
            }
        }
        for (whose, tasks) in &self.longest {
            let tasks =
                tasks.iter().map(|Task { begin, ms, kind }| format!("{ms:.0} ms after {begin:.0} ms (mostly {kind})"));
            text += &format!("\nThe longest tasks of the {whose}: {}.\n", tasks.collect::<Vec<_>>().join(", "));
        }
        text + "\n"
    }
}
