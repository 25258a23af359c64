//! Valid files opened in every possible way, and the numbers that the page then shows.

use crate::chromium::{Adapter, Chromium};
use crate::corpus;
use crate::fixtures::{self, halves, halves_summary};
use crate::page::Page;
use crate::site::Site;
use serde_json::Value;

/// Attributes of `#summary`, with the corresponding keys in `expected.json`.
pub(crate) const SUMMARY_KEYS: [(&str, &str); 5] = [
    ("data-peak-requested", "peak_requested"),
    ("data-peak-event", "peak_event"),
    ("data-peak-reserved", "peak_reserved"),
    ("data-events", "events"),
    ("data-allocations", "allocations"),
];

/// Current values of the [`SUMMARY`] attributes; empty if missing.
pub(crate) fn summary_values(page: &Page) -> [String; 5] {
    SUMMARY_KEYS.map(|(attribute, _)| page.attribute("#summary", attribute).unwrap_or_default())
}

/// Opens the page without a file.
pub(crate) fn open_empty_page() -> Page {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page());
    page.wait_for_state("empty");
    page
}

/// Waits until [`halves`] is open and its numbers are shown.
#[track_caller]
pub(crate) fn wait_for_halves(page: &Page) {
    page.wait_for_state("ready");
    page.wait_for(&halves_summary(), || summary_values(page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn real_files_show_expected_summaries() {
    let Some(files) = corpus::real_files() else { return };
    for file in files {
        // A new page each, so that no number can be left over from the previous file.
        let page = open_empty_page();
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        // The order of the devices in the picker is not compared.
        let mut expected: Vec<String> = file.devices.iter().map(|device| device["device"].to_string()).collect();
        expected.sort();
        let initial_range = "[...document.querySelectorAll('select#device option')].map(option => option.value).sort()";
        page.wait_for(&serde_json::json!(expected), || page.evaluate(initial_range));
        for device in &file.devices {
            let ordinal = Value::from(device["device"].to_string());
            println!("{}, device {ordinal}", file.path.display());
            page.evaluate(&format!(
                "{{ const picker = document.querySelector('select#device'); picker.value = {ordinal}; \
                 picker.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
            ));
            page.wait_for(&SUMMARY_KEYS.map(|(_, field)| device[field].to_string()), || summary_values(&page));
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_chosen_in_input_opens() {
    let page = open_empty_page();
    page.choose_files("input#file", &[&halves()]);
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_dropped_on_page_opens() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn pasted_file_opens() {
    let page = open_empty_page();
    halves();
    page.evaluate(&format!(
        "(async () => {{
            const bytes = await (await fetch('{}/snapshots/halves.pickle')).arrayBuffer();
            const clipboardData = new DataTransfer();
            clipboardData.items.add(new File([bytes], 'halves.pickle'));
            document.body.dispatchEvent(new ClipboardEvent('paste', {{ clipboardData, bubbles: true, cancelable: true }}));
        }})()",
        Site::shared().origin
    ));
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn gzipped_file_opens_without_gz_extension() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&std::fs::read(halves()).expect("just written")).expect("writing to a Vec succeeds");
    let path = fixtures::write_file("halves.bin", &gzip.finish().expect("writing to a Vec succeeds"));
    let page = open_empty_page();
    page.choose_files("input#file", &[&path]);
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn example_opens() {
    let page = open_empty_page();
    page.click("#open-example");
    page.wait_for_state("ready");
    page.wait_until("the number of events is shown", || {
        summary_values(&page)[3].parse::<u64>().is_ok_and(|events| events > 0)
    });
    assert_eq!(page.errors(), Vec::<String>::new());
}
