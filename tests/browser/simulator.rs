//! The simulator's wasm: fetched once, for the simulation in the background, and errors if it can't be fetched.

use crate::chromium::{Adapter, Chromium};
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::segments::generate_file;
use crate::site::Site;
use std::path::Path;

const PROOF: &str = "matches this recording exactly";

/// Requests for files of the simulator.
fn simulator_requests(page: &Page) -> Vec<String> {
    page.requests().into_iter().filter(|url| url.contains("/simulator-")).collect()
}

/// Opens a file and the insight with the form.
fn open_form(page: &Page, path: &Path) {
    page.drop_files(&[path]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    page.click("[data-topic=settings]");
}

fn wait_for_proof(page: &Page) {
    page.wait_until("the check against the recording is shown", || page.text("#what-if-proof").contains(PROOF));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn simulator_is_fetched_once_after_reports() {
    let path = generate_file("simulator.pickle", "--events 5000");
    let page = open_empty_page();
    assert_eq!(simulator_requests(&page), Vec::<String>::new());
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    page.wait_until("the simulator is fetched in the background", || simulator_requests(&page).len() == 2);
    page.click("[data-topic=settings]");
    page.wait_until("the report quotes the simulation", || page.text("#insights-statements").contains("(simulated)"));
    wait_for_proof(&page);
    assert_eq!(simulator_requests(&page).len(), 2, "the glue script and the wasm: {:?}", simulator_requests(&page));
    // Another file starts another worker with the same code.
    let other = generate_file("simulator-other.pickle", "--events 6000");
    page.drop_files(&[&other]);
    page.wait_for_state("ready");
    page.wait_until("the worker of the other file has started", || page.workers().len() >= 4);
    wait_for_proof(&page);
    assert_eq!(simulator_requests(&page).len(), 2, "{:?}", simulator_requests(&page));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_opened_from_disk_runs_simulator() {
    let path = crate::site::dist().join("memscape.html");
    let page = Page::open(Chromium::shared(Adapter::Missing), &format!("file://{}", path.display()));
    page.wait_for_state("empty");
    open_form(&page, &generate_file("simulator.pickle", "--events 5000"));
    wait_for_proof(&page);
    let asked: Vec<String> = page.requests().into_iter().filter(|url| !url.starts_with("blob:")).collect();
    assert_eq!(
        asked.iter().filter(|url| !url.starts_with("data:")).count(),
        1,
        "only the page itself is requested: {asked:?}"
    );
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn failed_fetch_is_reported_and_retried() {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(
        "const real = globalThis.fetch; globalThis.fetch = (what, ...more) => !globalThis.mended && String(what).includes('simulator-')
            ? Promise.reject(new TypeError('no network')) : real(what, ...more)",
    );
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    open_form(&page, &generate_file("simulator.pickle", "--events 5000"));
    let sentence = "The simulator could not be started: no network. Press Simulate to try again.";
    page.wait_until("the error is shown", || page.text("#what-if-status").contains(sentence));
    page.click("#what-if-form button[type=submit]");
    page.wait_until("the error is shown again", || page.text("#what-if-status").contains(sentence));
    page.evaluate("void (globalThis.mended = true)");
    page.click("#what-if-form button[type=submit]");
    wait_for_proof(&page);
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn switching_device_cancels_search() {
    let path = generate_file("simulator-devices.pickle", "--events 300000 --devices 2");
    let page = open_empty_page();
    open_form(&page, &path);
    wait_for_proof(&page);
    let first = page.text("#what-if-proof");
    page.click("#what-if-search");
    page.wait_until("the search runs", || page.text("#what-if-status").starts_with("Simulating…"));
    page.press("u");
    page.wait_until("the check of the other device is shown", || {
        let proof = page.text("#what-if-proof");
        proof.contains(PROOF) && proof != first
    });
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    let rows = page.evaluate("document.querySelectorAll('#what-if-answer table:not(.fits) tbody tr').length");
    assert_eq!(rows, 1, "results of the ended search are listed");
    assert_eq!(page.errors(), Vec::<String>::new());
}
