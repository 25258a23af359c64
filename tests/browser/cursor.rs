//! The cursor, a range of time, and the tabs and divider of the views below the timeline.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::{LOWER_BYTES, UPPER_BYTES};
use crate::interactions::{open_halves, point_at_event};
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::save_drawn_screenshot;
use crate::site::Site;

const MIB: u64 = 1 << 20;

/// Values of `#moment`: event, live bytes, allocated bytes, bytes awaiting free, number of live allocations.
fn cursor_values(page: &Page) -> [String; 5] {
    ["data-event", "data-live-requested", "data-allocated", "data-pending", "data-live-count"]
        .map(|name| page.attribute("#moment", name).unwrap_or_default())
}

#[track_caller]
fn wait_for_cursor(page: &Page, event: i64, requested: u64, pending: u64, count: u32) {
    let wanted = [event.to_string(), requested.to_string(), (requested - pending).to_string(), pending.to_string()];
    let [event, requested, allocated, pending] = wanted;
    page.wait_for(&[event, requested, allocated, pending, count.to_string()], || cursor_values(page));
}

/// Returns whether an element is visible. The text of a hidden element can be read too.
pub(crate) fn is_visible(page: &Page, selector: &str) -> bool {
    page.evaluate(&format!("document.querySelector({}).checkVisibility()", serde_json::Value::from(selector))) == true
}

