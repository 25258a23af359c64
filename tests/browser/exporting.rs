//! Exports for other tools from the export dialog, with mouse and keyboard: files are read back and compared with the
//! page's numbers.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, LOWER_BYTES, UPPER_BYTES, halves};
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::saved::viewer_url;
use crate::screenshots::{save_screenshot, settled_timeline};
use crate::site::Site;
use crate::sql::{has_sql, sqlite_dump};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Requested bytes of a small block of [`halves`].
const SMALL_BYTES: u64 = 1 << 20;

fn open_halves(width: u32, scheme: &str) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.save_downloads_in(&fixtures::folder());
    page.resize(width, 800);
    page.prefer_color_scheme(scheme);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    settled_timeline(&page);
    page
}

/// Opens the export dialog, runs `how`, which saves a file, and waits for the file.
#[track_caller]
fn save_from_dialog(page: &Page, name: &str, how: impl FnOnce()) -> PathBuf {
    let path = fixtures::folder().join(name);
    let _ = std::fs::remove_file(&path);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("i");
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    how();
    page.wait_until(&format!("{name} is saved"), || {
        std::fs::metadata(&path).is_ok_and(|file| file.len() > 0) && page.text("#status") == format!("Saved {name}.")
    });
    path
}

/// Selects the first option of a `<select>` whose label starts with `label`.
fn choose(page: &Page, list: &str, label: &str) {
    let script = "{ const list = document.querySelector('LIST');
        list.selectedIndex = [...list.options].findIndex(it => it.textContent.startsWith('LABEL'));
        list.dispatchEvent(new Event('change')); }";
    page.evaluate(&script.replace("LIST", list).replace("LABEL", label));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn export_button_writes_live_stacks() {
    let page = open_halves(1280, "light");
    let path = save_from_dialog(&page, "halves.collapsedstack.txt", || page.click("#export-collapsed"));
    let text = std::fs::read_to_string(path).expect("the file was saved");
    let bytes: u64 = text.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    // The file opens at its peak.
    assert_eq!(bytes, LOWER_BYTES + UPPER_BYTES + SMALL_BYTES, "{text}");
    assert!(
        text.lines().any(|line| line.contains("make_lower") && line.ends_with(&format!(" {LOWER_BYTES}"))),
        "{text}"
    );
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn export_key_writes_allocation_table() {
    let page = open_halves(1280, "dark");
    let path = save_from_dialog(&page, "halves-allocations.jsonl", || {
        save_screenshot(&page, "export-other-tools-dark");
        page.press("j");
    });
    let text = std::fs::read_to_string(path).expect("the file was saved");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    let kept = rows.iter().filter(|row| row["freed_at"].is_null()).filter_map(|row| row["requested_bytes"].as_u64());
    assert_eq!(kept.sum::<u64>(), LOWER_BYTES + UPPER_BYTES);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn mindstudio_file_is_that_of_command_line() {
    if !has_sql() {
        return;
    }
    let page = open_halves(1280, "light");
    let of_page = save_from_dialog(&page, "memscope_dump_1.db", || {
        save_screenshot(&page, "export-mindstudio");
        page.press("m");
    });
    let of_command_line = fixtures::folder().join("mindstudio-command-line.db");
    let written = Command::new(env!("CARGO_BIN_EXE_memscape"))
        .args(["export", "--to", "mindstudio", "-o"])
        .args([&of_command_line, &halves()])
        .status();
    assert!(written.is_ok_and(|status| status.success()));
    // The page's SQLite has larger pages, so the statements that recreate the files are compared.
    let [of_page, of_command_line] = [of_page, of_command_line].map(|path| sqlite_dump(&path));
    assert!(of_page.contains("PTA@") && of_page.contains("make_lower"), "{of_page}");
    assert_eq!(of_page, of_command_line);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn mindstudio_export_of_page_without_sql_names_command() {
    let page = Page::open(Chromium::shared(Adapter::Missing), &viewer_url());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    settled_timeline(&page);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("i");
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    page.press("m");
    page.wait_until("the error is shown", || {
        page.text("#status").ends_with("does not have it. On the command line it is memscape export --to mindstudio.")
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn export_around_peak_writes_smaller_snapshot() {
    let page = open_halves(600, "light");
    // The dialog shows the range of events: one more than there are before the peak.
    let path = save_from_dialog(&page, "halves-0-121.pickle", || {
        choose(&page, "#export-range", "Around the peak");
        save_screenshot(&page, "export-other-tools-600");
        page.press("n");
    });
    let summary = Command::new(env!("CARGO_BIN_EXE_memscape")).args(["summary", "--json"]).arg(path).output();
    let summary: Value = serde_json::from_slice(&summary.expect("the command runs").stdout).expect("JSON");
    assert_eq!(summary[0]["devices"][0]["peak_requested"], LOWER_BYTES + UPPER_BYTES + SMALL_BYTES, "{summary}");
    assert_eq!(page.errors(), Vec::<String>::new());
}
