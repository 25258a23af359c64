//! Things that stay in view when settings change: the window when the axis changes, the selection when the order
//! changes, the crosshair beside its card, and the line of the GPU's capacity.

use crate::fixtures::LOWER_BYTES;
use crate::interactions::{open_halves, overlay_ink, point_at_event};
use crate::opening::open_empty_page;
use crate::page::{ALT, CTRL, Page, SHIFT};
use crate::screenshots::{save_screenshot, settled_timeline};

/// Waits until the window shows events 40 to 60. Axis labels are drawn on canvases, so the window is read from the
/// crosshair's event at three positions.
#[track_caller]
fn wait_for_events_40_to_60(page: &Page) {
    for (across, event) in [(0.05, 41), (0.5, 50), (0.95, 59)] {
        let (x, y) = page.bounding_box("canvas#timeline").at(across, 0.8);
        page.move_to(x, y);
        page.wait_until(&format!("event {event} is at {across}"), || {
            let found = page.attribute("#moment", "data-event").and_then(|event| event.parse::<u64>().ok());
            found.is_some_and(|found| found.abs_diff(event) <= 1)
        });
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn switching_axis_keeps_window() {
    let page = open_halves();
    page.drag(point_at_event(&page, 40, 0.8), point_at_event(&page, 60, 0.8), SHIFT);
    wait_for_events_40_to_60(&page);
    page.press("t");
    page.wait_for(&Some("true".into()), || page.attribute("#axis", "aria-pressed"));
    settled_timeline(&page);
    // The events of this file have equal distances in time, so they stay in the same places.
    wait_for_events_40_to_60(&page);
    page.press("t");
    page.wait_for(&Some("false".into()), || page.attribute("#axis", "aria-pressed"));
    settled_timeline(&page);
    wait_for_events_40_to_60(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn reordering_keeps_selection_in_view() {
    let page = open_halves();
    let select = |down: f64, size: u64| {
        let (x, y) = point_at_event(&page, 60, down);
        page.click_at(x, y);
        page.wait_for(&Some(size.to_string()), || page.attribute("#details", "data-size"));
    };
    select(0.8, LOWER_BYTES);
    // The window shows only the lowest quarter. In the reverse order the selection would be at the top.
    let (from, to) = (point_at_event(&page, 30, 0.99), point_at_event(&page, 90, 0.75));
    page.drag(from, to, SHIFT);
    page.wait_until("the previous window can be restored", || {
        page.evaluate("document.querySelector('#window-back').disabled") == false
    });
    for stacking in ["site", "size", "lifetime"] {
        let script = "{ const picker = document.getElementById('stacking'); picker.value = 'VALUE'; picker.dispatchEvent(new Event('change')); }";
        page.evaluate(&script.replace("VALUE", stacking));
        page.move_to(1.0, 1.0);
        settled_timeline(&page);
        // The selection takes at least half of the window's height, so one of these positions hits it.
        page.wait_until(&format!("the selection is in the window, stacked by {stacking}"), || {
            [0.1, 0.3, 0.5, 0.7, 0.9].iter().any(|&down| {
                let (x, y) = page.bounding_box("canvas#timeline").at(0.5, down);
                page.move_to(x, y);
                page.wait_until_settled("the card", || page.text("#card")).contains("make_lower")
            })
        });
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn card_near_edges_does_not_cover_crosshair() {
    for (width, height) in [(1280, 800), (600, 900), (360, 640)] {
        let page = open_halves();
        page.resize(width, height);
        page.wait_for_frames();
        page.evaluate("document.querySelector('#stage').scrollIntoView()");
        settled_timeline(&page);
        for across in [0.02, 0.3, 0.5, 0.7, 0.98] {
            for down in [0.4, 0.6, 0.9, 0.98] {
                let (x, y) = page.bounding_box("canvas#timeline").at(across, down);
                page.move_to(x, y);
                page.wait_until("the card is shown", || page.bounding_box_now("#card").width > 0.0);
                page.wait_until("the card is on the stage and does not cover the crosshair", || {
                    let (card, stage) = (page.bounding_box_now("#card"), page.bounding_box_now("#stage"));
                    let (right, bottom) = (card.left + card.width, card.top + card.height);
                    let covers = card.left < x && x < right && card.top < y && y < bottom;
                    let inside = card.left >= stage.left - 1.0
                        && card.top >= stage.top - 1.0
                        && right <= stage.left + stage.width + 1.0
                        && bottom <= stage.top + stage.height + 1.0;
                    !covers && inside
                });
            }
        }
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn card_does_not_flicker_inside_block() {
    let page = open_halves();
    let (x, y) = point_at_event(&page, 30, 0.8);
    page.move_to(x, y);
    page.wait_until("the card shows the block", || page.text("#card").contains("make_lower"));
    page.wait_until_settled("the card", || page.text("#card"));
    page.evaluate(
        "window.flickers = 0; new MutationObserver(all => window.flickers += all.length) \
         .observe(document.querySelector('#card'), { attributes: true, attributeFilter: ['hidden'], childList: true, characterData: true, subtree: true })",
    );
    for step in 0..30 {
        page.move_to(x + f64::from(step) * 5.0, y + f64::from(step % 5) * 7.0);
    }
    page.wait_until_idle();
    assert_eq!(page.evaluate("window.flickers"), 0);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn fitted_window_includes_capacity_line() {
    let page = open_halves();
    page.move_to(1.0, 1.0);
    let without = overlay_ink(&page);
    page.press("v");
    page.wait_until("the field has the focus", || page.evaluate("document.activeElement.id") == "capacity");
    for key in ["2", "4"] {
        page.press(key);
    }
    // The fitted window stays fitted, now with the line.
    page.wait_until("the line is drawn", || overlay_ink(&page) > without);
    save_screenshot(&page, "capacity");
    // A block that took half of the height takes a twelfth now.
    let (x, y) = page.bounding_box("canvas#timeline").at(0.5, 0.8);
    page.move_to(x, y);
    page.wait_until("the event at the crosshair is shown", || page.text("#reading").starts_with("After event"));
    page.wait_until("the card is hidden", || page.bounding_box("#card").width == 0.0);
    page.evaluate("{ const field = document.querySelector('#capacity'); field.value = ''; field.dispatchEvent(new Event('input')); }");
    page.wait_until("the window is as before", || {
        page.move_to(x, y - 1.0);
        page.move_to(x, y);
        page.text("#card").contains("make_lower")
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_tools_are_saved() {
    for (scheme, width) in [("dark", 1280), ("light", 1280), ("dark", 600)] {
        let page = open_empty_page();
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.click("#open-leak");
        page.wait_for_state("ready");
        // The leak gives Insights half of the height.
        page.wait_until("the alarm is raised", || page.is_shown("#alarm"));
        settled_timeline(&page);
        let corners = page.bounding_box("canvas#timeline");
        page.right_click(corners.at(0.2, 0.6));
        page.right_click(corners.at(0.7, 0.4));
        page.drag(corners.at(0.3, 0.8), corners.at(0.55, 0.45), ALT);
        let (x, y) = corners.at(0.85, 0.7);
        page.move_to(x, y);
        page.press_with("ArrowUp", SHIFT);
        page.press_with("ArrowRight", SHIFT | CTRL);
        page.press("Enter");
        page.wait_until("an allocation is selected", || page.attribute("#details", "data-size").is_some());
        page.wait_until_idle();
        save_screenshot(&page, &format!("tools-{scheme}-{width}"));
        assert_eq!(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"), false);
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
