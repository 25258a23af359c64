//! From the first byte of the page to the first file: what is dropped too early is kept, and what the worker does while it waits is unseen.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{halves, halves_summary};
use crate::opening::{empty_page, shows_halves, summary};
use crate::page::Page;
use crate::pictures::keep;
use crate::site::Site;

/// How often the worker has said that its rehearsal is over.
fn rehearsals(page: &Page, worker: &str) -> u64 {
    let marks = "performance.getEntriesByName('memscape: rehearsed').length";
    page.evaluate_in(worker, marks).as_u64().expect("a length")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_rehearsal_is_unseen_and_asks_the_network_for_nothing() {
    let page = empty_page();
    page.wait_until("there is a worker", || !page.workers().is_empty());
    let worker = page.workers().pop().expect("it was waited for");
    page.wait_until("the rehearsal is over", || rehearsals(&page, &worker) == 1);
    assert_eq!(page.state(), "empty");
    assert_eq!(page.evaluate("document.title"), "memscape");
    assert_eq!(page.evaluate("location.hash"), "");
    let is_seen = "['#workspace', '#summary', '#file-name', '#tabs', '#legend', '#why-report'].filter(it => \
        document.querySelector(it).checkVisibility({ visibilityProperty: true }))";
    assert_eq!(page.evaluate(is_seen), serde_json::json!([]));
    assert_eq!(summary(&page), [""; 5]);
    let text = page.evaluate("document.body.innerText");
    let text = text.as_str().expect("a text");
    assert!(text.contains("See where the GPU memory went") && !text.contains("Insights"), "{text}");
    let scrolls = "document.documentElement.scrollWidth > innerWidth";
    assert_eq!(page.evaluate(scrolls), false, "what is laid out unseen makes nothing wider");
    keep(&page, "rehearsed");
    let known = ["/memscape/", ".css", ".js", "_bg.wasm", ".svg"];
    let asked = page.requests();
    let is_own = |address: &String| {
        address.starts_with("blob:") || address.starts_with("data:") || known.iter().any(|end| address.ends_with(end))
    };
    assert!(asked.iter().all(is_own), "{asked:#?}");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    assert_eq!(page.workers().len(), 1, "the worker that rehearsed opens the file");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_ends_the_rehearsal() {
    let page = Page::blank(Chromium::with(Adapter::Software));
    // It begins once it is known what draws.
    page.run_before_load("GPU.prototype.requestAdapter = () => new Promise(done => window.answer = () => done(null))");
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.wait_until("there is a worker", || !page.workers().is_empty());
    let worker = page.workers().pop().expect("it was waited for");
    // Between two slices the worker sends itself a message: now it waits for that until it is let on.
    page.evaluate_in(
        &worker,
        "self.held = []; self.send = MessagePort.prototype.postMessage; \
         MessagePort.prototype.postMessage = function (message) { self.held.push(() => self.send.call(this, message)) }; 0",
    );
    page.evaluate("window.answer()");
    page.wait_until("the rehearsal has begun", || page.evaluate_in(&worker, "self.held.length") == 1);
    page.drop_at_once(&[&halves()]);
    page.wait_until("the file is on its way", || page.state() == "loading");
    page.evaluate_in(&worker, "MessagePort.prototype.postMessage = self.send; self.held.forEach(send => send()); 0");
    shows_halves(&page);
    assert_eq!(rehearsals(&page, &worker), 0);
    assert_eq!(page.workers().len(), 1);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_that_is_dropped_before_the_program_runs_is_opened() {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(
        "{ const compile = WebAssembly.compileStreaming; \
         WebAssembly.compileStreaming = got => new Promise(done => window.goOn = () => done(compile.call(WebAssembly, got))) }",
    );
    page.navigate(&Site::shared().page());
    page.wait_until("the program waits", || page.evaluate("typeof window.goOn") == "function");
    page.drop_at_once(&[&halves()]);
    assert_eq!(page.text("#snippet"), "", "the program does not run yet");
    page.evaluate("window.goOn()");
    page.wait_for_state("ready");
    page.wait_for(&halves_summary(), || summary(&page));
    // The next is dropped once, not twice.
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    assert_eq!(page.evaluate("document.querySelectorAll('#snapshot option').length"), 1);
    assert_eq!(page.complaints(), Vec::<String>::new());
}
