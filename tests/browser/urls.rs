//! Files that are named by the page's link.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::site::Site;

fn open(link: &str) -> Page {
    halves();
    Page::open(Chromium::shared(Adapter::Missing), link)
}

/// Opens a link that fails, waits for an error with one of these texts, and then opens a valid file.
#[track_caller]
fn assert_link_fails(link: &str, messages: &[&str]) {
    let page = open(&Site::shared().page_with_link(link));
    page.wait_for_state("error");
    let error = page.text("#error");
    assert!(messages.iter().any(|word| error.contains(word)), "{error:?} says none of {messages:?}");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_file_on_same_origin_opens() {
    let site = Site::shared();
    wait_for_halves(&open(&site.page_with_link("../snapshots/halves.pickle")));
    wait_for_halves(&open(&site.page_with_link(&format!("{}/snapshots/halves.pickle", site.origin))));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_in_query_string_opens() {
    wait_for_halves(&open(&format!("{}?url=../snapshots/halves.pickle", Site::shared().page())));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_other_origin_with_cors_opens() {
    let site = Site::shared();
    let page = open(&site.page_with_link(&format!("{}/open/halves.pickle", site.other_origin)));
    wait_for_halves(&page);
    // The policy allows the page's own origin and the one in the link, but no third one.
    let third = "fetch('http://localhost:9/').then(() => 'reached', () => 'refused')";
    assert_eq!(page.evaluate(third), "refused");
    page.wait_until("the violation is logged", || {
        page.errors().iter().any(|line| line.contains("Content Security Policy"))
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_other_origin_without_cors_reports_error() {
    assert_link_fails(&format!("{}/snapshots/halves.pickle", Site::shared().other_origin), &["CORS", "allow"]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_missing_file_reports_error() {
    assert_link_fails("../snapshots/no-such-file.pickle", &["404"]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_unreachable_host_reports_error() {
    // Browsers block port 9 (discard).
    assert_link_fails("http://localhost:9/halves.pickle", &["reach", "network", "CORS"]);
}
