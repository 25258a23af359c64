//! Segments view: sums compared with `expected.json`, blocks selected by pointer and keys, and the view while the
//! cursor is dragged.

use crate::chromium::Adapter;
use crate::corpus::real_files;
use crate::looks::{page_in, scrolls_sideways};
use crate::opening::empty_page;
use crate::page::{Page, SHIFT};
use crate::pictures::{Picture, keep};
use crate::{fixtures, generate};
use std::path::{Path, PathBuf};

pub(crate) fn generated(name: &str, words: &str) -> PathBuf {
    let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    fixtures::file(name, &bytes)
}

/// Opens the file in the page and shows this tab.
pub(crate) fn opened(page: &Page, file: &Path, tab: &str) {
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.click(tab);
}

/// Number in an attribute of `#state`.
fn told(page: &Page, name: &str) -> u64 {
    page.attribute("#state", name).and_then(|it| it.parse().ok()).unwrap_or(u64::MAX)
}

fn frames(page: &Page) -> u64 {
    page.attribute("#memory-canvas", "data-frames").and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn shown_at(page: &Page, moment: u64) {
    page.wait_until("the segments at the cursor are shown", || told(page, "data-moment") == moment);
}

fn reading(page: &Page) -> String {
    page.text("#memory-reading")
}

fn focus(page: &Page, id: &str) {
    page.evaluate(&format!("document.getElementById('{id}').focus()"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn segments_at_peak_and_end_match_reference() {
    let Some(files) = real_files() else { return };
    let page = empty_page();
    for file in files.iter().filter(|file| file.devices.len() == 1 && file.devices[0]["segments"] != 0).take(12) {
        println!("{}", file.path.display());
        let device = &file.devices[0];
        let number = |name: &str| device[name].as_u64().unwrap_or(0);
        opened(&page, &file.path, "#tab-state");
        let peak = device["peak_event"].as_i64().unwrap_or(-1) + 1;
        shown_at(&page, peak as u64);
        // Bytes outside all recorded segments are counted separately.
        let requested = || told(&page, "data-requested").saturating_add(told(&page, "data-astray"));
        page.wait_for(&number("peak_requested"), requested);
        page.click("#at-end");
        shown_at(&page, number("events"));
        let end = ["data-reserved", "data-segments"].map(|name| told(&page, name));
        assert_eq!(end, [number("reserved_end"), number("segments")]);
        assert_eq!(requested(), number("end_requested"));
        assert_eq!(told(&page, "data-free"), told(&page, "data-reserved").saturating_sub(told(&page, "data-rounded")));
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_select_block_and_zoom() {
    let page = empty_page();
    page.drop_files(&[&generated("memory-keys.pickle", "--steps 2 --layers 4 --pending")]);
    page.wait_for_state("ready");
    focus(&page, "timeline");
    page.press_held("M", SHIFT);
    page.wait_for(&"memory-canvas".into(), || page.evaluate("document.activeElement.id"));
    let peak: u64 =
        page.attribute("#summary", "data-peak-requested").and_then(|it| it.parse().ok()).expect("the peak is a number");
    page.wait_for(&peak, || told(&page, "data-requested"));
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
        reading(&page).contains(&memscape::units::grouped(size))
    });
    // The active block stays in view when zooming.
    let drawn = frames(&page);
    for _ in 0..4 {
        page.press("+");
    }
    page.wait_until("the plot is drawn again", || frames(&page) > drawn);
    page.wait_for(&Some("false".to_owned()), || page.attribute("#memory-fit", "aria-pressed"));
    page.press("0");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#memory-fit", "aria-pressed"));
    // Steps through events.
    let moment = told(&page, "data-moment");
    page.press_held("ArrowLeft", SHIFT);
    shown_at(&page, moment - 1);
    page.press_held("ArrowRight", SHIFT);
    shown_at(&page, moment);
    page.press("s");
    page.wait_for(&1.into(), || page.evaluate("document.getElementById('memory-sort').selectedIndex"));
    page.press("r");
    page.wait_for(&"memory-request".into(), || page.evaluate("document.activeElement.id"));
    for letter in "24 MiB".chars() {
        page.press(&letter.to_string());
    }
    page.wait_until("the result for 24 MiB is shown", || page.text("#memory-fits").contains("24.0 MiB"));
    page.press_enter();
    page.wait_for(&"memory-canvas".into(), || page.evaluate("document.activeElement.id"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn segments_follow_dragged_cursor() {
    let page = empty_page();
    opened(&page, &generated("memory-scrub.pickle", "--steps 3 --layers 6 --expandable"), "#tab-state");
    page.wait_until("the plot is drawn", || frames(&page) > 0);
    page.click("#at-end");
    let events: u64 =
        page.attribute("#summary", "data-events").and_then(|it| it.parse().ok()).expect("the number of events");
    shown_at(&page, events);
    let strip = page.corners("#axis-strip");
    let drawn = frames(&page);
    let place = |across: f64| (strip.at(across, 0.5).0, strip.at(0.5, 0.8).1);
    let (from, y) = place(0.999);
    page.begin_drag((from - 1.0, y), place(0.7), 0);
    page.wait_until("the segments follow the cursor", || told(&page, "data-moment") < events && frames(&page) > drawn);
    let (moment, drawn) = (told(&page, "data-moment"), frames(&page));
    page.mouse("mouseMoved", place(0.5), "left", 0);
    page.wait_until("the segments follow further", || told(&page, "data-moment") < moment && frames(&page) > drawn);
    page.mouse("mouseReleased", place(0.5), "left", 0);
    let at = || page.attribute("#moment", "data-event").and_then(|it| it.parse::<i64>().ok()).unwrap_or(-2);
    page.move_to(3.0, 3.0);
    page.wait_until("the segments are those at the cursor", || told(&page, "data-moment") as i64 == at() + 1);
    let requested = page.attribute("#moment", "data-live-requested");
    page.wait_for(&requested, || page.attribute("#state", "data-requested"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn card_follows_pointer_and_selection_of_other_views_is_shown() {
    let page = empty_page();
    opened(&page, &generated("memory-pointer.pickle", "--steps 2 --layers 4"), "#tab-state");
    page.wait_until("the plot is drawn", || frames(&page) > 0);
    let card = || {
        page.evaluate(
            "document.getElementById('memory-card').hidden ? '' : document.getElementById('memory-card').innerText",
        )
    };
    let card = || card().as_str().unwrap_or_default().to_owned();
    let plot = page.corners("#memory-plot");
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
    let before = Picture::of(&page, "canvas#timeline");
    let drawn = frames(&page);
    page.click("#tab-state");
    page.wait_until("the plot shows the selection", || frames(&page) > drawn);
    assert!(before.colours > 1);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_segments_and_events() {
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
            Some(generated("memory-expandable.pickle", "--steps 2 --layers 6 --expandable --oom")),
            "light",
            1440,
        ),
        (
            "pools",
            Some(generated("memory-pools.pickle", "--steps 2 --layers 6 --private-pools --pending")),
            "dark",
            1280,
        ),
        ("narrow", Some(generated("memory-narrow.pickle", "--steps 2 --layers 4 --pending")), "light", 600),
    ];
    for (name, file, scheme, width) in all {
        let Some(file) = file else { continue };
        let page = page_in(scheme, Adapter::Software);
        page.resize(width, 950);
        opened(&page, &file, "#tab-state");
        page.evaluate("document.getElementById('state').scrollIntoView({ block: 'center' })");
        page.wait_until("the plot is drawn", || frames(&page) > 0);
        page.wait_until_idle();
        keep(&page, &format!("memory-{name}-{scheme}-{width}"));
        focus(&page, "memory-canvas");
        for _ in 0..3 {
            page.press("+");
            page.wait_until_idle();
        }
        page.press("ArrowRight");
        page.press("ArrowRight");
        let plot = page.corners("#memory-plot");
        page.move_to(plot.left + 120.0, plot.top + 36.0);
        page.evaluate("{ const field = document.getElementById('memory-request'); field.value = '300 MiB'; field.dispatchEvent(new Event('input')); }");
        page.wait_until_idle();
        keep(&page, &format!("memory-{name}-{scheme}-{width}-zoom"));
        assert!(!scrolls_sideways(&page), "{name}");
        page.click("#tab-events");
        page.wait_until("rows are listed", || {
            page.evaluate("document.querySelectorAll('#events-rows > div').length") != 0
        });
        page.move_to(3.0, 3.0);
        page.wait_until_idle();
        keep(&page, &format!("events-{name}-{scheme}-{width}"));
        assert!(!scrolls_sideways(&page), "{name}");
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
