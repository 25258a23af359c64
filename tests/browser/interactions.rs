//! Interaction with the timeline by pointer and keys: crosshair, ruler, box zoom, zoom history and markers.

use crate::fixtures::{LOWER_BYTES, UPPER_BYTES, halves};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::{ALT, CTRL, Page, SHIFT};
use crate::screenshots::{Picture, save_screenshot, settled_picture, settled_timeline};

const MIB: u64 = 1 << 20;
/// Number of moments of [`halves`]: one more than it has events.
const MOMENT_COUNT: f64 = 123.0;

/// Opens [`halves`] in a page, waits until it is drawn, and focuses the timeline.
pub(crate) fn open_halves() -> Page {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    settled_timeline(&page);
    page
}

/// Live bytes of [`halves`] after an event.
fn live_after(event: u64) -> u64 {
    match (event, event % 3) {
        (0, _) => LOWER_BYTES,
        (1, _) | (_, 1) => LOWER_BYTES + UPPER_BYTES,
        _ => LOWER_BYTES + UPPER_BYTES + MIB,
    }
}

/// Point at the middle of the state after `event`, at a fraction of the height from the top.
pub(crate) fn point_at_event(page: &Page, event: u64, down: f64) -> (f64, f64) {
    page.bounding_box("canvas#timeline").at((event as f64 + 1.5) / MOMENT_COUNT, down)
}

#[track_caller]
fn wait_for_crosshair(page: &Page, event: u64) {
    let read = |name: &str| page.attribute("#moment", name);
    page.wait_for(&(Some(event.to_string()), Some(live_after(event).to_string())), || {
        (read("data-event"), read("data-live-requested"))
    });
}

/// Number of non-zero bytes on the overlay canvas: a measure of how much is drawn over the plot.
pub(crate) fn overlay_ink(page: &Page) -> u64 {
    let ink = "{ const c = document.querySelector('#overlay'); \
        c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((sum, byte) => sum + !!byte, 0) }";
    page.evaluate(ink).as_u64().expect("a number")
}

#[track_caller]
fn wait_for_ruler(page: &Page, events: i64, near_bytes: f64) {
    page.wait_for(&Some(events.to_string()), || page.attribute("#measured", "data-events"));
    let bytes: f64 = page.attribute("#measured", "data-bytes").and_then(|bytes| bytes.parse().ok()).unwrap_or(0.0);
    assert!((bytes - near_bytes).abs() < near_bytes.abs() * 0.05 + 1e6, "{bytes} differs too much from {near_bytes}");
}

