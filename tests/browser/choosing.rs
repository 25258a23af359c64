//! Which events of a large file are loaded: the question before it is read, a range, and all of it after all.

use crate::chromium::{Adapter, Chromium};
use crate::corpus;
use crate::fixtures::{self, halves, halves_summary};
use crate::opening::{empty_page, shows_halves, summary};
use crate::page::Page;
use crate::pictures::keep;
use crate::site::Site;
use serde_json::json;

/// A file of so many bytes that no disk has to hold.
fn hollow(bytes: u64) -> std::path::PathBuf {
    let path = fixtures::file("hollow.pickle", b"");
    std::fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("target/tmp can be written");
    path
}

fn focused(page: &Page) -> serde_json::Value {
    page.evaluate("document.activeElement.id")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_large_file_is_asked_about_before_it_is_read() {
    let page = empty_page();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    page.drop_at_once(&[&hollow(10 << 30)]);
    page.wait_for_state("choosing");
    assert_eq!(page.text("#choosing-name"), "hollow.pickle");
    let said = "10.0 GiB. All events take from 1.00 GiB to 4.20 GiB of memory, and a page can have 4.00 GiB. A range takes less.";
    assert_eq!(page.text("#choosing-text"), said);
    // It may not fit: the range is what is offered first.
    page.wait_for(&json!("choosing-events"), || focused(&page));
    for (scheme, width) in [("light", 1280), ("dark", 600)] {
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.wait_for_frames();
        keep(&page, &format!("choosing-{scheme}"));
    }
    page.write("x");
    page.press_enter();
    page.wait_until("it is said what is wrong", || page.text("#choosing-wrong").starts_with("Expected events such as"));
    // Esc leaves it, and what was open is there again.
    page.press("Escape");
    shows_halves(&page);
    // A file that fits is opened whole unless somebody wants less.
    page.drop_at_once(&[&hollow(3 << 30)]);
    page.wait_for_state("choosing");
    page.wait_for(&json!("choosing-all"), || focused(&page));
    page.press_enter();
    // It holds nothing but zeros: that is found out once it is read.
    page.wait_until("it is no snapshot", || page.shows("#toast") && page.text("#toast-text").contains("hollow.pickle"));
    shows_halves(&page);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_large_link_is_asked_about_once_its_length_is_known() {
    let page = Page::open(Chromium::with(Adapter::Software), &Site::shared().page_with("../huge.pickle"));
    page.wait_for_state("choosing");
    assert!(page.text("#choosing-text").starts_with("3.00 GiB."), "{}", page.text("#choosing-text"));
    page.click("#choosing-cancel");
    page.wait_for_state("empty");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_range_of_a_file_has_its_numbers_and_all_of_it_is_one_click_away() {
    let page = empty_page();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    page.click("#choose-events");
    page.wait_for_state("choosing");
    page.wait_for(&json!("choosing-all"), || focused(&page));
    page.click("#choosing-events");
    page.write("100..109");
    page.press_enter();
    page.wait_for_state("ready");
    page.wait_for(&"Events 100–109 of 122 are loaded.".to_owned(), || page.text("#loaded-text"));
    let [peak, _, reserved, ..] = summary(&page);
    let [whole_peak, _, whole_reserved, ..] = halves_summary();
    assert_eq!((peak, reserved), (whole_peak, whole_reserved), "live bytes are those of the whole trace");
    page.wait_until("the link says which", || page.evaluate("location.hash.includes('load=100..109')") == true);
    keep(&page, "loaded-range");
    page.click("#open-all");
    shows_halves(&page);
    page.wait_until("nothing is said of a range", || !page.shows("#loaded"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// The last thousand events of the real file that has most: its end is that of the whole.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_real_file_ends_as_it_does_whole() {
    let Some(files) = corpus::real_files() else { return };
    let file = files.iter().max_by_key(|file| file.devices.first().map_or(0, |it| it["events"].as_u64().unwrap_or(0)));
    let Some(file) = file else { return };
    let page = empty_page();
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    let end = page.text("#headlines [data-place='end']");
    page.click("#choose-events");
    page.wait_for_state("choosing");
    page.click("#choosing-events");
    page.write("last 1000");
    page.press_enter();
    page.wait_for_state("ready");
    page.wait_until("a range is loaded", || page.shows("#loaded"));
    page.wait_for(&end, || page.text("#headlines [data-place='end']"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
