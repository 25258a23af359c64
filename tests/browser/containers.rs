//! Containers: the same snapshot shows the same numbers in every file format, and archives and folders list their
//! snapshots.

use crate::fixtures::{self, halves, halves_summary, halves_value};
use crate::opening::{open_empty_page, summary_values, wait_for_halves};
use crate::packed::{gzip, html, zstd};
use crate::page::Page;
use crate::reencoded::Tree;
use crate::screenshots::save_drawn_screenshot;
use crate::site::Site;
use crate::snapviewer;
use crate::zip::zip_of;
use serde_json::{Value, json};
use std::path::PathBuf;

fn halves_bytes() -> Vec<u8> {
    std::fs::read(halves()).expect("just written")
}

/// Bytes and expected summary of another snapshot, with one allocation of 4096 bytes.
fn single_allocation() -> (Vec<u8>, [String; 5]) {
    let event = json!({"action": "alloc", "addr": 4096, "size": 4096, "stream": 0, "time_us": 1, "frames": []});
    let value = json!({"segments": [], "device_traces": [[event, {"action": "free_completed", "addr": 4096, "size": 4096, "stream": 0, "time_us": 2, "frames": []}]]});
    let bytes = serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).expect("plain data");
    (bytes, ["4096", "0", "0", "2", "1"].map(str::to_owned))
}

/// Options of `select#snapshot`; empty while it is hidden.
fn listed_snapshots(page: &Page) -> Vec<String> {
    let lines = page.evaluate(
        "document.querySelector('#snapshot').checkVisibility() \
         ? [...document.querySelectorAll('#snapshot option')].map(option => option.textContent) : []",
    );
    serde_json::from_value(lines).expect("a list of strings")
}

/// Picks an option of `select#snapshot` by its index.
pub(crate) fn pick_snapshot(page: &Page, place: usize) {
    page.evaluate(&format!(
        "{{ const picker = document.querySelector('#snapshot'); picker.selectedIndex = {place}; \
         picker.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
    ));
}

