//! How long the simulated allocator takes in the page's worker at a million events, beside the same natively: one setting, and all settings
//! worth trying with their bands. `./run build`, then `cargo bench --bench simulate_page`; prints, judges nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench may fail loudly")]

#[path = "../browser/asking.rs"]
mod asking;
#[path = "../browser/chromium.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod chromium;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod generate;
#[path = "../support/opened.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod opened;
#[path = "../browser/page.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod page;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod site;

use chromium::{Adapter, Chromium};
use memscape::engine::protocol::WhatIfQuestion;
use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use page::Page;
use site::Site;
use std::path::Path;
use std::time::Instant;

const FILES: [(&str, &str); 2] =
    [("plain", "--events 1000000 --frames 12"), ("expandable", "--events 1000000 --frames 12 --expandable")];
/// Each run is timed so often; the median counts.
const ROUNDS: usize = 5;
const WAIT_S: u64 = 120;

/// Notes when the simulator is asked, and when it answers.
const WATCH: &str = "window.told = []; { const Own = Worker; window.Worker = class extends Own { \
    constructor(...of) { super(...of); this.addEventListener('message', event => { \
        if (Array.isArray(event.data) && event.data[0] === 'answer') told.push(['answer', performance.now()]); }); } \
    postMessage(message, ...more) { \
        if (Array.isArray(message) && message[0] === 'ask') told.push(['ask', performance.now()]); \
        return super.postMessage(message, ...more); } }; }";

fn main() {
    if std::env::args().any(|word| word == "--test") {
        return;
    }
    for (name, words) in FILES {
        let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
        let (pickle, _) = generate::generate(&options, Vec::new()).expect("a Vec takes all");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("simulate-{name}.pickle"));
        std::fs::write(&path, &pickle).expect("target can be written");
        let [one, all] = natively(&pickle);
        let (one_in_page, all_in_page, rows) = in_page(&path);
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

/// Milliseconds of one more run, and of all settings with their bands.
fn natively(pickle: &[u8]) -> [f64; 2] {
    let mut opened = opened::open(pickle).expect("a snapshot");
    let mut timed = |question: WhatIfQuestion| {
        let what = Question::WhatIf(Box::new(question));
        opened.engine.request(Request::Ask(Ask { serial: 1, device: 0, what }));
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
    // What it reproduces comes first, and is no part of it.
    let (_, recorded) = timed(WhatIfQuestion::default());
    let (all, _) = timed(WhatIfQuestion { tries: true, ..WhatIfQuestion::default() });
    let course = || WhatIfQuestion { course: Some(recorded.clone()), ..WhatIfQuestion::default() };
    let one = median((0..ROUNDS).map(|_| timed(course()).0).collect());
    [one, all]
}

/// The same in the page, and how many settings there were.
fn in_page(path: &Path) -> (f64, f64, usize) {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(WATCH);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.choose("input#file", &[path]);
    page.wait_for_state("ready");
    page.evaluate("document.querySelector('[data-topic=settings]')?.click()");
    wait(&page, "what it reproduces", || {
        page.evaluate("document.querySelector('[data-topic=settings]')?.click()");
        page.text("#what-if-proof").contains("reproduces")
    });
    page.evaluate("told.length = 0; document.querySelector('#what-if-search').click()");
    let rows = "document.querySelectorAll('#what-if-answer table:not(.fits) tbody tr').length";
    wait(&page, "all settings", || page.evaluate(rows).as_u64() > Some(5) && page.text("#what-if-status").is_empty());
    let rows = page.evaluate(rows).as_u64().unwrap_or_default() as usize;
    // Each row comes as soon as it is there; the smallest memories come after them. The first is known already.
    let all = after_ask(&page, rows).expect("as many answers as rows");
    let one = (0..ROUNDS).map(|_| {
        page.evaluate("told.length = 0; document.querySelector('#what-if-answer .recorded [data-run-show]').click()");
        wait(&page, "the run", || after_ask(&page, 1).is_some());
        // It says that it is complete with the last of its answers.
        wait(&page, "the button", || {
            page.attribute("#what-if-answer .recorded [data-run-show]", "aria-pressed").as_deref() == Some("true")
        });
        let last = page.evaluate("told.filter(([what]) => what === 'answer').length").as_u64().unwrap_or(1) as usize;
        let took = after_ask(&page, last).expect("it answered");
        page.evaluate("document.querySelector('#what-if-answer .recorded [data-run-show]').click()");
        took
    });
    (median(one.collect()), all, rows)
}

/// Milliseconds from the question to the answer of this number.
fn after_ask(page: &Page, number: usize) -> Option<f64> {
    let script = format!(
        "(() => {{ const at = told.find(([what]) => what === 'ask')?.[1]; \
         const answer = told.filter(([what]) => what === 'answer')[{}]?.[1]; return answer - at; }})()",
        number.saturating_sub(1)
    );
    page.evaluate(&script).as_f64()
}

fn wait(page: &Page, what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed().as_secs() < WAIT_S, "waited in vain for {what}: {:?}", page.complaints());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
