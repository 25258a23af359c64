//! Files in Firefox and WebKitGTK: numbers of real snapshots, saved pages, and the page opened from the disk.

use crate::corpus::real_files;
use crate::fixtures::{self, halves};
use crate::page::{Page, SUMMARY_KEYS};
use crate::site::Site;
use crate::zip::zip_of;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn real_files_show_expected_summaries(page: &Page) {
    for file in real_files().unwrap_or_default() {
        // A new document, so that no number can be left over from the previous file.
        page.open_empty();
        page.choose_file(&file.path);
        page.wait_until("the file is open", || {
            assert_ne!(page.state(), "error", "{}: {}", file.path.display(), page.text("#error"));
            page.state() == "ready"
        });
        let mut expected: Vec<String> = file.devices.iter().map(|device| device["device"].to_string()).collect();
        expected.sort();
        let initial_range = "[...document.querySelectorAll('select#device option')].map(option => option.value).sort()";
        page.wait_for(&json!(expected), || page.evaluate(initial_range));
        for device in &file.devices {
            println!("{}, device {}", file.path.display(), device["device"]);
            let choose = "const picker = document.querySelector('select#device'); picker.value = arguments[0]; \
                          picker.dispatchEvent(new Event('change', { bubbles: true }))";
            page.run(choose, &Value::from(device["device"].to_string()));
            page.wait_for(&SUMMARY_KEYS.map(|(_, field)| device[field].to_string()), || page.summary());
        }
    }
}

/// Saves the open snapshot as HTML with keys, and waits for the file.
#[track_caller]
fn save_html(page: &Page, name: &str) -> PathBuf {
    page.remove_download(name);
    page.focus("timeline");
    page.press(&['i']);
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    page.press(&['h']);
    page.wait_until("the result is reported", || {
        let status = page.text("#status");
        status.starts_with("Saved") || status.contains("could not")
    });
    assert!(page.text("#status").starts_with(&format!("Saved {name}: ")), "{}", page.text("#status"));
    page.wait_for_download(name, b"</html>")
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

pub(crate) fn saved_page_opens_from_disk(page: &Page) {
    page.open_file(&halves());
    page.wait_for_halves();
    let path = save_html(page, "halves.html");
    page.open(&file_url(&path));
    page.wait_for_halves();
}

pub(crate) fn page_from_disk_opens_and_saves_files(page: &Page) {
    let viewer = crate::site::dist().join("memscape.html");
    page.open(&file_url(&viewer));
    page.wait_until_started();
    page.choose_file(&halves());
    page.wait_for_halves();
    // The link contains the fingerprint, so the file could be read for that too.
    page.wait_until("the file has a fingerprint", || page.evaluate("location.hash").to_string().contains("print="));
    let path = save_html(page, "halves.html");
    page.open(&file_url(&path));
    page.wait_for_halves();
}

/// Checks random access to an archive, chosen and linked, for which the worker creates its own blobs.
pub(crate) fn page_from_disk_opens_archives(page: &Page) {
    let bytes = std::fs::read(halves()).expect("just written");
    let archive =
        fixtures::write_file("halves.zip", &zip_of(&[("run/README.md", b"words"), ("run/halves.pickle", &bytes)]));
    let viewer = crate::site::dist().join("memscape.html");
    page.open(&file_url(&viewer));
    page.wait_until_started();
    page.choose_file(&archive);
    page.wait_for_halves();
    page.open(&format!("{}#url={}/open/halves.zip", file_url(&viewer), Site::shared().other_origin));
    page.wait_for_halves();
}
