//! A page whose program never comes says so, and what to do.

use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::pictures::keep;
use crate::site::Site;

/// A page of the disk, opened as a person opens a file.
fn from_disk(name: &str, script: &str) -> Page {
    let path = crate::site::dist().join(name);
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(script);
    page.navigate(&format!("file://{}", path.display()));
    page
}

/// Waits until it says so; nothing else is to be clicked then.
#[track_caller]
fn says(page: &Page, what: &str) {
    page.wait_until("it says so", || page.corners("#dead").height > 0.0);
    assert!(page.text("#dead").contains(what), "{}", page.text("#dead"));
    for gone in ["#welcome", "#open", "#settings-open", "#error"] {
        assert_eq!(page.corners(gone).height, 0.0, "{gone} does nothing");
    }
    keep(page, &format!("dead-{what}"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_page_in_parts_from_the_disk_names_the_one_to_open() {
    let page = from_disk("index.html", "");
    says(&page, "memscape.html");
    page.click("#dead a");
    page.wait_for_state("empty");
    assert_eq!(page.corners("#dead").height, 0.0);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_server_without_the_program() {
    let page = Page::open(Chromium::with(Adapter::Software), &format!("{}/bare/", Site::shared().home));
    says(&page, "server");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_browser_that_is_too_old() {
    let page = from_disk("memscape.html", "delete window.DecompressionStream");
    says(&page, "browser");
    assert!(!page.text("#dead").contains("memscape.html"), "it is this one");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_page_that_stopped_later_says_its_own() {
    // What it looks for first is not there.
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load("addEventListener('readystatechange', () => document.getElementById('axis')?.remove(), true)");
    page.navigate(&Site::shared().page());
    page.wait_until("it says so", || page.text("#error").contains("index.html has no #axis"));
    assert_eq!(page.corners("#dead").height, 0.0);
}