#[track_caller]
fn wait_for_summary(page: &Page, numbers: &[String; 5]) {
    page.wait_for_state("ready");
    page.wait_for(numbers, || summary_values(page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_in_any_container_shows_same_summary_as_plain_file() {
    let plain = halves_bytes();
    let value = halves_value();
    let middle = plain.len() / 2;
    let two_members = [gzip(&plain[..middle]), gzip(&plain[middle..])].concat();
    let tree = Tree::from_pickle(&plain);
    let containers = [
        ("protocol-0.pickle", tree.protocol_0()),
        ("protocol-1.pickle", tree.protocol_1()),
        ("compact.json", serde_json::to_vec(&value).expect("plain data")),
        ("indented.json", serde_json::to_vec_pretty(&value).expect("plain data")),
        ("one.gz", gzip(&plain)),
        ("two-members.gz", two_members),
        ("one.zst", zstd(&plain)),
        ("trace_plot.html", html(&plain)),
        ("one.zip", zip_of(&[("run/README.md", b"# What this is, in words"), ("run/snapshot.pickle", &plain)])),
        ("gzip-in-it.zip", zip_of(&[("snapshot.pickle.gz", &gzip(&plain))])),
        ("json-in-it.zip", zip_of(&[("snapshot.json", &serde_json::to_vec(&value).expect("plain data"))])),
        ("zstd-in-it.zip", zip_of(&[("snapshot.pickle.zst", &zstd(&plain))])),
    ];
    for (name, bytes) in containers {
        println!("{name}");
        let page = open_empty_page();
        page.drop_files(&[&fixtures::write_file(name, &bytes)]);
        wait_for_halves(&page);
        assert_eq!(listed_snapshots(&page), Vec::<String>::new(), "a single snapshot is listed");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn snapshots_of_zip_can_be_chosen() {
    let (single, numbers) = single_allocation();
    let long = format!("{}/rank-0/snapshot-after-the-first-optimizer-step.pickle", "experiments/2026-11-21".repeat(5));
    let archive =
        zip_of(&[(&long, &halves_bytes()), ("rank-1/snapshot.pickle", &single), ("notes.txt", b"nothing in here")]);
    let page = open_empty_page();
    page.drop_files(&[&fixtures::write_file("ranks.zip", &archive)]);
    wait_for_halves(&page);
    let lines = listed_snapshots(&page);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with(&format!("{long} · ")), "{lines:?}");
    assert_eq!(page.attribute("#snapshot", "title"), Some(format!("ranks.zip › {long}")));
    save_drawn_screenshot(&page, "zip with several");
    page.prefer_color_scheme("dark");
    page.resize(600, 800);
    save_drawn_screenshot(&page, "zip with several, 600");
    page.resize(420, 800);
    save_drawn_screenshot(&page, "zip with several, narrow");
    let overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(overflow, 0, "the long name makes the page wider than the window");
    page.resize(1280, 800);
    pick_snapshot(&page, 1);
    wait_for_summary(&page, &numbers);
    assert_eq!(listed_snapshots(&page), lines);
    pick_snapshot(&page, 0);
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn several_files_are_listed_and_can_be_chosen() {
    let (single, numbers) = single_allocation();
    let files = [
        fixtures::write_file("loss.png", b"\x89PNG\r\n\x1a\n"),
        fixtures::write_file("a-single.pickle", &single),
        halves(),
        fixtures::write_file("train.log", b"step 1"),
    ];
    let files: Vec<_> = files.iter().map(PathBuf::as_path).collect();
    for way in ["drop", "choose"] {
        let page = open_empty_page();
        match way {
            "drop" => page.drop_files(&files),
            _ => page.choose_files("input#file", &files),
        }
        wait_for_summary(&page, &numbers);
        let lines = listed_snapshots(&page);
        let names: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["a-single.pickle", "halves.pickle"], "{way}");
        pick_snapshot(&page, 1);
        wait_for_halves(&page);
    }
    let page = open_empty_page();
    page.drop_files(&[files[0], files[3]]);
    page.wait_for_state("error");
    assert_eq!(page.text("#error"), "None of these files is a snapshot: loss.png and 1 more.");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn dropped_folder_lists_its_snapshots() {
    let folder = fixtures::folder().join("run 7");
    std::fs::create_dir_all(folder.join("deeper")).expect("target/tmp can be written");
    let (single, numbers) = single_allocation();
    for (name, bytes) in [
        ("trace_plot.html", html(&halves_bytes())),
        ("snapshot.pickle", halves_bytes()),
        ("train.py", b"import torch".to_vec()),
        ("deeper/single.pickle", single),
    ] {
        std::fs::write(folder.join(name), bytes).expect("target/tmp can be written");
    }
    let page = open_empty_page();
    page.drop_files(&[&folder]);
    wait_for_halves(&page);
    let lines = listed_snapshots(&page);
    let names: Vec<&str> = lines.iter().filter_map(|line| line.split(" · ").next()).collect();
    assert_eq!(names, ["snapshot.pickle", "deeper/single.pickle", "trace_plot.html"]);
    assert_eq!(page.attribute("#snapshot", "title").as_deref(), Some("run 7/snapshot.pickle"));
    save_drawn_screenshot(&page, "folder");
    pick_snapshot(&page, 1);
    wait_for_summary(&page, &numbers);
    pick_snapshot(&page, 2);
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn snapviewer_archive_opens() {
    let mut value = halves_value();
    let events = value["device_traces"][0].as_array_mut().map(std::mem::take).unwrap_or_default();
    let events: Vec<Value> = events.into_iter().filter(|event| event["action"] != "free_requested").collect();
    let drawn = snapviewer::export(&events);
    let archive = zip_of(&[("allocations.json", &drawn.allocations), ("elements.json", &drawn.elements)]);
    let page = open_empty_page();
    page.drop_files(&[&fixtures::write_file("snapviewer.zip", &archive)]);
    let [_, peak_event, _, _, allocations] = halves_summary();
    let numbers = [drawn.peak.to_string(), peak_event, "0".to_owned(), events.len().to_string(), allocations];
    wait_for_summary(&page, &numbers);
    save_drawn_screenshot(&page, "SnapViewer");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn links_to_archive_and_to_compressed_response_open() {
    let site = Site::shared();
    let (single, numbers) = single_allocation();
    let archive = zip_of(&[("halves.pickle", &halves_bytes()), ("single.pickle", &single)]);
    fixtures::write_file("linked.zip", &archive);
    fixtures::write_file("coded.pickle", &gzip(&halves_bytes()));
    let page = Page::open(
        crate::chromium::Chromium::shared(crate::chromium::Adapter::Missing),
        &site.page_with_link("../snapshots/linked.zip"),
    );
    wait_for_halves(&page);
    assert_eq!(listed_snapshots(&page).len(), 2);
    pick_snapshot(&page, 1);
    wait_for_summary(&page, &numbers);
    page.navigate("about:blank");
    page.navigate(&site.page_with_link("../coded/coded.pickle"));
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}
