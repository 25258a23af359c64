//! Invalid files, cancelled loading and a crashed worker: the page reports the error and recovers.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::Page;
use crate::site::Site;

/// Opens an invalid file, checks the text of the error, and then opens a valid one.
#[track_caller]
fn assert_fails_and_recovers(name: &str, bytes: &[u8], message: &str) {
    let page = open_empty_page();
    page.drop_files(&[&fixtures::write_file(name, bytes)]);
    page.wait_for_state("error");
    let error = page.text("#error");
    assert!(error.to_lowercase().contains(&message.to_lowercase()), "{name}: {error:?} does not say {message:?}");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    assert_eq!(page.text("#error"), "", "the error disappears when a valid file opens");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn truncated_file_reports_error() {
    let whole = std::fs::read(halves()).expect("just written");
    assert_fails_and_recovers("truncated.pickle", &whole[..whole.len() / 2], "cut off");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn empty_file_reports_error() {
    assert_fails_and_recovers("empty.pickle", b"", "empty");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn image_file_reports_error() {
    assert_fails_and_recovers("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0", "");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn pickle_with_call_is_rejected_by_opcode_name() {
    // None, (), REDUCE: the opcode that calls a function.
    assert_fails_and_recovers("call.pickle", b"\x80\x04N)R.", "REDUCE");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn pickle_with_import_is_rejected_by_opcode_name() {
    assert_fails_and_recovers("import.pickle", b"\x80\x04cposix\nsystem\nX\x02\0\0\0id\x85R.", "GLOBAL");
}

/// Opens a page with a link to a file that loads very slowly.
fn open_loading_page() -> Page {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page_with_link("../slow.pickle"));
    page.wait_for_state("loading");
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cancel_works_immediately() {
    let page = open_loading_page();
    page.wait_until("the progress bar is visible", || page.bounding_box("#progress").width > 0.0);
    // Measured inside the page, so that the test's own commands do not count.
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
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn second_dropped_file_replaces_first() {
    let page = open_loading_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn crashed_worker_reports_error_and_next_file_opens() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let worker = page.engine_workers().pop().expect("the page has a worker");
    // A wasm trap appears as an uncaught error.
    page.evaluate_in(&worker, "void setTimeout(() => { throw new WebAssembly.RuntimeError('unreachable'); })");
    page.wait_for_state("error");
    assert_ne!(page.text("#error"), "");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
}
