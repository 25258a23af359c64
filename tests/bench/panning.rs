//! Measurement of the timeline in the page: from a request for a window to the worker's answer, and frames while
//! panning.

use crate::chromium::{Adapter, Chromium};
use crate::figure::Figure;
use crate::machine;
use crate::page::Page;
use crate::site::Site;
use crate::timing_script::MESSAGES;
use memscape::protocol::{Answer, Ask, PlotSettings, Question, Reply, Request, encode};
use memscape::timeline::{Axis, View};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Window size in CSS pixels, with a device pixel ratio of 1.
const WINDOW_PX: (u32, u32) = (1280, 800);
/// Timeout of opening a file.
const TIMEOUT: Duration = Duration::from_secs(180);
/// Number of frames of a pan. With software rendering a frame may take a quarter of a second.
const FRAMES: u32 = 30;
const PANS: u32 = 5;

/// Script that runs before the page. It records when the page requests geometry or a hit test and when the answer
/// arrives, and the time of the page's code per frame: its listeners and frame callbacks.
fn timing_script() -> String {
    // Variants are recognized by the first byte of their encoding.
    let hit = Question::Hit { plot_settings: PlotSettings::default(), moment: 0, byte: 0 };
    let (axis, pixel) = (Axis::Events, 1.0);
    let view = View { axis, x_per_px: pixel, bytes_per_px: pixel, left_px: 0, bottom_px: 0, width_px: 1, height_px: 1 };
    let scene = Question::Scene { view, plot_settings: PlotSettings::default() };
    let (scene, hit) = (encode(&scene)[0], encode(&hit)[0]);
    let ask = encode(&Request::Ask(Ask { serial: 0, device: 0, question: Question::Marks }))[0];
    let reply = encode(&Reply::Answer { serial: 0, answer: Answer::Hit { hit: None, memory: None } });
    format!(
        "{{ const [ASK, SCENE, HIT, ANSWER, PLACE] = [{ask}, {scene}, {hit}, {}, {}]; {MESSAGES} {TIMING_SCRIPT} }}",
        reply[0], reply[2]
    )
}

const TIMING_SCRIPT: &str = r"
    const bench = window.bench = { scenes: [], hits: [], frames: [], busy: 0 };
    const asks = (bytes) => bytes[0] === ASK ? bytes[behind(bytes, behind(bytes, 1))] : undefined;
    const answers = (bytes) => bytes[0] === ANSWER ? bytes[behind(bytes, 1)] : undefined;
    const raf = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (frame) => raf((time) => {
        const start = performance.now();
        frame(time);
        bench.frames.push([time, bench.busy + performance.now() - start]);
        bench.busy = 0;
    });
    const wrapped = new WeakMap();
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function (kind, listener, ...rest) {
        if (typeof listener !== 'function') return add.call(this, kind, listener, ...rest);
        if (!wrapped.has(listener)) wrapped.set(listener, function (event) {
            const start = performance.now();
            try { return listener.call(this, event); } finally { bench.busy += performance.now() - start; }
        });
        return add.call(this, kind, wrapped.get(listener), ...rest);
    };
    EventTarget.prototype.removeEventListener = function (kind, listener, ...rest) {
        return remove.call(this, kind, wrapped.get(listener) ?? listener, ...rest);
    };
    const OfBrowser = window.Worker;
    window.Worker = class extends OfBrowser {
        constructor(...options) {
            super(...options);
            this.isEngine = options[1]?.name === 'engine';
            add.call(this, 'message', ({ data }) => {
                const reply = replied(data);
                if (!this.isEngine || !reply) return;
                if (data.length > 1 && bench.asked) {
                    bench.scenes.push(performance.now() - bench.asked);
                    bench.asked = undefined;
                } else if (bench.questioned && answers(reply) === PLACE) {
                    bench.hits.push(performance.now() - bench.questioned);
                    bench.questioned = undefined;
                }
            });
        }
        postMessage(message, ...rest) {
            const request = this.isEngine ? requested(message) : undefined;
            if (request) {
                const asked = asks(request);
                if (asked === SCENE) bench.asked = performance.now();
                if (asked === HIT && !bench.asked) bench.questioned = performance.now();
            }
            super.postMessage(message, ...rest);
        }
    };
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    bench.settled = async () => { for (let calm = 0; calm < 4; calm = bench.asked ? 0 : calm + 1) await pause(20); };
    const at = (across) => {
        const canvas = document.querySelector('canvas#timeline'), box = canvas.getBoundingClientRect();
        return { canvas, place: { clientX: box.left + box.width * across, clientY: box.top + box.height * 0.6, bubbles: true, cancelable: true } };
    };
    const press = (key) => at(0).canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    bench.zoom = async (notches, across) => {
        press('0');
        await bench.settled();
        const { canvas, place } = at(across);
        for (let left = notches; left > 0; left--) canvas.dispatchEvent(new WheelEvent('wheel', { ...place, deltaY: -100 }));
        await bench.settled();
    };
    bench.pan = (frames, deltaX) => new Promise((done) => {
        const { canvas, place } = at(0.5);
        const step = () => {
            canvas.dispatchEvent(new WheelEvent('wheel', { ...place, deltaX }));
            if (frames-- > 0) raf(step); else done();
        };
        raf(step);
    });
    bench.point = async (across, down) => {
        const { canvas, place } = at(across), box = canvas.getBoundingClientRect();
        const pointer = { ...place, clientY: box.top + box.height * down, pointerId: 1, pointerType: 'mouse' };
        canvas.dispatchEvent(new PointerEvent('pointermove', pointer));
        await pause(15);
    };
