//! Files that can't be opened, loading that is given up, a worker that dies: the page says so and goes on.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves};
use crate::opening::{empty_page, shows_halves};
use crate::page::Page;
use crate::site::Site;

/// Opens a file that is none, wants a sentence with `said` in it, and then opens a good one.
#[track_caller]
fn fails_and_recovers(name: &str, bytes: &[u8], said: &str) {
    let page = empty_page();
    page.drop_files(&[&fixtures::file(name, bytes)]);
    page.wait_for_state("error");
    let error = page.text("#error");
    assert!(error.to_lowercase().contains(&said.to_lowercase()), "{name}: {error:?} does not say {said:?}");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    assert_eq!(page.text("#error"), "", "the error goes when a good file comes");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_truncated_file_is_an_error() {
    let whole = std::fs::read(halves()).expect("just written");
    fails_and_recovers("truncated.pickle", &whole[..whole.len() / 2], "end");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn an_empty_file_is_an_error() {
    fails_and_recovers("empty.pickle", b"", "empty");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_picture_is_an_error() {
    fails_and_recovers("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0", "");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_pickle_that_calls_is_refused_by_name() {
    // None, (), REDUCE: what a pickle that runs code does in the end.
    fails_and_recovers("call.pickle", b"\x80\x04N)R.", "REDUCE");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_pickle_that_imports_is_refused_by_name() {
    fails_and_recovers("import.pickle", b"\x80\x04cposix\nsystem\nX\x02\0\0\0id\x85R.", "GLOBAL");
}

/// A page that loads a file which never ends.
fn loading_page() -> Page {
    let page = Page::open(Chromium::with(Adapter::Software), &Site::shared().page_with("../slow.pickle"));
    page.wait_for_state("loading");
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cancel_works_at_once() {
    let page = loading_page();
    page.wait_until("there is a progress to see", || page.corners("#progress").width > 0.0);
    // As the page itself sees it: how long the test's own questions take says nothing of it.
    page.evaluate(
        "document.querySelector('#cancel').addEventListener('click', () => { const pressed = performance.now(); \
         new MutationObserver(() => { window.took ??= performance.now() - pressed; }) \
             .observe(document.body, { attributes: true, attributeFilter: ['data-state'] }); }, { capture: true })",
    );
    page.click("#cancel");
    page.wait_for_state("empty");
    let took = page.evaluate("window.took");
    assert!(took.as_f64() < Some(2000.0) && took.is_number(), "cancelling took {took} ms");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_second_drop_replaces_the_first() {
    let page = loading_page();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_dead_worker_is_an_error_and_the_next_file_opens() {
    let page = empty_page();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    let worker = page.workers().pop().expect("the page has a worker");
    // What a trap looks like from outside: an error nobody caught.
    page.evaluate_in(&worker, "void setTimeout(() => { throw new WebAssembly.RuntimeError('unreachable'); })");
    page.wait_for_state("error");
    assert_ne!(page.text("#error"), "");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
}
