//! Good files, by every road into the page, and the numbers it then shows.

use crate::chromium::{Adapter, Chromium};
use crate::corpus;
use crate::fixtures::{self, halves, halves_summary};
use crate::page::Page;
use crate::site::Site;
use serde_json::Value;

/// The attributes of `#summary`, and what `expected.json` calls them.
pub(crate) const SUMMARY: [(&str, &str); 5] = [
    ("data-peak-requested", "peak_requested"),
    ("data-peak-event", "peak_event"),
    ("data-peak-reserved", "peak_reserved"),
    ("data-events", "events"),
    ("data-allocations", "allocations"),
];

/// What `#summary` says now; empty where an attribute is missing.
pub(crate) fn summary(page: &Page) -> [String; 5] {
    SUMMARY.map(|(attribute, _)| page.attribute("#summary", attribute).unwrap_or_default())
}

/// The page, opened and empty.
pub(crate) fn empty_page() -> Page {
    let page = Page::open(Chromium::with(Adapter::Software), &Site::shared().page());
    page.wait_for_state("empty");
    page
}

/// Asserts that the open file is [`halves`].
#[track_caller]
pub(crate) fn shows_halves(page: &Page) {
    page.wait_for_state("ready");
    page.wait_for(&halves_summary(), || summary(page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn every_real_file_shows_the_reference_numbers() {
    let Some(files) = corpus::real_files() else { return };
    for file in files {
        // A page each, so that no number can be left over from the file before.
        let page = empty_page();
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        // The order of the picker is the page's own; what it offers is not.
        let mut expected: Vec<String> = file.devices.iter().map(|device| device["device"].to_string()).collect();
        expected.sort();
        let offered = "[...document.querySelectorAll('select#device option')].map(option => option.value).sort()";
        page.wait_for(&serde_json::json!(expected), || page.evaluate(offered));
        for device in &file.devices {
            let ordinal = Value::from(device["device"].to_string());
            println!("{}, device {ordinal}", file.path.display());
            page.evaluate(&format!(
                "{{ const picker = document.querySelector('select#device'); picker.value = {ordinal}; \
                 picker.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
            ));
            page.wait_for(&SUMMARY.map(|(_, field)| device[field].to_string()), || summary(&page));
        }
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_opens_by_the_input() {
    let page = empty_page();
    page.choose("input#file", &[&halves()]);
    shows_halves(&page);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_opens_by_dropping_it_anywhere() {
    let page = empty_page();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_opens_by_pasting_it() {
    let page = empty_page();
    halves();
    page.evaluate(&format!(
        "(async () => {{
            const bytes = await (await fetch('{}/snapshots/halves.pickle')).arrayBuffer();
            const clipboardData = new DataTransfer();
            clipboardData.items.add(new File([bytes], 'halves.pickle'));
            document.body.dispatchEvent(new ClipboardEvent('paste', {{ clipboardData, bubbles: true, cancelable: true }}));
        }})()",
        Site::shared().home
    ));
    shows_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_gzipped_file_opens_whatever_its_name() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&std::fs::read(halves()).expect("just written")).expect("a Vec takes all");
    let path = fixtures::file("halves.bin", &gzip.finish().expect("a Vec takes all"));
    let page = empty_page();
    page.choose("input#file", &[&path]);
    shows_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_example_opens() {
    let page = empty_page();
    page.click("#open-example");
    page.wait_for_state("ready");
    let events: u64 = summary(&page)[3].parse().expect("an exact integer");
    assert!(events > 0);
    assert_eq!(page.complaints(), Vec::<String>::new());
}