";

/// Measurements of a file in the page, in milliseconds.
pub(crate) struct Panning {
    /// From the first request for the whole trace, in allocation order, to its answer.
    pub(crate) first: f64,
    /// The same for zoomed windows.
    pub(crate) later: Figure,
    /// Mean processor time of the worker's thread for a zoomed window.
    pub(crate) later_work: f64,
    /// Whole trace grouped by call site, including computing the order.
    pub(crate) grouped_first: f64,
    /// Zoomed windows grouped by call site.
    pub(crate) grouped_later: Figure,
    /// From the request for a hit test to its answer.
    pub(crate) hits: Figure,
    /// Time of the page's code per frame while panning.
    pub(crate) page_code: Figure,
    /// Interval between frames.
    pub(crate) interval: Figure,
    /// Mean time of the main thread per frame, including layout, style and the browser's part of drawing.
    pub(crate) main_thread: f64,
}

/// Opens the file in a new page, then zooms, pans and hovers in it.
pub(crate) fn measure(file: &Path) -> Panning {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    page.resize(WINDOW_PX.0, WINDOW_PX.1);
    page.run_before_load(&timing_script());
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.choose_files("input#file", &[file]);
    let deadline = Instant::now() + TIMEOUT;
    while page.evaluate("bench.scenes.length > 0") != true {
        assert_ne!(page.state(), "error", "{}", page.text("#error"));
        assert!(Instant::now() < deadline, "timeout waiting for the first frame; {:#?}", page.errors());
        std::thread::sleep(Duration::from_millis(100));
    }
    page.evaluate("bench.settled()");
    let first = take_scene_times(&page)[0];
    let before = worker_seconds();
    let later = measure_zooms(&page);
    let later_work = (worker_seconds() - before) * 1e3 / later.len().max(1) as f64;

    // Zoomed in at the middle, so that the pans stay in the trace but leave the margin, and new geometry arrives.
    page.evaluate("bench.zoom(16, 0.5)");
    take_scene_times(&page);
    let before = main_thread_seconds(&page);
    page.evaluate("bench.frames = []");
    for _ in 0..PANS {
        page.evaluate(&format!("bench.pan({FRAMES}, 40)"));
    }
    let main_thread = (main_thread_seconds(&page) - before) * 1e3 / f64::from(FRAMES * PANS);
    let frames: Vec<[f64; 2]> = serde_json::from_value(page.evaluate("bench.frames")).expect("pairs of numbers");
    let interval = frames.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
    let page_code = frames.iter().map(|frame| frame[1]).collect();

    page.evaluate("bench.zoom(1, 0.5)");
    page.evaluate("bench.hits.length = 0");
    for at in 1..60 {
        page.evaluate(&format!("bench.point({at} / 60, {at} * 7 % 60 / 60)"));
    }
    let hits = numbers(&page.evaluate("bench.hits"));

    take_scene_times(&page);
    page.evaluate(
        "{ const picker = document.getElementById('stacking'); picker.value = 'site'; picker.dispatchEvent(new Event('change')); \
         document.querySelector('canvas#timeline').dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true })); }",
    );
    page.evaluate("bench.settled()");
    let grouped_first = take_scene_times(&page)[0];
    let grouped_later = measure_zooms(&page);
    let [hits, later, grouped_later] = [hits, later, grouped_later].map(|times| times.into_iter().collect());
    Panning { first, later, later_work, grouped_first, grouped_later, hits, page_code, interval, main_thread }
}

/// Zooms in at several positions and zooms; returns the time of each window.
fn measure_zooms(page: &Page) -> Vec<f64> {
    for notches in [2, 8, 15, 23, 34, 50] {
        for across in [0.1, 0.52, 0.9] {
            page.evaluate(&format!("bench.zoom({notches}, {across})"));
        }
    }
    take_scene_times(page)
}

/// Returns the times of the windows since the last call.
fn take_scene_times(page: &Page) -> Vec<f64> {
    numbers(&page.evaluate("bench.scenes.splice(0)"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map(|values| values.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
}

/// Processor seconds of the workers of all pages. There is only one page at a time.
fn worker_seconds() -> f64 {
    let processes = Chromium::shared(Adapter::Software).call("", "SystemInfo.getProcessInfo", serde_json::json!({}));
    let processes = processes["processInfo"].as_array().cloned().unwrap_or_default();
    processes.iter().map(|process| machine::thread_seconds(&process["id"].to_string(), "DedicatedWorker")).sum()
}

fn main_thread_seconds(page: &Page) -> f64 {
    let metrics = page.metrics();
    let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
    let task = metrics.iter().find(|metric| metric["name"] == "TaskDuration");
    task.and_then(|metric| metric["value"].as_f64()).expect("Chromium reports TaskDuration")
}
