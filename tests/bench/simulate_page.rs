//! Time of the simulated allocator in the page's worker for a million events, beside the native one: one setting, and
//! all suggested settings with their bands. `./run build`, then `cargo bench --bench memscape -- simulate-page`.

use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::site::Site;
use crate::{generate, opened};
use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use memscape::protocol::WhatIfQuestion;
use std::path::Path;
use std::time::Instant;

const FILES: [(&str, &str); 2] =
    [("plain", "--events 1000000 --frames 12"), ("expandable", "--events 1000000 --frames 12 --expandable")];
/// Number of measurements of a single setting; the median counts.
const ROUNDS: usize = 5;
const WAIT_S: u64 = 120;

/// Script that records the times of requests to the simulator and of its answers. The simulator's worker has the name
/// of its part. Messages are arrays whose first element is an encoded value, which starts with the index of its variant
/// (`SimulatorRequest::Ask` is 2).
const TIMING_SCRIPT: &str = "window.messages = []; { const Own = Worker; window.Worker = class extends Own { \
    constructor(...of) { super(...of); this.isSimulator = of[1]?.name === 'part-simulator'; this.addEventListener('message', event => { \
        if (this.isSimulator && Array.isArray(event.data)) messages.push(['answer', performance.now()]); }); } \
    postMessage(message, ...more) { \
        if (this.isSimulator && Array.isArray(message) && new Uint8Array(message[0])[0] === 2) \
            messages.push(['ask', performance.now()]); \
        return super.postMessage(message, ...more); } }; }";

pub(crate) fn run(_: &[String]) {
    for (name, words) in FILES {
        let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
        let (pickle, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("simulate-{name}.pickle"));
        std::fs::write(&path, &pickle).expect("target can be written");
        let [one, all] = measure_native(&pickle);
        let (one_in_page, all_in_page, rows) = measure_in_page(&path);
        let ratio = |page: f64, native: f64| page / native.max(1e-9);
        println!("{name}: 1,000,000 events");
        println!(
            "  one setting: {one_in_page:.0} ms in the worker, {one:.0} ms natively (× {:.2})",
            ratio(one_in_page, one)
        );
        println!(
            "  {rows} settings with bands: {:.2} s in the worker, {:.2} s natively (× {:.2})",
            all_in_page / 1e3,
            all / 1e3,
            ratio(all_in_page, all)
        );
    }
}

/// Native milliseconds of one setting, and of all settings with their bands.
fn measure_native(pickle: &[u8]) -> [f64; 2] {
    let mut opened = opened::open(pickle).expect("a snapshot");
    let mut timed = |question: WhatIfQuestion| {
        let what = Question::WhatIf(Box::new(question));
        opened.engine.request(Request::Ask(Ask { serial: 1, device: 0, question: what }));
        let started = Instant::now();
        while opened.engine.step(&mut || true) == Work::More {}
        let took = started.elapsed().as_secs_f64() * 1e3;
        let mut settings = String::new();
        while let Some(reply) = opened.engine.next_reply() {
            if let Reply::Answer { answer: Answer::WhatIf(answer), .. } = reply {
                settings.clone_from(&answer.runs[0].settings);
            }
        }
        (took, settings)
    };
    // The check against the recording runs once, before the measurements.
    let (_, recorded) = timed(WhatIfQuestion::default());
    let (all, _) = timed(WhatIfQuestion { tries: true, ..WhatIfQuestion::default() });
    let course = || WhatIfQuestion { course: Some(recorded.clone()), ..WhatIfQuestion::default() };
    let one = median((0..ROUNDS).map(|_| timed(course()).0).collect());
    [one, all]
}

/// The same in the page, and the number of settings.
fn measure_in_page(path: &Path) -> (f64, f64, usize) {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    page.run_before_load(TIMING_SCRIPT);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.choose_files("input#file", &[path]);
    page.wait_for_state("ready");
    page.evaluate("document.querySelector('[data-topic=settings]')?.click()");
    wait(&page, "the check against the recording", || {
        page.evaluate("document.querySelector('[data-topic=settings]')?.click()");
        page.text("#what-if-proof").contains("Simulator check")
    });
    page.evaluate("messages.length = 0; document.querySelector('#what-if-search').click()");
    let rows = "document.querySelectorAll('#what-if-answer table:not(.fits) tbody tr').length";
    wait(&page, "all settings", || page.evaluate(rows).as_u64() > Some(5) && page.text("#what-if-status").is_empty());
    let rows = page.evaluate(rows).as_u64().unwrap_or_default() as usize;
    // Rows arrive one by one, before the smallest memories. The first is known already.
    let all = ms_until_answer(&page, rows).expect("as many answers as rows");
    let one = (0..ROUNDS).map(|_| {
        page.evaluate(
            "messages.length = 0; document.querySelector('#what-if-answer .recorded [data-run-show]').click()",
        );
        wait(&page, "the run", || ms_until_answer(&page, 1).is_some());
        // The button is pressed once the last answer has arrived.
        wait(&page, "the button", || {
            page.attribute("#what-if-answer .recorded [data-run-show]", "aria-pressed").as_deref() == Some("true")
        });
        let last =
            page.evaluate("messages.filter(([what]) => what === 'answer').length").as_u64().unwrap_or(1) as usize;
        let took = ms_until_answer(&page, last).expect("it answered");
        page.evaluate("document.querySelector('#what-if-answer .recorded [data-run-show]').click()");
        took
    });
    (median(one.collect()), all, rows)
}

/// Milliseconds from the request to the nth answer, counted from 1.
fn ms_until_answer(page: &Page, number: usize) -> Option<f64> {
    let script = format!(
        "(() => {{ const at = messages.find(([what]) => what === 'ask')?.[1]; \
         const answer = messages.filter(([what]) => what === 'answer')[{}]?.[1]; return answer - at; }})()",
        number.saturating_sub(1)
    );
    page.evaluate(&script).as_f64()
}

fn wait(page: &Page, what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed().as_secs() < WAIT_S, "timeout waiting for {what}: {:?}", page.errors());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
