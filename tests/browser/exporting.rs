//! The dialog's files for other tools: saved by mouse and by keyboard, read again, and their bytes held against what the page shows.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, LOWER, UPPER, halves};
use crate::opening::shows_halves;
use crate::page::Page;
use crate::pictures::{keep, settled};
use crate::site::Site;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// What the small blocks of the file have.
const SMALL: u64 = 1 << 20;

fn drawn(width: u32, scheme: &str) -> Page {
    let page = Page::blank(Chromium::with(Adapter::Missing));
    page.save_downloads_in(&fixtures::folder());
    page.resize(width, 800);
    page.prefer_color_scheme(scheme);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    settled(&page);
    page
}

/// Does something in the dialog that saves a file, and waits for it.
#[track_caller]
fn saved(page: &Page, name: &str, how: impl FnOnce()) -> PathBuf {
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

/// Chooses of a list in the dialog.
fn choose(page: &Page, list: &str, label: &str) {
    let script = "{ const list = document.querySelector('LIST');
        list.selectedIndex = [...list.options].findIndex(it => it.textContent.startsWith('LABEL'));
        list.dispatchEvent(new Event('change')); }";
    page.evaluate(&script.replace("LIST", list).replace("LABEL", label));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_click_writes_the_stacks_that_are_live() {
    let page = drawn(1280, "light");
    let path = saved(&page, "halves.collapsedstack.txt", || page.click("#export-collapsed"));
    let text = std::fs::read_to_string(path).expect("it was saved");
    let bytes: u64 = text.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    // The file opens at its peak.
    assert_eq!(bytes, LOWER + UPPER + SMALL, "{text}");
    assert!(text.lines().any(|line| line.contains("make_lower") && line.ends_with(&format!(" {LOWER}"))), "{text}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_write_a_table_of_allocations() {
    let page = drawn(1280, "dark");
    let path = saved(&page, "halves-allocations.jsonl", || {
        keep(&page, "export-other-tools-dark");
        page.press("j");
    });
    let text = std::fs::read_to_string(path).expect("it was saved");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    let kept = rows.iter().filter(|row| row["freed_at"].is_null()).filter_map(|row| row["requested_bytes"].as_u64());
    assert_eq!(kept.sum::<u64>(), LOWER + UPPER);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_peak_becomes_a_smaller_snapshot() {
    let page = drawn(600, "light");
    // One more than the peak has before it: the dialog says which events they are.
    let path = saved(&page, "halves-0-121.pickle", || {
        choose(&page, "#export-range", "Around the peak");
        keep(&page, "export-other-tools-600");
        page.press("n");
    });
    let summary = Command::new(env!("CARGO_BIN_EXE_memscape")).args(["summary", "--json"]).arg(path).output();
    let summary: Value = serde_json::from_slice(&summary.expect("it runs").stdout).expect("JSON");
    assert_eq!(summary[0]["devices"][0]["peak_requested"], LOWER + UPPER + SMALL, "{summary}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
