//! Page whose program can't start: it shows the cause and what to do.

use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::site::Site;

/// Opens a page from the disk and runs `script` before it loads.
fn open_from_disk(name: &str, script: &str) -> Page {
    let path = crate::site::dist().join(name);
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(script);
    page.navigate(&format!("file://{}", path.display()));
    page
}

/// Waits for the message, and checks that it contains `what` and that controls are hidden.
#[track_caller]
fn wait_for_message(page: &Page, what: &str) {
    page.wait_until("the message is shown", || page.bounding_box("#dead").height > 0.0);
    assert!(page.text("#dead").contains(what), "{}", page.text("#dead"));
    for gone in ["#welcome", "#open", "#settings-open", "#error"] {
        assert_eq!(page.bounding_box(gone).height, 0.0, "{gone} is visible but does nothing");
    }
    save_screenshot(page, &format!("dead-{what}"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn multi_file_page_from_disk_links_to_single_file_page() {
    let page = open_from_disk("index.html", "");
    wait_for_message(&page, "memscape.html");
    page.click("#dead a");
    page.wait_for_state("empty");
    assert_eq!(page.bounding_box("#dead").height, 0.0);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn missing_wasm_on_server_shows_message() {
    let page = Page::open(Chromium::shared(Adapter::Missing), &format!("{}/bare/", Site::shared().origin));
    wait_for_message(&page, "server");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn outdated_browser_shows_message() {
    let page = open_from_disk("memscape.html", "delete window.DecompressionStream");
    wait_for_message(&page, "browser");
    assert!(!page.text("#dead").contains("memscape.html"), "the message names the page itself");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn error_during_startup_shows_its_own_message() {
    // Removes an element that the program needs.
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load("addEventListener('readystatechange', () => document.getElementById('axis')?.remove(), true)");
    page.navigate(&Site::shared().page());
    page.wait_until("the error is shown", || page.text("#error").contains("index.html has no #axis"));
    assert_eq!(page.bounding_box("#dead").height, 0.0);
}
