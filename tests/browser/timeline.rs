//! Interaction with the timeline: selection, keys, redrawing, and a lost GPU device.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{LOWER_BYTES, UPPER_BYTES, halves};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::Page;
use crate::screenshots::{Picture, settled_timeline};
use crate::site::Site;

/// Opens [`halves`] in a page and waits until it is drawn.
fn open_halves() -> Page {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    wait_for_frame_after(&page, 0);
    page
}

/// Number of frames drawn so far: `data-frames` of the timeline.
fn frames(page: &Page) -> u64 {
    page.attribute("canvas#timeline", "data-frames").and_then(|frames| frames.parse().ok()).unwrap_or(0)
}

#[track_caller]
fn wait_for_frame_after(page: &Page, before: u64) {
    page.wait_until("a frame is drawn", || frames(page) > before);
}

/// Clicks the timeline at these fractions of its width and height, and waits until an allocation of `size` bytes is
/// selected.
#[track_caller]
fn click_and_select(page: &Page, across: f64, down: f64, size: u64) {
    let (x, y) = page.bounding_box("canvas#timeline").at(across, down);
    page.click_at(x, y);
    page.wait_for(&Some(size.to_string()), || page.attribute("#details", "data-size"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn click_selects_block_and_shows_its_stack() {
    let page = open_halves();
    click_and_select(&page, 0.6, 0.75, LOWER_BYTES);
    let lower = page.attribute("#details", "data-allocation").expect("an id");
    let details = page.text("#details");
    assert!(details.contains("make_lower") && details.contains("train.py"), "{details}");
    assert!(details.find("make_lower") < details.find("main"), "innermost first: {details}");

    click_and_select(&page, 0.6, 0.45, UPPER_BYTES);
    assert_ne!(page.attribute("#details", "data-allocation"), Some(lower));
    assert!(page.text("#details").contains("make_upper"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn escape_clears_the_selection() {
    let page = open_halves();
    click_and_select(&page, 0.6, 0.75, LOWER_BYTES);
    page.press("Escape");
    page.wait_for(&None, || page.attribute("#details", "data-allocation").filter(|id| !id.is_empty()));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_pan_zoom_and_fit() {
    let page = open_halves();
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    let whole = settled_timeline(&page);
    for key in [".", "d", "+", "w"] {
        let before = frames(&page);
        page.press(key);
        wait_for_frame_after(&page, before);
    }
    page.wait_until("the picture changed", || Picture::capture(&page, "canvas#timeline") != whole);
    page.press("0");
    page.wait_until("the fitted picture is back", || Picture::capture(&page, "canvas#timeline") == whole);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn idle_timeline_draws_no_frames() {
    let page = open_halves();
    // The first frames may still be drawn.
    page.wait_until("no frame is drawn for 500 ms", || {
        let before = frames(&page);
        std::thread::sleep(std::time::Duration::from_millis(500));
        frames(&page) == before
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn lost_gpu_device_is_recreated() {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    page.run_before_load(
        "{ const request = GPUAdapter.prototype.requestDevice; window.devices = []; \
         GPUAdapter.prototype.requestDevice = async function (...options) { \
             const device = await request.apply(this, options); window.devices.push(device); return device; } }",
    );
    page.navigate(&Site::shared().page_with_webgpu());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    wait_for_frame_after(&page, 0);
    assert_eq!(page.attribute("canvas#timeline", "data-renderer").as_deref(), Some("webgpu"));
    let picture = settled_timeline(&page);

    page.evaluate("window.devices.at(-1).destroy()");
    page.wait_until("a second device is requested", || page.evaluate("window.devices.length > 1") == true);
    page.wait_until("the same picture is back", || Picture::capture(&page, "canvas#timeline") == picture);
    let before = frames(&page);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press(".");
    wait_for_frame_after(&page, before);
    assert_eq!(page.attribute("canvas#timeline", "data-renderer").as_deref(), Some("webgpu"));
}
