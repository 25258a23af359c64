//! Files made to break the page: each gives its sentence or its view, and the page opens a good file after it.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves, halves_summary};
use crate::opening::{empty_page, shows_halves, summary};
use crate::page::Page;
use crate::site::Site;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A pickle of protocol 2 by hand.
fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x02", parts.concat().as_slice(), b"."].concat()
}

fn word(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn dict(pairs: &[(&str, &[u8])]) -> Vec<u8> {
    let pairs: Vec<u8> = pairs.iter().flat_map(|(key, value)| [&word(key), *value].concat()).collect();
    [b"}(", pairs.as_slice(), b"u"].concat()
}

fn list(items: &[u8]) -> Vec<u8> {
    [b"](", items, b"e"].concat()
}

/// An integer of 64 bits, with its sign.
fn long(value: i64) -> Vec<u8> {
    [&b"\x8a\x08"[..], &value.to_le_bytes()].concat()
}

fn event(action: &str, address: &[u8], size: &[u8]) -> Vec<u8> {
    dict(&[("action", &word(action)), ("addr", address), ("size", size)])
}

/// A snapshot of one device with these events.
fn trace(events: &[u8]) -> Vec<u8> {
    pickle(&[&dict(&[("segments", b"]"), ("device_traces", &list(&list(events)))])])
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("a Vec takes all");
    encoder.finish().expect("a Vec takes all")
}

/// Drops a file that is refused with `said`, and then a good one, in the same page as all before.
#[track_caller]
fn refuses(page: &Page, name: &str, bytes: &[u8], said: &str) {
    page.drop_files(&[&fixtures::file(name, bytes)]);
    page.wait_until(&format!("{name} is refused"), || page.state() == "error");
    let error = page.text("#error");
    assert!(error.contains(said), "{name}: {error:?} does not say {said:?}");
    recovers(page);
}

#[track_caller]
fn recovers(page: &Page) {
    page.drop_files(&[&halves()]);
    page.wait_for(&halves_summary(), || summary(page));
    shows_halves(page);
    assert_eq!(page.text("#error"), "", "the error goes when a good file comes");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn what_can_not_be_is_refused_and_the_page_goes_on() {
    let page = empty_page();
    let gigabyte = [gzipped(b"\x80\x02](Nq\x00"), gzipped(&b"q\x00".repeat(1 << 19)).repeat(1024)].concat();
    refuses(&page, "bomb.gz", &gigabyte, "unpack to more than");
    refuses(&page, "deep.pickle", &pickle(&[&b"]".repeat(3_000_000)]), "more than 65536 open containers");
    refuses(&page, "long.pickle", &pickle(&[b"X\xff\xff\xff\x7f", &[b'x'; 9]]), "bytes in one string");
    refuses(&page, "memo.pickle", &pickle(&[b"Nr\xff\xff\xff\xff"]), "more than 268435456 memo slots");
    let nan = trace(&event("alloc", b"K\x00", &[&b"G"[..], &f64::NAN.to_be_bytes()].concat()));
    refuses(&page, "nan.pickle", &nan, "device_traces[0][0].size: expected an integer, found a float");
    let negative = trace(&event("alloc", b"K\x00", &long(-1)));
    refuses(&page, "negative.pickle", &negative, "device_traces[0][0].size: is not a number of bytes");
    let workers = page.workers().len();
    assert_eq!(workers, 1, "not one of them costs the worker");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn what_is_odd_is_shown_and_the_page_goes_on() {
    let page = empty_page();
    let numbers = || summary(&page);
    let shows = |name: &str, bytes: &[u8], peak: u64, peak_event: u64, events: u64, allocations: u64| {
        page.drop_files(&[&fixtures::file(name, bytes)]);
        page.wait_for(&[peak, peak_event, 0, events, allocations].map(|number| number.to_string()), numbers);
        page.wait_for_state("ready");
        recovers(&page);
    };
    let free = |address: &[u8], size: &[u8]| event("free_completed", address, size);
    // Of equal keys the last counts.
    let sizes = [word("size"), b"K\x07".to_vec(), word("size"), b"K\x09".to_vec()].concat();
    let twice = [b"}(", word("action").as_slice(), &word("alloc"), &word("addr"), b"K\x00", &sizes, b"u"].concat();
    shows("twice.pickle", &trace(&[twice, free(b"K\x00", b"K\x09")].concat()), 9, 0, 2, 1);
    // Addresses at the end of all there are, so that address + size wraps.
    let (page_size, ends) = (b"M\x00\x10", [long(-512), long(-1)]);
    let events = ends.iter().map(|end| event("alloc", end, page_size));
    let events: Vec<Vec<u8>> = events.chain(ends.iter().map(|end| free(end, page_size))).collect();
    shows("wraps.pickle", &trace(&events.concat()), 8192, 1, 4, 2);
    // Sums beyond 63 bits stay at the limit.
    let huge = long(i64::MAX);
    let events =
        ["alloc", "free_completed"].map(|action| [b"K\x00", b"K\x01"].map(|at| event(action, at, &huge)).concat());
    shows("huge.pickle", &trace(&events.concat()), i64::MAX as u64, 0, 4, 2);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_million_devices_leave_the_picker_usable() {
    let page = empty_page();
    let nothing = [b"(", b"]".repeat(1000).as_slice(), b"e"].concat();
    let traces = [b"]", nothing.repeat(1000).as_slice(), &list(&event("alloc", b"K\x00", b"K\x05")), b"a"].concat();
    let file = pickle(&[&dict(&[("segments", b"]"), ("device_traces", &traces)])]);
    page.drop_files(&[&fixtures::file("devices.pickle", &file)]);
    page.wait_for_state("ready");
    // Those without events and blocks are none.
    let offered = "[...document.querySelectorAll('select#device option')].map(option => option.value)";
    page.wait_for(&serde_json::json!(["1000000"]), || page.evaluate(offered));
    recovers(&page);
}

/// A file of some hundred thousand events that takes a while.
fn large() -> PathBuf {
    let names = [word("alloc"), b"q\x00".to_vec(), word("free_completed"), b"q\x01".to_vec()].concat();
    let keys =
        [word("action"), b"q\x02".to_vec(), word("addr"), b"q\x03".to_vec(), word("size"), b"q\x04".to_vec()].concat();
    let pair = |at: u32| {
        let address = [&b"J"[..], &(at % 5000 * 512).to_le_bytes()].concat();
        let entry = |action: &[u8]| [b"}(h\x02", action, b"h\x03", &address, b"h\x04M\x00\x02u"].concat();
        [entry(b"h\x00"), entry(b"h\x01")].concat()
    };
    let events: Vec<u8> = (0..400_000).flat_map(pair).collect();
    let names = list(&[names, keys].concat());
    let parts = dict(&[("names", &names), ("segments", b"]"), ("device_traces", &list(&list(&events)))]);
    fixtures::file("large.pickle", &pickle(&[&parts]))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn three_drops_in_a_row_show_the_last() {
    let page = empty_page();
    let (large, good) = (large(), halves());
    for _ in 0..3 {
        page.drop_files(&[&large]);
        page.drop_files(&[&large]);
        page.drop_files(&[&good]);
        page.wait_for(&halves_summary(), || summary(&page));
        shows_halves(&page);
    }
    // And while the picture of a large one is made.
    page.drop_files(&[&large]);
    page.wait_until("the large file is open", || summary(&page)[3] == "800000");
    recovers(&page);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cancel_works_in_every_phase() {
    let page = empty_page();
    let large = large();
    for phase in ["Reading", "Building"] {
        // As fast as the page itself can see it: at the first sight of the phase.
        page.evaluate(&format!(
            "window.seen = false; window.observer = new MutationObserver(() => {{
                if (document.body.innerText.includes({phase:?})) {{
                    window.observer.disconnect(); window.seen = true; document.querySelector('#cancel').click();
                }}
            }}); window.observer.observe(document.body, {{ childList: true, subtree: true, characterData: true, attributes: true }}); 0"
        ));
        page.drop_files(&[&large]);
        page.wait_until("the phase is seen or over", || {
            page.evaluate("window.seen") == true || page.state() == "ready"
        });
        // A phase may be over before the page hears of it; then there is nothing to cancel.
        let wanted = if page.evaluate("window.seen") == true { "empty" } else { "ready" };
        page.wait_for(&wanted.to_owned(), || page.state());
        page.evaluate("window.observer.disconnect()");
        recovers(&page);
    }
    assert_eq!(page.workers().len(), 1, "cancelling never costs the worker");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let page = empty_page();
    let path = fixtures::file("changing.pickle", &pickle(&[b"](", &b"N".repeat(300 << 20)]));
    page.drop_files(&[&path]);
    page.wait_until("it is being read", || page.state() == "loading" || page.state() == "error");
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("it was just written");
    file.set_len(1 << 20).expect("a file can be cut");
    page.wait_until("it is refused", || page.state() == "error");
    let error = page.text("#error");
    assert!(error.contains("changed") || error.contains("ends before"), "{error:?}");
    recovers(&page);
}

/// A link that brings more than a 32-bit memory holds, and would bring more.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_larger_than_the_memory_says_what_it_would_need() {
    let page = Page::open(Chromium::with(Adapter::Software), &Site::shared().page_with("../endless.pickle"));
    let deadline = Instant::now() + Duration::from_secs(120);
    while page.state() != "error" && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    let error = page.text("#error");
    assert!(error.contains("too large for this memory") && error.contains("so all would need about"), "{error:?}");
    recovers(&page);
}
