//! Flame graph in the page: boxes hit by the pointer, selected and zoomed by mouse and keys, with exact bytes.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::page::Page;
use crate::screenshots::{CANVASES_IN_MEMORY, Picture, save_screenshot, settled_picture};
use crate::site::Site;
use std::path::Path;

/// Opens a file in a page and waits until its flame graph is drawn.
fn open_flame_graph(file: &Path, scheme: &str, size: (u32, u32), query: &str) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    page.run_before_load(CANVASES_IN_MEMORY);
    page.prefer_color_scheme(scheme);
    page.resize(size.0, size.1);
    page.navigate(&(Site::shared().page() + query));
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.evaluate("document.getElementById('tab-flame').click(); document.getElementById('flame-scroll').scrollIntoView({ block: 'center' })");
    wait_until_drawn(&page);
    page
}

/// Waits until boxes are drawn.
fn wait_until_drawn(page: &Page) {
    page.wait_until("the flame graph is drawn", || page.attribute("#flame-canvas", "data-boxes").is_some());
}

/// Text of the card beside the pointer; empty if it is hidden.
fn card_text(page: &Page) -> String {
    page.evaluate("document.getElementById('flame-card').hidden ? '' : document.getElementById('flame-card').innerText")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn reading(page: &Page) -> String {
    page.text("#flame-reading")
}

fn breadcrumb_count(page: &Page) -> u64 {
    page.evaluate("document.querySelectorAll('#flame-crumbs button').length").as_u64().unwrap_or_default()
}

/// Number of frames of the flame graph so far.
fn frames(page: &Page) -> u64 {
    page.attribute("#flame-canvas", "data-frames").and_then(|frames| frames.parse().ok()).unwrap_or_default()
}

fn peak_file(name: &str) -> Option<(std::path::PathBuf, u64)> {
    let file = real_files()?.into_iter().find(|file| file.path.ends_with(name))?;
    let peak = file.devices[0]["peak_requested"].as_u64().expect("the peak is a number");
    Some((file.path, peak))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn root_shows_exact_peak_and_boxes_are_selected_and_zoomed() {
    let Some((file, peak)) = peak_file("train-ring-buffer-wrapped.pickle") else { return };
    let page = open_flame_graph(&file, "light", (1280, 900), "");
    page.wait_for(&Some(peak.to_string()), || page.attribute("#flame-canvas", "data-total"));
    let corners = page.bounding_box("#flame-canvas");
    let (left, top) = (corners.left + 30.0, corners.top + 10.0);
    page.move_to(left, top);
    let exact = memscape::units::group_digits(peak);
    page.wait_until("the card shows the root", || card_text(&page).contains(&exact));
    assert!(card_text(&page).contains("100 % of all"), "{}", card_text(&page));

    page.click_at(left, top + 22.0);
    page.wait_until("the reading shows the selection", || reading(&page).contains("% of its parent"));
    let selected = reading(&page);
    page.evaluate("document.getElementById('flame-canvas').focus()");
    page.press("Enter");
    page.wait_until("the box is zoomed", || breadcrumb_count(&page) == 2);
    page.wait_for(&selected, || reading(&page));
    // The zoomed box takes the full width.
    page.move_to(corners.left + corners.width - 30.0, top + 22.0);
    page.wait_until("the card shows the zoomed box", || {
        selected.starts_with(card_text(&page).lines().next().unwrap_or("?"))
    });
    page.press("Backspace");
    page.wait_until("the zoom is reset", || breadcrumb_count(&page) == 0);
    page.mouse_event("mousePressed", (left, top + 42.0), "left", 0);
    page.mouse_event("mouseReleased", (left, top + 42.0), "left", 0);
    for kind in ["mousePressed", "mouseReleased"] {
        page.double_click_event(kind, (left, top + 42.0));
    }
    page.wait_until("a double click zooms", || breadcrumb_count(&page) == 3);
    page.click("#flame-crumbs button");
    page.wait_until("the breadcrumb zooms out", || breadcrumb_count(&page) == 0);
    let focus = || page.evaluate("document.activeElement.id");
    page.wait_until("the flame graph has the focus after the breadcrumb is gone", || focus() == "flame-canvas");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_scroll_to_deep_box_and_zoom() {
    let Some((file, _)) = peak_file("train-ring-buffer-wrapped.pickle") else { return };
    let page = open_flame_graph(&file, "dark", (1280, 900), "");
    page.evaluate("document.getElementById('timeline').focus()");
    page.press_with("F", crate::page::SHIFT);
    page.wait_for(&"flame-canvas".to_owned(), || {
        page.evaluate("document.activeElement.id").as_str().unwrap_or_default().to_owned()
    });
    // Shows internal frames too.
    let before = frames(&page);
    page.press("h");
    page.wait_until("internal frames are shown", || frames(&page) > before);
    for _ in 0..30 {
        page.press("ArrowDown");
    }
    page.wait_until("the flame graph has scrolled", || {
        page.evaluate("document.getElementById('flame-scroll').scrollTop > 0") == true
    });
    // The last keys may not have been handled yet.
    let deep = page.wait_until_settled("the selection", || reading(&page));
    assert!(deep.contains("% of its parent"), "{deep}");
    page.press("ArrowUp");
    page.wait_until("the parent box is selected", || reading(&page) != deep);
    page.press("ArrowDown");
    page.wait_until("the deep box is selected again", || reading(&page) == deep);
    page.press("Enter");
    page.wait_until("the box is zoomed", || breadcrumb_count(&page) > 0);
    page.press("Escape");
    page.wait_until("the zoom is reset", || breadcrumb_count(&page) == 0);
    let before = frames(&page);
    page.press("f");
    page.wait_until("the flipped flame graph is drawn", || frames(&page) > before);
    page.wait_for(&Some("true".to_owned()), || page.attribute("#flame-turn", "aria-pressed"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cpu_renderer_draws_same_flame_graph_as_webgpu() {
    let Some((file, _)) = peak_file("train-annotated-mixed-precision.pickle") else { return };
    let pages = ["?renderer=webgpu", "?renderer=cpu"].map(|query| open_flame_graph(&file, "light", (1280, 900), query));
    let renderers = pages.each_ref().map(|page| page.attribute("canvas#timeline", "data-renderer").unwrap_or_default());
    assert_eq!(renderers, ["webgpu", "cpu"]);
    let pictures = pages.each_ref().map(|page| {
        let (x, y) = page.bounding_box("#flame-canvas").at(0.3, 0.4);
        page.click_at(x, y);
        page.wait_until("a box is selected", || reading(page).contains("% of its parent"));
        page.move_to(3.0, 3.0);
        settled_picture(page, || Picture::capture(page, "#flame-plot"))
    });
    save_screenshot(&pages[0], "flame-webgpu");
    save_screenshot(&pages[1], "flame-twin");
    assert!(pictures[0].colours > 20, "boxes and names are drawn");
    assert_eq!(pictures[0], pictures[1], "target/screenshots/flame-webgpu.png, flame-twin.png");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_flame_graph_are_saved() {
    let Some(files) = real_files() else { return };
    for (name, scheme, width) in [
        ("train-fp32-1185-segments.pickle", "light", 1280),
        ("train-fp32-1185-segments.pickle", "dark", 1280),
        ("train-ring-buffer-wrapped.pickle", "light", 1280),
        ("train-ring-buffer-wrapped.pickle", "dark", 600),
    ] {
        let Some(file) = files.iter().find(|file| file.path.ends_with(name)) else { continue };
        let page = open_flame_graph(&file.path, scheme, (width, 900), "");
        page.wait_until_idle();
        save_screenshot(&page, &format!("flame-{name}-{scheme}-{width}"));
        let (x, y) = page.bounding_box("#flame-canvas").at(0.3, 0.5);
        page.click_at(x, y);
        page.move_to(x + 60.0, y + 22.0);
        page.wait_until_idle();
        save_screenshot(&page, &format!("flame-{name}-{scheme}-{width}-hover"));
        page.evaluate("document.getElementById('flame-canvas').focus()");
        page.press("Enter");
        page.press("f");
        page.move_to(3.0, 3.0);
        page.wait_until_idle();
        save_screenshot(&page, &format!("flame-{name}-{scheme}-{width}-zoom"));
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{name} scrolls sideways");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
