//! Files named in the link.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::opening::shows_halves;
use crate::page::Page;
use crate::site::Site;

fn open(link: &str) -> Page {
    halves();
    Page::open(Chromium::with(Adapter::Software), link)
}

/// Opens a link that leads nowhere and wants a sentence with one of `said` in it.
#[track_caller]
fn fails(link: &str, said: &[&str]) {
    let page = open(&Site::shared().page_with(link));
    page.wait_for_state("error");
    let error = page.text("#error");
    assert!(said.iter().any(|word| error.contains(word)), "{error:?} says none of {said:?}");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_link_to_a_file_beside_the_page_opens() {
    let site = Site::shared();
    shows_halves(&open(&site.page_with("../snapshots/halves.pickle")));
    shows_halves(&open(&site.page_with(&format!("{}/snapshots/halves.pickle", site.home))));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_query_does_as_well() {
    shows_halves(&open(&format!("{}?url=../snapshots/halves.pickle", Site::shared().page())));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn another_origin_that_allows_it_opens() {
    let site = Site::shared();
    let page = open(&site.page_with(&format!("{}/open/halves.pickle", site.elsewhere)));
    shows_halves(&page);
    // The link named this origin and no other; the page's own is still allowed, a third is not.
    let third = "fetch('http://localhost:9/').then(() => 'reached', () => 'refused')";
    assert_eq!(page.evaluate(third), "refused");
    page.wait_until("the violation is told", || {
        page.complaints().iter().any(|line| line.contains("Content Security Policy"))
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn another_origin_that_does_not_allow_it_is_explained() {
    fails(&format!("{}/snapshots/halves.pickle", Site::shared().elsewhere), &["CORS", "allow"]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_missing_file_is_explained() {
    fails("../snapshots/no-such-file.pickle", &["404"]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn an_unreachable_host_is_explained() {
    // Port 9 (discard) is on the browsers' list of ports that are never asked.
    fails("http://localhost:9/halves.pickle", &["reach", "network", "CORS"]);
}
