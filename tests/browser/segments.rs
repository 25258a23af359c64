//! Segments view: sums compared with `expected.json`, blocks selected by pointer and keys, and the view while the
//! cursor is dragged.

use crate::appearance::{open_with_scheme, scrolls_sideways};
use crate::chromium::Adapter;
use crate::corpus::real_files;
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::{Picture, save_screenshot};
use crate::{fixtures, generate};
use std::path::{Path, PathBuf};

pub(crate) fn generate_file(name: &str, words: &str) -> PathBuf {
    let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    fixtures::write_file(name, &bytes)
}

/// Opens the file in the page and shows this tab.
pub(crate) fn open_tab(page: &Page, file: &Path, tab: &str) {
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.click(tab);
}

/// Number in an attribute of `#segments`.
fn state_attr(page: &Page, name: &str) -> u64 {
    page.attribute("#segments", name).and_then(|it| it.parse().ok()).unwrap_or(u64::MAX)
}

fn frames(page: &Page) -> u64 {
    page.attribute("#segments-canvas", "data-frames").and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn wait_for_moment(page: &Page, moment: u64) {
    page.wait_until("the segments at the cursor are shown", || state_attr(page, "data-moment") == moment);
}

fn reading(page: &Page) -> String {
    page.text("#segments-reading")
}

fn focus_element(page: &Page, id: &str) {
    page.evaluate(&format!("document.getElementById('{id}').focus()"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn segments_at_peak_and_end_match_reference() {
    let Some(files) = real_files() else { return };
    let page = open_empty_page();
    for file in files.iter().filter(|file| file.devices.len() == 1 && file.devices[0]["segments"] != 0).take(12) {
        println!("{}", file.path.display());
        let device = &file.devices[0];
        let number = |name: &str| device[name].as_u64().unwrap_or(0);
        open_tab(&page, &file.path, "#tab-segments");
        let peak = device["peak_event"].as_i64().unwrap_or(-1) + 1;
        wait_for_moment(&page, peak as u64);
        // Bytes outside all recorded segments are counted separately.
        let requested = || state_attr(&page, "data-requested").saturating_add(state_attr(&page, "data-astray"));
        page.wait_for(&number("peak_requested"), requested);
        page.click("#at-end");
        wait_for_moment(&page, number("events"));
        let end = ["data-reserved", "data-segments"].map(|name| state_attr(&page, name));
        assert_eq!(end, [number("reserved_end"), number("segments")]);
        assert_eq!(requested(), number("end_requested"));
        assert_eq!(
            state_attr(&page, "data-free"),
            state_attr(&page, "data-reserved").saturating_sub(state_attr(&page, "data-rounded"))
        );
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_select_block_and_zoom() {
    let page = open_empty_page();
    page.drop_files(&[&generate_file("memory-keys.pickle", "--steps 2 --layers 4 --pending")]);
    page.wait_for_state("ready");
    focus_element(&page, "timeline");
    page.press_with("M", SHIFT);
    page.wait_for(&"segments-canvas".into(), || page.evaluate("document.activeElement.id"));
    let peak: u64 =
        page.attribute("#summary", "data-peak-requested").and_then(|it| it.parse().ok()).expect("the peak is a number");
    page.wait_for(&peak, || state_attr(&page, "data-requested"));
    page.press("Home");
    // Dots are placeholders for values that have not arrived yet.
    let is_told = || !reading(&page).contains(" … ");
    page.wait_until("the first block is described", || reading(&page).contains("Segment of") && is_told());
    let first = reading(&page);
    page.press("ArrowRight");
    page.wait_until("another block is described", || reading(&page) != first);
    page.press("ArrowDown");
    page.press("End");
    page.press("Home");
    page.wait_until("the first block is described again", || reading(&page) == first);
    // Moves to a live block, which Enter selects.
    for _ in 0..40 {
        let before = reading(&page);
        if before.contains("requested ·") {
            break;
        }
        page.press("ArrowRight");
        page.wait_until("the next block is described", || reading(&page) != before && is_told());
    }
    page.press("Enter");
    page.wait_until("an allocation is selected", || page.attribute("#details", "data-size").is_some());
    let size: u64 =
        page.attribute("#details", "data-size").and_then(|it| it.parse().ok()).expect("the size is a number");
    page.wait_until("the allocation of the block is selected", || {
        reading(&page).contains(&memscape::units::group_digits(size))
    });
    // The active block stays in view when zooming.
    let drawn = frames(&page);
    for _ in 0..4 {
        page.press("+");
    }
    page.wait_until("the plot is drawn again", || frames(&page) > drawn);
    page.wait_for(&Some("false".to_owned()), || page.attribute("#segments-fit", "aria-pressed"));
    page.press("0");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#segments-fit", "aria-pressed"));
    // Steps through events.
    let moment = state_attr(&page, "data-moment");
    page.press_with("ArrowLeft", SHIFT);
    wait_for_moment(&page, moment - 1);
    page.press_with("ArrowRight", SHIFT);
    wait_for_moment(&page, moment);
    page.press("s");
    page.wait_for(&1.into(), || page.evaluate("document.getElementById('segments-sort').selectedIndex"));
    page.press("r");
    page.wait_for(&"segments-request".into(), || page.evaluate("document.activeElement.id"));
    for letter in "24 MiB".chars() {
        page.press(&letter.to_string());
    }
    page.wait_until("the result for 24 MiB is shown", || page.text("#segments-fits").contains("24.0 MiB"));
    page.press_enter();
    page.wait_for(&"segments-canvas".into(), || page.evaluate("document.activeElement.id"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn segments_follow_dragged_cursor() {
    let page = open_empty_page();
    open_tab(&page, &generate_file("memory-scrub.pickle", "--steps 3 --layers 6 --expandable"), "#tab-segments");
    page.wait_until("the plot is drawn", || frames(&page) > 0);
    page.click("#at-end");
    let events: u64 =
        page.attribute("#summary", "data-events").and_then(|it| it.parse().ok()).expect("the number of events");
    wait_for_moment(&page, events);
    let strip = page.bounding_box("#axis-strip");
    let drawn = frames(&page);
    let place = |across: f64| (strip.at(across, 0.5).0, strip.at(0.5, 0.8).1);
    let (from, y) = place(0.999);
    page.start_drag((from - 1.0, y), place(0.7), 0);
    page.wait_until("the segments follow the cursor", || {
        state_attr(&page, "data-moment") < events && frames(&page) > drawn
    });
    let (moment, drawn) = (state_attr(&page, "data-moment"), frames(&page));
    page.mouse_event("mouseMoved", place(0.5), "left", 0);
    page.wait_until("the segments follow further", || {
        state_attr(&page, "data-moment") < moment && frames(&page) > drawn
    });
    page.mouse_event("mouseReleased", place(0.5), "left", 0);
    let at = || page.attribute("#moment", "data-event").and_then(|it| it.parse::<i64>().ok()).unwrap_or(-2);
    page.move_to(3.0, 3.0);
    page.wait_until("the segments are those at the cursor", || state_attr(&page, "data-moment") as i64 == at() + 1);
    let requested = page.attribute("#moment", "data-live-requested");
    page.wait_for(&requested, || page.attribute("#segments", "data-requested"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn card_follows_pointer_and_selection_of_other_views_is_shown() {
    let page = open_empty_page();
    open_tab(&page, &generate_file("memory-pointer.pickle", "--steps 2 --layers 4"), "#tab-segments");
    page.wait_until("the plot is drawn", || frames(&page) > 0);
    let card = || {
        page.evaluate(
            "document.getElementById('segments-card').hidden ? '' : document.getElementById('segments-card').innerText",
        )
    };
    let card = || card().as_str().unwrap_or_default().to_owned();
    let plot = page.bounding_box("#segments-plot");
    let (x, y) = (plot.left + 30.0, plot.top + 34.0);
    page.move_to(x, y);
    page.wait_until("the card shows the segment", || card().contains("egment of"));
    page.move_to(3.0, 3.0);
    page.wait_until("the card is hidden", || card().is_empty());
    // Selects the largest allocation in the table.
    page.click("#tab-table");
    page.wait_until("rows are listed", || page.evaluate("document.querySelectorAll('#table-rows > div').length") != 0);
    page.click("#table-rows [data-row='0']");
    page.wait_until("an allocation is selected", || page.attribute("#details", "data-size").is_some());
    let before = Picture::capture(&page, "canvas#timeline");
    let drawn = frames(&page);
    page.click("#tab-segments");
    page.wait_until("the plot shows the selection", || frames(&page) > drawn);
    assert!(before.colours > 1);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_segments_and_events_are_saved() {
    let files = real_files();
    let real = |name: &str| {
        files
            .as_ref()
            .and_then(|files| files.iter().find(|file| file.path.ends_with(name)).map(|file| file.path.clone()))
    };
    let all = [
        ("segments", real("train-fp32-1185-segments.pickle"), "light", 1280),
        ("ring", real("train-ring-buffer-wrapped.pickle"), "dark", 1280),
        (
            "expandable",
            Some(generate_file("memory-expandable.pickle", "--steps 2 --layers 6 --expandable --oom")),
            "light",
            1440,
        ),
        (
            "pools",
            Some(generate_file("memory-pools.pickle", "--steps 2 --layers 6 --private-pools --pending")),
            "dark",
            1280,
        ),
        ("narrow", Some(generate_file("memory-narrow.pickle", "--steps 2 --layers 4 --pending")), "light", 600),
    ];
    for (name, file, scheme, width) in all {
        let Some(file) = file else { continue };
        let page = open_with_scheme(scheme, Adapter::Missing);
        page.resize(width, 950);
        open_tab(&page, &file, "#tab-segments");
        page.evaluate("document.getElementById('segments').scrollIntoView({ block: 'center' })");
        page.wait_until("the plot is drawn", || frames(&page) > 0);
        page.wait_until_idle();
        save_screenshot(&page, &format!("memory-{name}-{scheme}-{width}"));
        focus_element(&page, "segments-canvas");
        for _ in 0..3 {
            page.press("+");
            page.wait_until_idle();
        }
        page.press("ArrowRight");
        page.press("ArrowRight");
        let plot = page.bounding_box("#segments-plot");
        page.move_to(plot.left + 120.0, plot.top + 36.0);
        page.evaluate("{ const field = document.getElementById('segments-request'); field.value = '300 MiB'; field.dispatchEvent(new Event('input')); }");
        page.wait_until_idle();
        save_screenshot(&page, &format!("memory-{name}-{scheme}-{width}-zoom"));
        assert!(!scrolls_sideways(&page), "{name}");
        page.click("#tab-events");
        page.wait_until("rows are listed", || {
            page.evaluate("document.querySelectorAll('#events-rows > div').length") != 0
        });
        page.move_to(3.0, 3.0);
        page.wait_until_idle();
        save_screenshot(&page, &format!("events-{name}-{scheme}-{width}"));
        assert!(!scrolls_sideways(&page), "{name}");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