/// Enters text into the field of the cursor.
pub(crate) fn type_cursor(page: &Page, text: &str) {
    page.evaluate(&format!("document.querySelector('#at').value = {}", serde_json::Value::from(text)));
    page.evaluate("document.querySelector('#at').focus()");
    page.press("Enter");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cursor_is_set_by_click_key_and_text() {
    let page = open_halves();
    page.move_to(2.0, 2.0);
    wait_for_cursor(&page, 2, LOWER_BYTES + UPPER_BYTES + MIB, 0, 3);
    page.wait_until("the title shows the peak", || page.text("#answer-title").contains("(peak)"));
    let (x, y) = point_at_event(&page, 51, 0.7);
    page.click_at(x, y);
    page.move_to(2.0, 2.0);
    // Event 51 requests the free of the small block, which then awaits free until event 52.
    wait_for_cursor(&page, 51, LOWER_BYTES + UPPER_BYTES + MIB, MIB, 3);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press_with("ArrowRight", SHIFT);
    let pending = [Some("52"), Some("53")];
    page.wait_until("keys move the cursor", || pending.contains(&page.attribute("#moment", "data-event").as_deref()));
    page.press("End");
    wait_for_cursor(&page, 121, LOWER_BYTES + UPPER_BYTES, 0, 2);
    page.press("p");
    wait_for_cursor(&page, 2, LOWER_BYTES + UPPER_BYTES + MIB, 0, 3);
    page.press("@");
    page.wait_until("the field has the focus", || page.evaluate("document.activeElement.id") == "at");
    type_cursor(&page, "1");
    wait_for_cursor(&page, 1, LOWER_BYTES + UPPER_BYTES, 0, 2);
    type_cursor(&page, "0.09 ms");
    page.wait_for(&Some("9".to_owned()), || page.attribute("#moment", "data-event"));
    type_cursor(&page, "999");
    page.wait_until("the error is shown", || page.text("#at-note").contains("121"));
    page.click("#at-end");
    wait_for_cursor(&page, 121, LOWER_BYTES + UPPER_BYTES, 0, 2);
    page.wait_for(&String::new(), || page.text("#at-note"));
    page.click("#at-peak");
    wait_for_cursor(&page, 2, LOWER_BYTES + UPPER_BYTES + MIB, 0, 3);
    // A click above the stack selects nothing but sets the cursor.
    page.click("#fit-both");
    let (x, y) = point_at_event(&page, 100, 0.01);
    page.move_to(x, y);
    page.wait_for(&Some("100".to_owned()), || page.attribute("#moment", "data-event"));
    page.click_at(x, y);
    page.move_to(2.0, 2.0);
    wait_for_cursor(&page, 100, LOWER_BYTES + UPPER_BYTES, 0, 2);
    page.wait_until("nothing is selected", || !is_visible(&page, "#details"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn range_is_dragged_on_axis_summarized_and_closed() {
    let page = open_halves();
    let place = |event: u64| {
        let (x, y) = point_at_event(&page, event, 1.0);
        (x, y + 8.0)
    };
    // From after event 50 to after event 80: events 51 to 80.
    page.drag(place(50), place(80), 0);
    let range = |name: &str| page.attribute("#range", name);
    page.wait_for(&Some("51".to_owned()), || range("data-from"));
    page.wait_for(&Some("81".to_owned()), || range("data-to"));
    page.wait_for(&Some((10 * MIB).to_string()), || range("data-allocated"));
    page.wait_for(&Some((10 * MIB).to_string()), || range("data-freed"));
    page.wait_for(&Some((LOWER_BYTES + UPPER_BYTES + MIB).to_string()), || range("data-peak"));
    page.wait_until("the title shows the range", || page.text("#answer-title").contains("51 – 80"));
    // The range starts at its peak: event 50 allocated a small block.
    page.click("#range-peak");
    wait_for_cursor(&page, 50, LOWER_BYTES + UPPER_BYTES + MIB, 0, 3);
    assert!(is_visible(&page, "#range"), "the range is kept");
    // The views show the allocations still live at the end of the range.
    page.evaluate("{ const list = document.querySelector('#scope'); list.selectedIndex = 2; list.dispatchEvent(new Event('change')) }");
    page.wait_until("one allocation is counted", || {
        page.text("#answer-title").ends_with("1.00 MiB requested in 1 allocation")
    });
    // Drags an edge of the range.
    page.drag(place(80), place(60), 0);
    page.wait_for(&Some("61".to_owned()), || range("data-to"));
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("Escape");
    page.wait_until("the range is closed", || !is_visible(&page, "#range"));
    // Drags the handle of the cursor, which is at event 50.
    page.drag(place(50), place(40), 0);
    page.wait_for(&Some("40".to_owned()), || page.attribute("#moment", "data-event"));
    assert!(!is_visible(&page, "#range"), "dragging the cursor selects no range");
    // Selects a range on the minimap.
    let small = page.bounding_box("#minimap");
    page.drag(small.at(0.25, 0.5), small.at(0.75, 0.5), SHIFT);
    page.wait_until("the range is selected", || page.text("#range").contains("Freed"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_switch_tabs_collapse_panel_and_move_divider() {
    let page = open_halves();
    let seen = || {
        page.evaluate("[...document.querySelectorAll('#answer > [role=tabpanel]')].filter(p => p.offsetParent).map(p => p.id).join()")
    };
    page.wait_for(&"insights".into(), seen);
    page.press_with("L", SHIFT);
    page.wait_until("the table is shown", || seen() == "table");
    page.evaluate("document.querySelector('#tab-allocations').focus()");
    page.press("ArrowRight");
    page.wait_until("the next tab is shown", || seen() == "segments");
    page.wait_for(&"tab-segments".into(), || page.evaluate("document.activeElement.id"));
    let height = || page.bounding_box_now("#answer").height;
    let before = height();
    page.evaluate("document.querySelector('#divider').focus()");
    page.press("ArrowUp");
    page.wait_until("the panel is higher", || height() > before);
    // Enough steps from the lowest to the highest position.
    (0..20).for_each(|_| page.press("ArrowUp"));
    page.wait_for(&Some("75".to_owned()), || page.attribute("#divider", "aria-valuenow"));
    let corners = page.bounding_box("#divider");
    let (x, y) = (corners.left + corners.width / 2.0, corners.top + corners.height / 2.0);
    page.wait_for(&"divider".into(), || page.evaluate(&format!("document.elementFromPoint({x}, {y}).id")));
    page.press_with("V", SHIFT);
    page.wait_until("the panel is collapsed", || seen() == "" && height() < 60.0);
    page.press_with("T", SHIFT);
    page.wait_until("the panel is open again", || seen() == "tree" && height() > 100.0);
    page.press("j");
    page.wait_until("the timeline has the focus", || page.evaluate("document.activeElement.id") == "timeline");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn live_bytes_at_peak_and_end_match_reference() {
    let Some(files) = real_files() else { return };
    for file in files.iter().filter(|file| file.devices.len() == 1).take(6) {
        let page = open_empty_page();
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        let expected = |name: &str| Some(file.devices.first()?.get(name)?.to_string());
        let requested = || page.attribute("#moment", "data-live-requested");
        page.wait_for(&expected("peak_requested"), requested);
        assert_eq!(page.attribute("#moment", "data-event"), expected("peak_event"));
        page.click("#at-end");
        page.wait_for(&expected("end_requested"), requested);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_cursor_are_saved() {
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-fp32-1185-segments.pickle")) else { return };
    for (scheme, width, height) in [("light", 1280, 900), ("dark", 1280, 900), ("light", 600, 900)] {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        let settle = || page.wait_until_idle();
        settle();
        save_drawn_screenshot(&page, &format!("moment-{scheme}-{width}"));
        let plot = page.bounding_box("canvas#timeline");
        let axis = plot.top + plot.height + 10.0;
        page.drag((plot.left + plot.width * 0.3, axis), (plot.left + plot.width * 0.6, axis), 0);
        page.move_to(2.0, 2.0);
        settle();
        save_drawn_screenshot(&page, &format!("moment-range-{scheme}-{width}"));
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{width} scrolls sideways");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
