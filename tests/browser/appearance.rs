//! Appearance of the page: screenshots in `target/screenshots/`, with a few automatic checks.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves};
use crate::hostile::{checkpoint, gzip_bomb};
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::screenshots::{MIN_COLOURS, Picture, save_screenshot};
use crate::site::Site;

pub(crate) fn open_with_scheme(scheme: &str, adapter: Adapter) -> Page {
    let page = Page::blank(Chromium::shared(adapter));
    page.prefer_color_scheme(scheme);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page
}

/// Opens the training sample, waits until it is drawn, and selects a block in the lower half.
fn open_example(page: &Page) {
    page.click("#open-training");
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || {
        page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
    });
    page.wait_until("it has blocks", || Picture::capture(page, "canvas#timeline").colours >= MIN_COLOURS);
    let (x, y) = page.bounding_box("canvas#timeline").at(0.5, 0.7);
    page.click_at(x, y);
    page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
}

/// Returns whether the page is wider than the window.
pub(crate) fn scrolls_sideways(page: &Page) -> bool {
    page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth") == true
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_follows_system_colour_scheme() {
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        let page = open_with_scheme(scheme, Adapter::Missing);
        save_screenshot(&page, &format!("empty-{scheme}"));
        // The page draws a text on this canvas in advance, to load the font. It must be invisible.
        let ink = "document.querySelector('#labels').getContext('2d').getImageData(0, 0, 300, 150).data.some(Boolean)";
        assert_eq!(page.evaluate(ink), false);
        open_example(&page);
        save_screenshot(&page, &format!("ready-{scheme}"));
        assert!(!scrolls_sideways(&page));
        let wrong = fixtures::write_file("truncated.pickle", b"\x80\x04");
        page.drop_files(&[&wrong]);
        page.wait_until("the toast is shown", || page.is_shown("#toast"));
        save_screenshot(&page, &format!("toast-{scheme}"));
        assert!(!scrolls_sideways(&page));
        let other = open_with_scheme(scheme, Adapter::Missing);
        other.drop_files(&[&wrong]);
        other.wait_for_state("error");
        save_screenshot(&other, &format!("error-{scheme}"));
        grounds.push(page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(grounds[0], grounds[1], "the theme follows the system");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn rejected_files_show_error() {
    for (scheme, width) in [("light", 1280), ("dark", 600)] {
        let page = open_with_scheme(scheme, Adapter::Missing);
        page.resize(width, 800);
        let long = format!("{}.pt", "checkpoint-".repeat(12));
        for (what, name, bytes) in [("bomb", "bomb.gz", gzip_bomb()), ("checkpoint", long.as_str(), checkpoint())] {
            page.drop_files(&[&fixtures::write_file(name, &bytes)]);
            page.wait_until("the file is rejected", || page.text("#error").starts_with(name));
            save_screenshot(&page, &format!("error-{what}-{scheme}"));
            assert!(!scrolls_sideways(&page));
        }
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn loading_shows_progress() {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page_with_link("../slow.pickle"));
    page.wait_for_state("loading");
    page.wait_until("the progress bar is visible", || page.bounding_box("#progress").width > 0.0);
    save_screenshot(&page, "loading");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn narrow_window_does_not_scroll_sideways() {
    let page = open_with_scheme("light", Adapter::Missing);
    page.resize(600, 900);
    save_screenshot(&page, "empty-600");
    assert!(!scrolls_sideways(&page));
    open_example(&page);
    save_screenshot(&page, "ready-600");
    assert!(!scrolls_sideways(&page));
    let timeline = page.bounding_box("canvas#timeline");
    assert!(timeline.width > 400.0 && timeline.height > 150.0, "{timeline:?}");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_without_webgpu_adapter_uses_cpu_renderer() {
    let page = open_with_scheme("dark", Adapter::Missing);
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.wait_for(&Some("cpu".to_owned()), || page.attribute("canvas#timeline", "data-renderer"));
    page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= MIN_COLOURS);
    let (x, y) = page.bounding_box("canvas#timeline").at(0.6, 0.75);
    page.click_at(x, y);
    page.wait_for(&Some(fixtures::LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    assert!(page.text("body").contains("WebGPU"), "a notice says why");
    save_screenshot(&page, "fallback");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn readme_picture() {
    let page = open_with_scheme("dark", Adapter::Missing);
    page.resize(1440, 900);
    open_example(&page);
    page.move_to(1.0, 1.0);
    save_screenshot(&page, "readme");
}
