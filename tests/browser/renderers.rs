//! Comparison of WebGPU and the CPU renderer, pixel by pixel, on two pages with and without an adapter.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures;
use crate::generate::{self, Options};
use crate::page::Page;
use crate::screenshots::{
    CANVASES_IN_MEMORY, MIN_COLOURS, Picture, largest_difference, save_screenshot, settled_timeline,
};
use crate::site::Site;
use std::path::{Path, PathBuf};

/// Script that removes all WebGPU adapters.
const NO_ADAPTER: &str = "GPU.prototype.requestAdapter = async () => null";

/// Maximum difference of a colour channel, of 255, that is not visible.
const MAX_INVISIBLE_DIFFERENCE: u64 = 8;

/// Training steps with blocks awaiting free and an OOM.
fn training_file() -> PathBuf {
    let words = "--events 6000 --layers 4 --pending --oom --frames 8".split(' ').map(str::to_owned);
    let (options, _) = Options::parse(words).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    fixtures::write_file("pending.pickle", &bytes)
}

/// Opens the file in a page and runs `script` before it loads. All pages use the same browser, so that compositing and
/// text rendering are the same.
fn open_file(script: &str, file: &Path) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    page.run_before_load(script);
    page.run_before_load(CANVASES_IN_MEMORY);
    page.navigate(&Site::shared().page_with_webgpu());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.wait_until("blocks are drawn", || settled_timeline(&page).colours >= MIN_COLOURS);
    page
}

fn turn_wheel(page: &Page, across: f64, notches: u32, held: &str) {
    let (x, y) = page.bounding_box("canvas#timeline").at(across, 0.6);
    let turn = format!(
        "for (let left = {notches}; left > 0; left--) document.querySelector('canvas#timeline').dispatchEvent(new WheelEvent('wheel', \
         {{ deltaY: -100, clientX: {x}, clientY: {y}, bubbles: true, cancelable: true{held} }}));"
    );
    page.evaluate(&turn);
}

fn select_option(page: &Page, id: &str, value: &str) {
    let script = "{ const picker = document.getElementById('ID'); picker.value = 'VALUE'; picker.dispatchEvent(new Event('change')); }";
    page.evaluate(&script.replace("ID", id).replace("VALUE", value));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cpu_renderer_matches_webgpu() {
    let file = training_file();
    let pages = ["", NO_ADAPTER].map(|script| open_file(script, &file));
    let renderers = pages.each_ref().map(|page| page.attribute("canvas#timeline", "data-renderer").unwrap_or_default());
    assert_eq!(renderers, ["webgpu", "cpu"]);
    let sizes = pages.each_ref().map(|page| page.bounding_box("canvas#timeline")).map(|it| (it.width, it.height));
    assert_eq!(sizes[0], sizes[1], "the notice changes the size of the timeline");
    // At the edge, Chromium blends pixels of round corners and of the cursor in another order if a canvas has a layer
    // of its own.
    for page in &pages {
        page.evaluate("document.getElementById('stage').style.borderRadius = '0'");
        page.click("#at-peak");
        page.move_to(2.0, 2.0);
    }

    type Step = (&'static str, fn(&Page));
    let steps: [Step; 6] = [
        ("everything", |page| page.press("0")),
        ("by size, as a ramp", |page| select_option(page, "colouring", "size")),
        ("one of the legend faded", |page| {
            select_option(page, "colouring", "site");
            page.wait_until("the legend is shown", || page.text("#legend").contains("train.py"));
            page.click("#legend .entry");
            page.wait_for(&Some("false".into()), || page.attribute("#legend .entry", "aria-pressed"));
        }),
        ("close up", |page| {
            page.click("#legend .entry");
            turn_wheel(page, 0.43, 24, "");
        }),
        ("close up on both axes", |page| turn_wheel(page, 0.43, 6, ", ctrlKey: true")),
        ("grouped, selected", |page| {
            select_option(page, "stacking", "site");
            page.evaluate("document.querySelector('canvas#timeline').focus()");
            page.press("0");
            settled_timeline(page);
            let (x, y) = page.bounding_box("canvas#timeline").at(0.5, 0.7);
            page.click_at(x, y);
            page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
            page.move_to(2.0, 2.0);
        }),
    ];
    let mut seen = Vec::new();
    for (number, (name, step)) in steps.into_iter().enumerate() {
        let pictures = pages.each_ref().map(|page| {
            step(page);
            settled_timeline(page)
        });
        save_screenshot(&pages[0], &format!("webgpu-{number}"));
        save_screenshot(&pages[1], &format!("twin-{number}"));
        assert_eq!(pictures[0], pictures[1], "{name}: target/screenshots/webgpu-{number}.png, twin-{number}.png");
        assert!(!seen.contains(&pictures[0]), "{name} looks like an earlier step, so it tests nothing");
        seen.push(pictures[0]);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn software_adapter_is_used_only_on_request() {
    for (query, renderer) in [("", "cpu"), ("?renderer=webgpu", "webgpu"), ("?renderer=cpu", "cpu")] {
        let page = Page::open(Chromium::shared(Adapter::Software), &format!("{}{query}", Site::shared().page()));
        page.wait_for(&Some(renderer.to_owned()), || {
            page.attribute("canvas#timeline", "data-renderer").filter(|it| !it.is_empty())
        });
        assert_eq!(page.text("#notice"), "", "a notice is shown");
        // A GPU in software takes five times as long for the canvases that the CPU renderer draws.
        let in_memory = "document.getElementById('labels').getContext('2d').getContextAttributes().willReadFrequently";
        assert_eq!(page.evaluate(in_memory), renderer == "cpu", "{query}");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn all_canvases_are_redrawn_after_gpu_process_crash() {
    let chromium = Chromium::shared(Adapter::SoftwareToCrash);
    let page = Page::open(chromium, &Site::shared().page_with_webgpu());
    page.wait_for_state("empty");
    page.drop_files(&[&training_file()]);
    page.wait_for_state("ready");
    let mut shown = Vec::new();
    // All canvases, in two views.
    for (view, parts) in [
        ("#tab-flame", ["#stage", "#minimap", "#flame-plot"]),
        ("#tab-segments", ["#stage", "#minimap", "#segments-plot"]),
    ] {
        page.click(view);
        page.move_to(2.0, 2.0);
        settled_timeline(&page);
        let pictures = || parts.map(|part| Picture::capture(&page, part));
        let before = page.wait_until_settled("everything", pictures);
        assert!(before.iter().all(|picture| picture.colours >= MIN_COLOURS), "{before:?}");
        let screenshot = page.screenshot();
        // The command fails, because the process ends before it responds.
        let frames = || page.attribute("canvas#timeline", "data-frames");
        let drawn = frames();
        let _ = chromium.try_call("", "Browser.crashGpuProcess", serde_json::json!({}));
        page.wait_until("the timeline is drawn again", || frames() != drawn);
        let differences = || {
            let now = page.screenshot();
            parts.map(|part| largest_difference(&page, part, [&screenshot, &now]))
        };
        page.wait_until("the page looks as before", || {
            differences().iter().all(|&most| most <= MAX_INVISIBLE_DIFFERENCE)
        });
        save_screenshot(&page, &format!("gpu-process-crashed{}", view.replace('#', "-")));
        shown.push(screenshot);
    }
    // Different pictures exceed the visible difference, so the comparison above is meaningful.
    assert!(largest_difference(&page, "body", [&shown[0], &shown[1]]) > MAX_INVISIBLE_DIFFERENCE);
}
