//! The screen as a new user meets it: how much room the plot has, how many controls stand above it, and in how many clicks the usual
//! questions are answered.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves};
use crate::memory::generated;
use crate::opening::shows_halves;
use crate::page::Page;
use crate::pictures::keep;
use crate::site::Site;
use serde_json::Value;
use std::path::Path;

/// The windows that people have.
const SIZES: [(u32, u32); 3] = [(1440, 900), (1280, 720), (1920, 1080)];

/// What of the header and the toolbar can be clicked or typed into, and is seen.
const CONTROLS: &str = "[...document.querySelectorAll('#bar :is(a, button, select, input), #tools :is(button, select)')] \
    .filter(it => it.checkVisibility() && it.id !== 'file' && it.getBoundingClientRect().width > 0).map(it => it.id)";

fn opened(file: &Path) -> Page {
    let page = Page::open(Chromium::with(Adapter::Missing), &Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page
}

fn pressed(page: &Page, control: &str) -> bool {
    page.attribute(control, "aria-pressed").as_deref() == Some("true")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_plot_has_the_room() {
    let page = opened(&halves());
    for (width, height) in SIZES {
        page.resize(width, height);
        page.wait_until("the header is one row of 44 px", || page.corners("#bar").height.round() == 44.0);
        let plot = page.corners("canvas#timeline").height;
        assert!(plot >= 0.45 * f64::from(height), "{plot} of {height} px at {width} × {height}");
        let controls = page.evaluate(CONTROLS);
        assert!(controls.as_array().is_some_and(|all| (5..=14).contains(&all.len())), "{controls}");
        let sideways = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        assert_eq!(page.evaluate(sideways), false, "nothing is wider than the window");
        let scrolls = "document.documentElement.scrollHeight > document.documentElement.clientHeight";
        assert_eq!(page.evaluate(scrolls), false, "nor higher");
        keep(&page, &format!("screen-{width}x{height}"));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn why_it_ran_out_of_memory_takes_no_click() {
    let page = opened(&generated("screen-oom.pickle", "--steps 2 --layers 4 --oom"));
    page.wait_for(&Some("true".to_owned()), || page.attribute("#tab-why", "aria-selected"));
    page.wait_for(&Some("oom".to_owned()), || page.attribute("#why-report", "data-topic"));
    page.wait_until("it says why", || !page.text("#why-statements").is_empty());
    // The event is in the list of all events.
    let event = "[...document.querySelectorAll('#headlines button')].map(it => it.dataset.place)";
    assert_eq!(page.evaluate(event), serde_json::json!(["peak", "reserved-peak", "end", "oom"]));
    let cursor = page.attribute("#moment", "data-event");
    page.click("#headlines .peak");
    page.wait_for(&page.attribute("#summary", "data-peak-event"), || page.attribute("#moment", "data-event"));
    page.click("#headlines .oom");
    page.wait_for(&cursor, || page.attribute("#moment", "data-event"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn own_frames_are_seen_after_one_click() {
    let page = opened(&halves());
    shows_halves(&page);
    for (width, height) in [(1440, 900), (1280, 720)] {
        page.resize(width, height);
        let (x, y) = page.corners("canvas#timeline").at(0.6, 0.75);
        page.click_at(x, y);
        page.wait_for(&Some(fixtures::LOWER.to_string()), || page.attribute("#details", "data-size"));
        page.wait_for(&Some("true".to_owned()), || page.attribute("#side-selection", "aria-selected"));
        let frame = page.corners("#frames .user");
        assert!(frame.height > 0.0 && frame.top + frame.height <= f64::from(height), "{frame:?} at {height} px");
        keep(&page, &format!("screen-selection-{width}x{height}"));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_scope_rules_all_views() {
    let page = opened(&halves());
    shows_halves(&page);
    page.click("#tab-table");
    let title = || page.text("#answer-title");
    page.wait_until("what is live at the peak", || title().contains("3 allocations"));
    let all = page.attribute("#summary", "data-allocations").expect("an exact number");
    page.click("#scope-trace");
    page.wait_until("the whole trace", || title().starts_with(&format!("{all} allocations")));
    page.wait_until("all of them are listed", || page.text("#table-status").contains(&format!("{all} allocations")));
    assert!(pressed(&page, "#scope-trace") && !pressed(&page, "#scope-cursor"));
    page.click("#scope-range");
    page.wait_until("the window is the range", || page.attribute("#range", "data-from").is_some());
    page.wait_until("what of it can be chosen", || page.corners("#scope").width > 0.0);
    page.click("#scope-cursor");
    page.wait_until("back at the cursor", || title().contains("3 allocations"));
    assert_eq!(page.evaluate("document.querySelector('#scope-field').hidden"), Value::Bool(true));
}
