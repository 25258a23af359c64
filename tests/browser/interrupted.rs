//! Interrupted loading: cancelled, replaced by the next file, or the file changes while it is read.

use crate::containers::pick_snapshot;
use crate::fixtures::{self, halves, halves_summary};
use crate::hostile::{assert_recovers, dict, list, pickle, string};
use crate::large::large_file;
use crate::opening::{open_empty_page, summary_values, wait_for_halves};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::site::Site;
use crate::zip::{Member, member, zip, zip_of};
use serde_json::Value;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// Writes a file of 800,000 events, which takes a while to open.
fn large_snapshot() -> PathBuf {
    let names = [string("alloc"), b"q\x00".to_vec(), string("free_completed"), b"q\x01".to_vec()].concat();
    let keys =
        [string("action"), b"q\x02".to_vec(), string("addr"), b"q\x03".to_vec(), string("size"), b"q\x04".to_vec()]
            .concat();
    let pair = |at: u32| {
        let address = [&b"J"[..], &(at % 5000 * 512).to_le_bytes()].concat();
        let entry = |action: &[u8]| [b"}(h\x02", action, b"h\x03", &address, b"h\x04M\x00\x02u"].concat();
        [entry(b"h\x00"), entry(b"h\x01")].concat()
    };
    let events: Vec<u8> = (0..400_000).flat_map(pair).collect();
    let names = list(&[names, keys].concat());
    let parts = dict(&[("names", &names), ("segments", b"]"), ("device_traces", &list(&list(&events)))]);
    fixtures::write_file("large.pickle", &pickle(&[&parts]))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn last_of_three_dropped_files_opens() {
    let page = open_empty_page();
    let (large, good) = (large_snapshot(), halves());
    for _ in 0..3 {
        page.drop_files_without_wait(&[&large]);
        page.drop_files_without_wait(&[&large]);
        page.drop_files(&[&good]);
        page.wait_for(&halves_summary(), || summary_values(&page));
        wait_for_halves(&page);
    }
    // A drop while the picture of a large file is prepared.
    page.drop_files(&[&large]);
    page.wait_until("the large file is open", || summary_values(&page)[3] == "800000");
    assert_recovers(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cancel_works_in_every_phase() {
    let page = open_empty_page();
    // Large enough that every phase lasts until the page can react.
    let large = large_file();
    // The first time no file was open before; the second time the file of the first recovery.
    for (phase, left) in [("Reading", "empty"), ("Building", "ready")] {
        // Cancelled inside the page, as soon as the text of the phase appears.
        page.evaluate(&format!(
            "window.seen = false; window.observer = new MutationObserver(() => {{
                if (document.body.innerText.includes({phase:?})) {{
                    window.observer.disconnect(); window.seen = true; document.querySelector('#cancel').click();
                }}
            }}); window.observer.observe(document.body, {{ childList: true, subtree: true, characterData: true, attributes: true }}); 0"
        ));
        page.drop_files(&[&large]);
        page.wait_until(&format!("the page says {phase:?}"), || page.evaluate("window.seen") == true);
        page.wait_for(&left.to_owned(), || page.state());
        if left == "ready" {
            page.wait_for(&halves_summary(), || summary_values(&page));
            wait_for_halves(&page);
        }
        assert_recovers(&page);
    }
    // A linked archive is downloaded completely before it is read.
    page.navigate("about:blank");
    page.navigate(&Site::shared().page_with_link("../slow.zip"));
    // Its contents may exceed the page's memory, so the page asks first.
    page.wait_for_state("choosing");
    page.click("#choosing-all");
    page.wait_until("some bytes were downloaded", || page.text("#progress-text").contains("KiB"));
    save_screenshot(&page, "loading-zip-behind-a-link");
    page.click("#cancel");
    page.wait_for(&"empty".to_owned(), || page.state());
    assert_recovers(&page);
    // One worker for each of the two documents, and one for each of the two files dropped while another was open.
    assert_eq!(page.engine_workers().len(), 4, "cancelling ends a worker only if another one holds the open file");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_changed_while_read_reports_error() {
    let page = open_empty_page();
    let path = fixtures::write_file("changing.pickle", &pickle(&[b"](", &b"N".repeat(100 << 20)]));
    drop_and_pause(&page, &path);
    truncate(&path, 1 << 20);
    resume_reading(&page);
    wait_for_error(&page);
    assert_recovers(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn archive_changed_while_read_reports_error() {
    let page = open_empty_page();
    let good = std::fs::read(halves()).expect("just written");
    let stored = |name: &str, bytes: &[u8]| Member { method: 0, ..member(name, bytes) };
    let long = pickle(&[b"](", &b"N".repeat(100 << 20)]);
    let path = fixtures::write_file("changing.zip", &zip(&[stored("long.pickle", &long)]));
    drop_and_pause(&page, &path);
    truncate(&path, 1 << 20);
    resume_reading(&page);
    wait_for_error(&page);

    // The archive changes after one snapshot was opened and before the next.
    let path = fixtures::write_file("changed.zip", &zip_of(&[("a.pickle", &good), ("b.pickle", &good)]));
    page.drop_files(&[&path]);
    wait_for_halves(&page);
    truncate(&path, 50);
    pick_snapshot(&page, 1);
    wait_for_error(&page);
    assert_recovers(&page);
}

/// Drops a file. The worker reads 8 MiB of the file and then pauses until [`goes_on`].
#[track_caller]
fn drop_and_pause(page: &Page, path: &Path) {
    page.wait_until("the worker has started", || !page.workers().is_empty());
    evaluate_in_worker(
        page,
        "self.came = 0; self.gate = new Promise(open => self.open = open);
         const { read } = ReadableStreamBYOBReader.prototype;
         ReadableStreamBYOBReader.prototype.read = async function (view) {
             if (self.came > 8 << 20) await self.gate;
             const result = await read.call(this, view);
             self.came += result.value?.byteLength ?? 0;
             return result;
         }; 0",
    );
    page.drop_files(&[path]);
    page.wait_until("some bytes were read", || evaluate_in_worker(page, "self.came > 8 << 20") == true);
}

fn resume_reading(page: &Page) {
    evaluate_in_worker(page, "self.open(); 0");
}

fn evaluate_in_worker(page: &Page, script: &str) -> Value {
    page.evaluate_in(page.engine_workers().last().expect("the worker has started"), script)
}

/// Truncates a file that a page has open.
fn truncate(path: &Path, length: u64) {
    let file = OpenOptions::new().write(true).open(path).expect("it was just written");
    file.set_len(length).expect("a file can be cut");
}

#[track_caller]
fn wait_for_error(page: &Page) {
    // The error is in a toast if a file was open before.
    let messages = || page.text("#error") + &page.text("#toast-text");
    page.wait_until("an error is shown", || !messages().is_empty());
    let error = messages();
    assert!(error.contains("changed") || error.contains("cut off"), "{error:?}");
}
