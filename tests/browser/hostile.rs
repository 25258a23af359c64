//! Files made to break the page: each ends in an error message or a view, and a valid file opens afterwards.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves, halves_summary};
use crate::opening::{open_empty_page, summary_values, wait_for_halves};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::site::Site;
use crate::zip::zip_of;
use flate2::write::GzEncoder;
use std::io::Write;

/// Writes a pickle of protocol 2 from encoded parts.
pub(crate) fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x02", parts.concat().as_slice(), b"."].concat()
}

pub(crate) fn string(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

pub(crate) fn dict(pairs: &[(&str, &[u8])]) -> Vec<u8> {
    let pairs: Vec<u8> = pairs.iter().flat_map(|(key, value)| [&string(key), *value].concat()).collect();
    [b"}(", pairs.as_slice(), b"u"].concat()
}

pub(crate) fn list(items: &[u8]) -> Vec<u8> {
    [b"](", items, b"e"].concat()
}

/// Encodes a signed 64-bit integer.
fn int64(value: i64) -> Vec<u8> {
    [&b"\x8a\x08"[..], &value.to_le_bytes()].concat()
}

fn event(action: &str, address: &[u8], size: &[u8]) -> Vec<u8> {
    dict(&[("action", &string(action)), ("addr", address), ("size", size)])
}

/// Writes a snapshot of one device with these events.
fn snapshot(events: &[u8]) -> Vec<u8> {
    pickle(&[&dict(&[("segments", b"]"), ("device_traces", &list(&list(events)))])])
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("writing to a Vec succeeds");
    encoder.finish().expect("writing to a Vec succeeds")
}

/// Zip archive as written by `torch.save`.
pub(crate) fn checkpoint() -> Vec<u8> {
    let data = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00.";
    zip_of(&[("model/data.pkl", data), ("model/data/0", &[0; 64]), ("model/version", b"3\n")])
}

/// One megabyte of gzip that decompresses to a gigabyte.
pub(crate) fn gzip_bomb() -> Vec<u8> {
    [gzipped(b"\x80\x02](Nq\x00"), gzipped(&b"q\x00".repeat(1 << 19)).repeat(1024)].concat()
}

/// Drops a file, waits for an error with the expected text, and then opens a valid file in the same page.
#[track_caller]
fn assert_rejected(page: &Page, name: &str, bytes: &[u8], message: &str) {
    page.drop_files(&[&fixtures::write_file(name, bytes)]);
    // An open file stays open, with the error in a toast.
    let details = || {
        page.attribute("#toast", "hidden")
            .is_none()
            .then(|| page.evaluate("document.querySelector('#toast-details').textContent").to_string())
    };
    let is_refused = || page.state() == "error" || (page.state() == "ready" && details().is_some());
    page.wait_until(&format!("{name} is rejected"), is_refused);
    let error = details().unwrap_or_else(|| page.text("#error"));
    assert!(error.contains(message), "{name}: {error:?} does not say {message:?}");
    assert!(!error.contains("worker stopped"), "{name} crashed the worker");
    assert_recovers(page);
}

/// Checks that a valid file opens in the same page.
#[track_caller]
pub(crate) fn assert_recovers(page: &Page) {
    page.drop_files(&[&halves()]);
    page.wait_for(&halves_summary(), || summary_values(page));
    wait_for_halves(page);
    assert_eq!(page.text("#error"), "", "the error disappears when a valid file opens");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn invalid_files_are_rejected_and_page_recovers() {
    let page = open_empty_page();
    assert_rejected(&page, "bomb.gz", &gzip_bomb(), "decompress to more than");
    assert_rejected(&page, "deep.pickle", &pickle(&[&b"]".repeat(3_000_000)]), "more than 65,536 open containers");
    assert_rejected(&page, "long.pickle", &pickle(&[b"X\xff\xff\xff\x7f", &[b'x'; 9]]), "bytes in one string");
    assert_rejected(&page, "memo.pickle", &pickle(&[b"Nr\xff\xff\xff\xff"]), "more than 268,435,456 memo slots");
    let nan = snapshot(&event("alloc", b"K\x00", &[&b"G"[..], &f64::NAN.to_be_bytes()].concat()));
    assert_rejected(&page, "nan.pickle", &nan, "device_traces[0][0].size: expected an integer, found a float");
    let nan = br#"{"segments": [], "device_traces": [[{"action": "alloc", "addr": 0, "size": NaN}]]}"#;
    assert_rejected(&page, "nan.json", nan, "device_traces[0][0].size: expected an integer, found a float");
    let negative = snapshot(&event("alloc", b"K\x00", &int64(-1)));
    assert_rejected(&page, "negative.pickle", &negative, "device_traces[0][0].size: is not a number of bytes");
    assert_rejected(&page, "model.pt", &checkpoint(), "model.pt: this is a torch.save checkpoint");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn files_with_extreme_values_are_shown_and_next_file_opens() {
    let page = open_empty_page();
    let numbers = || summary_values(&page);
    let shows = |name: &str, bytes: &[u8], peak: u64, peak_event: u64, events: u64, allocations: u64| {
        page.drop_files(&[&fixtures::write_file(name, bytes)]);
        page.wait_for(&[peak, peak_event, 0, events, allocations].map(|number| number.to_string()), numbers);
        page.wait_for_state("ready");
        // All of these files were recorded without stacks.
        let warned = page.evaluate(
            "[...document.querySelectorAll('#warnings > li')].some(it => !it.textContent.startsWith('Recorded without call stacks'))",
        ) == true;
        assert_recovers(&page);
        warned
    };
    let free = |address: &[u8], size: &[u8]| event("free_completed", address, size);
    // Of duplicate keys the last one counts.
    let sizes = [string("size"), b"K\x07".to_vec(), string("size"), b"K\x09".to_vec()].concat();
    let twice =
        [b"}(", string("action").as_slice(), &string("alloc"), &string("addr"), b"K\x00", &sizes, b"u"].concat();
    assert!(!shows("twice.pickle", &snapshot(&[twice, free(b"K\x00", b"K\x09")].concat()), 9, 0, 2, 1));
    // Addresses near the maximum, so that address + size overflows.
    let (page_size, ends) = (b"M\x00\x10", [int64(-512), int64(-1)]);
    let events = ends.iter().map(|end| event("alloc", end, page_size));
    let events: Vec<Vec<u8>> = events.chain(ends.iter().map(|end| free(end, page_size))).collect();
    assert!(!shows("wraps.pickle", &snapshot(&events.concat()), 8192, 1, 4, 2));
    // Sums beyond 63 bits saturate, with a warning.
    let huge = int64(i64::MAX);
    let events =
        ["alloc", "free_completed"].map(|action| [b"K\x00", b"K\x01"].map(|at| event(action, at, &huge)).concat());
    assert!(shows("huge.pickle", &snapshot(&events.concat()), i64::MAX as u64, 0, 4, 2));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn million_devices_keep_picker_usable() {
    let page = open_empty_page();
    let nothing = [b"(", b"]".repeat(1000).as_slice(), b"e"].concat();
    let traces = [b"]", nothing.repeat(1000).as_slice(), &list(&event("alloc", b"K\x00", b"K\x05")), b"a"].concat();
    let file = pickle(&[&dict(&[("segments", b"]"), ("device_traces", &traces)])]);
    page.drop_files(&[&fixtures::write_file("devices.pickle", &file)]);
    page.wait_for_state("ready");
    // Devices without events and blocks are not listed.
    let initial_range = "[...document.querySelectorAll('select#device option')].map(option => option.value)";
    page.wait_for(&serde_json::json!(["1000000"]), || page.evaluate(initial_range));
    assert_recovers(&page);
    // A million devices with events.
    let event = [event("oom", b"K\x00", b"K\x05"), b"q\x00".to_vec()].concat();
    let again = [b"(", b"]}(h\x01h\x02ua".repeat(1000).as_slice(), b"e"].concat();
    let names = list(&[string("action"), b"q\x01".to_vec(), string("oom"), b"q\x02".to_vec()].concat());
    let traces = [b"]", list(&event).as_slice(), b"a", &again.repeat(1000)].concat();
    let file = pickle(&[&dict(&[("names", &names), ("segments", b"]"), ("device_traces", &traces)])]);
    assert_rejected(
        &page,
        "devices-with-events.pickle",
        &file,
        "device_traces[1024]: is not one of the first 1024 devices",
    );
}

/// The linked file exceeds what a 32-bit memory can hold.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_larger_than_memory_is_rejected_with_memory_it_needs() {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page_with_link("../endless.pickle"));
    page.wait_for_state("choosing");
    page.click("#choosing-all");
    page.wait_for_state("error");
    let error = page.text("#error");
    assert!(error.contains("not enough memory") && error.contains(" needed. Use the command line"), "{error:?}");
    save_screenshot(&page, "error-too-large");
    assert_eq!(page.engine_workers().len(), 1, "the worker survives: it fails before memory runs out");
    assert_recovers(&page);
}
