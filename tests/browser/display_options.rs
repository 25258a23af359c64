//! Display options of the picture: order, colouring, axis, legend and minimap.

use crate::opening::open_empty_page;
use crate::page::Page;
use crate::screenshots::{Picture, settled_timeline};

/// Opens the leak sample and waits for its legend.
fn open_leak_sample() -> Page {
    let page = open_empty_page();
    page.click("#open-leak");
    page.wait_for_state("ready");
    page.wait_until("the legend is shown", || {
        page.evaluate("document.querySelectorAll('#legend li').length > 3") == true
    });
    // The leak gives Insights half of the height.
    page.wait_until("the alarm is raised", || page.is_shown("#alarm"));
    settled_timeline(&page);
    page
}

fn picture(page: &Page) -> Picture {
    Picture::capture(page, "canvas#timeline")
}

fn select_option(page: &Page, id: &str, value: &str) {
    let script = "{ const picker = document.getElementById('ID'); picker.value = 'VALUE'; picker.dispatchEvent(new Event('change')); }";
    page.evaluate(&script.replace("ID", id).replace("VALUE", value));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn orders_and_colourings_change_picture() {
    let page = open_leak_sample();
    // The sample may open grouped by category.
    settled_timeline(&page);
    select_option(&page, "stacking", "birth");
    select_option(&page, "colouring", "site");
    let mut seen = vec![settled_timeline(&page)];
    for (id, value) in [("stacking", "site"), ("stacking", "size"), ("colouring", "lifetime"), ("colouring", "size")] {
        select_option(&page, id, value);
        page.wait_until("the picture changed", || seen.iter().all(|before| picture(&page) != *before));
        seen.push(settled_timeline(&page));
    }
    select_option(&page, "stacking", "birth");
    select_option(&page, "colouring", "site");
    page.wait_until("the first picture is back", || picture(&page) == seen[0]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn switching_to_time_axis_changes_picture() {
    let page = open_leak_sample();
    let by_event = picture(&page);
    page.press("t");
    page.wait_for(&Some("true".into()), || page.attribute("#axis", "aria-pressed"));
    page.wait_until("the picture changed", || picture(&page) != by_event);
    page.press("t");
    page.wait_until("the first picture is back", || picture(&page) == by_event);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn legend_entries_fade_and_isolate_groups() {
    let page = open_leak_sample();
    let all = picture(&page);
    page.click("#legend .entry");
    page.wait_for(&Some("false".into()), || page.attribute("#legend .entry", "aria-pressed"));
    page.wait_until("the picture changed", || picture(&page) != all);
    page.click("#legend .entry");
    page.wait_until("the first picture is back", || picture(&page) == all);
    page.click("#legend .only");
    page.wait_until("all others are faded", || {
        page.evaluate("document.querySelectorAll('#legend .entry[aria-pressed=true]').length === 1") == true
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn minimap_drag_moves_window() {
    let page = open_leak_sample();
    let whole = picture(&page);
    let corners = page.bounding_box("canvas#minimap");
    let (edge, y) = corners.at(0.999, 0.5);
    let (middle, _) = corners.at(0.4, 0.5);
    let send = |kind: &str, x: f64| {
        let at = format!("{{ clientX: {x}, clientY: {y}, pointerId: 1, bubbles: true }}");
        page.evaluate(&format!("document.getElementById('minimap').dispatchEvent(new PointerEvent('{kind}', {at}))"));
    };
    send("pointerdown", edge);
    send("pointermove", middle);
    send("pointerup", middle);
    page.wait_until("the picture changed", || picture(&page) != whole);
    page.press("0");
    page.wait_until("the whole picture is back", || picture(&page) == whole);
}
