//! Page whose program can't start: it shows the cause and what to do.

use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::pictures::keep;
use crate::site::Site;

/// Opens a page from the disk and runs `script` before it loads.
fn from_disk(name: &str, script: &str) -> Page {
    let path = crate::site::dist().join(name);
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(script);
    page.navigate(&format!("file://{}", path.display()));
    page
}

/// Waits for the message, and checks that it contains `what` and that controls are hidden.
#[track_caller]
fn says(page: &Page, what: &str) {
    page.wait_until("the message is shown", || page.corners("#dead").height > 0.0);
    assert!(page.text("#dead").contains(what), "{}", page.text("#dead"));
    for gone in ["#welcome", "#open", "#settings-open", "#error"] {
        assert_eq!(page.corners(gone).height, 0.0, "{gone} is visible but does nothing");
    }
    keep(page, &format!("dead-{what}"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn multi_file_page_from_disk_links_to_single_file_page() {
    let page = from_disk("index.html", "");
    says(&page, "memscape.html");
    page.click("#dead a");
    page.wait_for_state("empty");
    assert_eq!(page.corners("#dead").height, 0.0);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn missing_wasm_on_server_shows_message() {
    let page = Page::open(Chromium::with(Adapter::Software), &format!("{}/bare/", Site::shared().home));
    says(&page, "server");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn outdated_browser_shows_message() {
    let page = from_disk("memscape.html", "delete window.DecompressionStream");
    says(&page, "browser");
    assert!(!page.text("#dead").contains("memscape.html"), "the message names the page itself");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn error_during_startup_shows_its_own_message() {
    // Removes an element that the program needs.
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load("addEventListener('readystatechange', () => document.getElementById('axis')?.remove(), true)");
    page.navigate(&Site::shared().page());
    page.wait_until("the error is shown", || page.text("#error").contains("index.html has no #axis"));
    assert_eq!(page.corners("#dead").height, 0.0);
}
