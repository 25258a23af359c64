//! Startup of the page: the worker's rehearsal, which warms it up invisibly, and files that are dropped before the
//! program runs.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{halves, halves_summary};
use crate::opening::{open_empty_page, summary_values, wait_for_halves};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::site::Site;

/// Number of rehearsals that the worker has finished.
fn rehearsal_count(page: &Page, worker: &str) -> u64 {
    let marks = "performance.getEntriesByName('memscape: rehearsed').length";
    page.evaluate_in(worker, marks).as_u64().expect("the length is a number")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn warm_up_is_invisible_and_sends_no_requests() {
    let page = open_empty_page();
    page.wait_until("the worker has started", || !page.workers().is_empty());
    let worker = page.workers().pop().expect("the worker has started");
    page.wait_until("the rehearsal is over", || rehearsal_count(&page, &worker) == 1);
    assert_eq!(page.state(), "empty");
    assert_eq!(page.evaluate("document.title"), "memscape");
    assert_eq!(page.evaluate("location.hash"), "");
    let is_seen = "['#workspace', '#summary', '#file-name', '#tabs', '#legend', '#insights-report'].filter(it => \
        document.querySelector(it).checkVisibility({ visibilityProperty: true }))";
    assert_eq!(page.evaluate(is_seen), serde_json::json!([]));
    assert_eq!(summary_values(&page), [""; 5]);
    let text = page.evaluate("document.body.innerText");
    let text = text.as_str().expect("the text is a string");
    assert!(text.contains("See where the GPU memory went") && !text.contains("Insights"), "{text}");
    let scrolls = "document.documentElement.scrollWidth > innerWidth";
    assert_eq!(page.evaluate(scrolls), false, "the page scrolls sideways");
    save_screenshot(&page, "rehearsed");
    let known = ["/memscape/", ".css", ".js", "_bg.wasm", ".svg"];
    let asked = page.requests();
    let is_own = |address: &String| {
        address.starts_with("blob:") || address.starts_with("data:") || known.iter().any(|end| address.ends_with(end))
    };
    assert!(asked.iter().all(is_own), "{asked:#?}");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    assert_eq!(page.engine_workers().len(), 1, "the file needs no second worker");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn opening_file_ends_warm_up() {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    // The rehearsal starts once the renderer is known.
    page.run_before_load("GPU.prototype.requestAdapter = () => new Promise(done => window.answer = () => done(null))");
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.wait_until("the worker has started", || !page.workers().is_empty());
    let worker = page.workers().pop().expect("the worker has started");
    // Between slices of work the worker posts a message to itself. This holds the messages back.
    page.evaluate_in(
        &worker,
        "self.held = []; self.send = MessagePort.prototype.postMessage; \
         MessagePort.prototype.postMessage = function (message) { self.held.push(() => self.send.call(this, message)) }; 0",
    );
    page.evaluate("window.answer()");
    page.wait_until("the rehearsal has begun", || page.evaluate_in(&worker, "self.held.length") == 1);
    page.drop_files_without_wait(&[&halves()]);
    page.wait_until("the file is loading", || page.state() == "loading");
    page.evaluate_in(&worker, "MessagePort.prototype.postMessage = self.send; self.held.forEach(send => send()); 0");
    wait_for_halves(&page);
    assert_eq!(rehearsal_count(&page, &worker), 0);
    assert_eq!(page.engine_workers().len(), 1);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_dropped_before_program_runs_is_opened() {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(
        "{ const compile = WebAssembly.compileStreaming; \
         WebAssembly.compileStreaming = got => new Promise(done => window.goOn = () => done(compile.call(WebAssembly, got))) }",
    );
    page.navigate(&Site::shared().page());
    page.wait_until("the program waits", || page.evaluate("typeof window.goOn") == "function");
    page.drop_files_without_wait(&[&halves()]);
    assert_eq!(page.text("#snippet"), "", "the program does not run yet");
    page.evaluate("window.goOn()");
    page.wait_for_state("ready");
    page.wait_for(&halves_summary(), || summary_values(&page));
    // The next drop is handled once, not twice.
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    assert_eq!(page.evaluate("document.querySelectorAll('#snapshot option').length"), 1);
    assert_eq!(page.errors(), Vec::<String>::new());
}
