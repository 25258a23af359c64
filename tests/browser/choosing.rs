//! Choice of the events to load from a large file: the dialog before loading, a range, and loading all events later.

use crate::chromium::{Adapter, Chromium};
use crate::corpus;
use crate::fixtures::{self, halves, halves_summary};
use crate::opening::{open_empty_page, summary_values, wait_for_halves};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::site::Site;
use serde_json::json;

/// Creates a sparse file of this size.
fn sparse_file(bytes: u64) -> std::path::PathBuf {
    let path = fixtures::write_file("hollow.pickle", b"");
    std::fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("target/tmp can be written");
    path
}

fn focused_id(page: &Page) -> serde_json::Value {
    page.evaluate("document.activeElement.id")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn large_file_asks_for_range_before_loading() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.drop_files_without_wait(&[&sparse_file(10 << 30)]);
    page.wait_for_state("choosing");
    page.wait_for(&"hollow.pickle".to_owned(), || page.text("#choosing-name"));
    let message = "10.0 GiB. All events take from 1.00 GiB to 4.20 GiB of memory, and a page can have 4.00 GiB. A range takes less.";
    page.wait_for(&message.to_owned(), || page.text("#choosing-text"));
    // The file may not fit into memory, so the field of the range has the focus.
    page.wait_for(&json!("choosing-events"), || focused_id(&page));
    for (scheme, width) in [("light", 1280), ("dark", 600)] {
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.wait_for_frames();
        save_screenshot(&page, &format!("choosing-{scheme}"));
    }
    page.replace_text("x");
    page.press_enter();
    page.wait_until("the error is shown", || page.text("#choosing-wrong").starts_with("Expected events such as"));
    // Esc returns to the open file.
    page.press("Escape");
    wait_for_halves(&page);
    // For a file that fits, the button that opens all events has the focus.
    page.drop_files_without_wait(&[&sparse_file(3 << 30)]);
    page.wait_for_state("choosing");
    page.wait_for(&json!("choosing-all"), || focused_id(&page));
    page.press_enter();
    // The file contains only zeros, which is noticed when it is read.
    page.wait_until("the page reports that it is no snapshot", || {
        page.is_shown("#toast") && page.text("#toast-text").contains("hollow.pickle")
    });
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn linked_large_file_opens_range_prompt_when_length_is_known() {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page_with_link("../huge.pickle"));
    page.wait_for_state("choosing");
    // The dialog may be filled in a later frame than the one that sets the state.
    page.wait_until("the length is shown", || page.text("#choosing-text").starts_with("3.00 GiB."));
    page.click("#choosing-cancel");
    page.wait_for_state("empty");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn loaded_range_has_peak_of_whole_file_and_button_opens_whole_file() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.click("#choose-events");
    page.wait_for_state("choosing");
    page.wait_for(&json!("choosing-all"), || focused_id(&page));
    page.click("#choosing-events");
    page.replace_text("100..109");
    page.press_enter();
    page.wait_for_state("ready");
    page.wait_for(&"Events 100–109 of 122 are loaded.".to_owned(), || page.text("#loaded-text"));
    let [peak, _, reserved, ..] = summary_values(&page);
    let [whole_peak, _, whole_reserved, ..] = halves_summary();
    assert_eq!((peak, reserved), (whole_peak, whole_reserved), "live bytes are those of the whole trace");
    page.wait_until("the link contains the range", || page.evaluate("location.hash.includes('load=100..109')") == true);
    save_screenshot(&page, "loaded-range");
    page.click("#open-all");
    wait_for_halves(&page);
    page.wait_until("the note about the range is gone", || !page.is_shown("#loaded"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Loads the last thousand events of the largest real file.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn last_events_of_real_file_have_same_end_values_as_whole_file() {
    let Some(files) = corpus::real_files() else { return };
    let file = files.iter().max_by_key(|file| file.devices.first().map_or(0, |it| it["events"].as_u64().unwrap_or(0)));
    let Some(file) = file else { return };
    let page = open_empty_page();
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    let live_at_end = || page.text("#headlines [data-place='end']");
    page.wait_until("the bytes at the end are shown", || !live_at_end().is_empty());
    let end = live_at_end();
    page.click("#choose-events");
    page.wait_for_state("choosing");
    page.click("#choosing-events");
    page.replace_text("last 1000");
    page.press_enter();
    page.wait_for_state("ready");
    page.wait_until("a range is loaded", || page.is_shown("#loaded"));
    page.wait_for(&end, live_at_end);
    assert_eq!(page.errors(), Vec::<String>::new());
}