/// Picture of the plot and its axes, without overlay, card and focus ring.
fn plot_picture(page: &Page) -> Picture {
    let show = |how: &str| {
        let ids = "['#overlay', '#card']";
        page.evaluate(&format!("{ids}.forEach(id => document.querySelector(id).style.visibility = '{how}')"));
    };
    show("hidden");
    page.evaluate("document.querySelector('canvas#timeline').style.outline = 'none'");
    let picture = Picture::capture(page, "#stage");
    show("");
    picture
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn crosshair_follows_pointer_and_keys() {
    let page = open_halves();
    let (x, y) = point_at_event(&page, 50, 0.7);
    page.move_to(x, y);
    wait_for_crosshair(&page, 50);
    page.press_with("ArrowRight", SHIFT);
    wait_for_crosshair(&page, 51);
    page.press_with("ArrowLeft", SHIFT);
    page.press_with("ArrowLeft", SHIFT);
    wait_for_crosshair(&page, 49);
    page.press_with("ArrowRight", SHIFT | CTRL);
    wait_for_crosshair(&page, 50);
    page.press("Enter");
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    page.press_with("ArrowUp", SHIFT);
    page.wait_until("the block above is announced", || page.text("#spoken").contains("make_upper"));
    page.press("Enter");
    page.wait_for(&Some(UPPER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    page.press("{");
    wait_for_crosshair(&page, 1);
    save_screenshot(&page, "cursor-keys");
    page.press_with("ArrowRight", SHIFT);
    wait_for_crosshair(&page, 2);
    page.press_with("ArrowDown", SHIFT);
    page.press("Enter");
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    // The pointer moves the crosshair again.
    let (x, y) = point_at_event(&page, 80, 0.3);
    page.move_to(x, y);
    wait_for_crosshair(&page, 80);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn crosshair_scrolls_window_and_jumps_to_neighbouring_blocks() {
    let page = open_halves();
    let whole = plot_picture(&page);
    // Moves to the short-lived small blocks at the top.
    let (x, y) = point_at_event(&page, 50, 0.7);
    page.move_to(x, y);
    wait_for_crosshair(&page, 50);
    page.press_with("ArrowUp", SHIFT);
    page.press_with("ArrowUp", SHIFT);
    page.press("Enter");
    page.wait_for(&Some(MIB.to_string()), || page.attribute("#details", "data-size"));
    let first = page.attribute("#details", "data-allocation").and_then(|id| id.parse::<u64>().ok()).expect("a number");
    page.press(">");
    wait_for_crosshair(&page, 53);
    page.press("Enter");
    page.wait_for(&Some((first + 1).to_string()), || page.attribute("#details", "data-allocation"));
    page.press("<");
    // The last moment of the previous block.
    wait_for_crosshair(&page, 51);
    page.press("}");
    wait_for_crosshair(&page, 55);
    // A narrow window scrolls to the crosshair.
    for _ in 0..6 {
        page.press(".");
    }
    page.wait_until("the window is narrow", || plot_picture(&page) != whole);
    for _ in 0..3 {
        page.press("d");
    }
    page.wait_for_frames();
    let without = overlay_ink(&page);
    page.press("{");
    wait_for_crosshair(&page, 53);
    page.wait_until("the crosshair is in the window", || overlay_ink(&page) > without);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn ruler_measures_with_mouse_and_keys() {
    let page = open_halves();
    let corners = page.bounding_box("canvas#timeline");
    let gib_px = corners.height / (1.0625 * 3.0);
    let (from, to) = (point_at_event(&page, 20, 0.9), point_at_event(&page, 60, 0.9));
    let to = (to.0, to.1 - gib_px);
    let whole = plot_picture(&page);
    page.drag(from, to, ALT);
    wait_for_ruler(&page, 40, LOWER_BYTES as f64);
    page.wait_for(&Some("400".into()), || page.attribute("#measured", "data-time-us"));
    page.wait_until("the window is unchanged", || plot_picture(&page) == whole);
    save_screenshot(&page, "ruler");
    page.press("Escape");
    page.wait_for(&None, || page.attribute("#measured", "data-events"));
    // With the toolbar's button pressed, every drag measures.
    page.click("#ruler");
    page.wait_for(&Some("true".into()), || page.attribute("#ruler", "aria-pressed"));
    page.drag(to, from, 0);
    wait_for_ruler(&page, -40, -(LOWER_BYTES as f64));
    page.press("Escape");
    page.wait_for(&Some("false".into()), || page.attribute("#ruler", "aria-pressed"));
    // With keys: "r" starts at the crosshair, and moving it extends the ruler.
    let (x, y) = point_at_event(&page, 30, 0.7);
    page.move_to(x, y);
    wait_for_crosshair(&page, 30);
    page.press_with("ArrowRight", SHIFT);
    wait_for_crosshair(&page, 31);
    page.press("r");
    for _ in 0..3 {
        page.press_with("ArrowRight", SHIFT);
    }
    wait_for_ruler(&page, 3, 0.0);
    page.press("r");
    page.press_with("ArrowRight", SHIFT);
    wait_for_crosshair(&page, 35);
    wait_for_ruler(&page, 3, 0.0);
    // Zooms to the measured range.
    page.press_with("R", SHIFT);
    page.wait_until("the window is narrow", || plot_picture(&page) != whole);
    page.press("z");
    // Esc removes the ruler, then the crosshair.
    page.press("Escape");
    page.press("Escape");
    page.move_to(1.0, 1.0);
    page.wait_until("the whole picture is back", || plot_picture(&page) == whole);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn shift_drag_zooms_to_box_and_history_restores_windows() {
    let page = open_halves();
    let whole = plot_picture(&page);
    assert_eq!(page.evaluate("document.querySelector('#window-back').disabled"), true);
    let (from, to) = (point_at_event(&page, 20, 0.8), point_at_event(&page, 60, 0.4));
    let without = overlay_ink(&page);
    page.start_drag(from, to, SHIFT);
    // More pixels than a crosshair has.
    page.wait_until("the box is drawn", || overlay_ink(&page) > without + 40_000);
    save_screenshot(&page, "box");
    page.press("Escape");
    page.mouse_event("mouseReleased", to, "left", SHIFT);
    page.wait_until("Esc cancels the box", || plot_picture(&page) == whole);
    page.drag(from, to, SHIFT);
    page.wait_until("the picture changed", || plot_picture(&page) != whole);
    page.move_to(1.0, 1.0);
    let boxed = settled_picture(&page, || plot_picture(&page));
    // A flat box zooms the time axis only.
    page.drag((from.0, from.1), (to.0, from.1 + 2.0), SHIFT);
    page.wait_until("the picture changed", || plot_picture(&page) != boxed);
    page.press("z");
    page.move_to(1.0, 1.0);
    page.wait_until("the box is back", || plot_picture(&page) == boxed);
    page.click("#window-back");
    page.wait_until("the whole trace is shown", || plot_picture(&page) == whole);
    page.press_with("Z", SHIFT);
    page.move_to(1.0, 1.0);
    page.wait_until("the box is back again", || plot_picture(&page) == boxed);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn markers_are_added_listed_visited_and_removed() {
    let page = open_halves();
    page.right_click(point_at_event(&page, 40, 0.5));
    let first = "#markers li:nth-child(1)";
    page.wait_for(&Some(live_after(40).to_string()), || page.attribute(first, "data-live-requested"));
    assert_eq!(page.attribute(first, "data-event").as_deref(), Some("40"));
    let (x, y) = point_at_event(&page, 90, 0.5);
    page.move_to(x, y);
    page.press("m");
    page.wait_for(&Some("90".into()), || page.attribute("#markers li:nth-child(2)", "data-event"));
    // Markers stay when the axis or the window changes.
    page.press("t");
    page.wait_for(&Some("true".into()), || page.attribute("#axis", "aria-pressed"));
    save_screenshot(&page, "markers");
    assert_eq!(page.attribute(first, "data-event").as_deref(), Some("40"));
    page.press("t");
    for _ in 0..5 {
        page.press(".");
    }
    let before = settled_picture(&page, || plot_picture(&page));
    page.click("#markers li:nth-child(1) .go");
    page.wait_until("the window moved", || plot_picture(&page) != before);
    page.click("#markers li:nth-child(1) .remove");
    page.wait_for(&Some("90".into()), || page.attribute(first, "data-event"));
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("Delete");
    page.wait_for(&None, || page.attribute(first, "data-event"));
    assert_eq!(page.errors(), Vec::<String>::new());
}
