//! WebGPU and the CPU twin show the same pixels: two pages, one of them without an adapter, taken through the same pictures.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures;
use crate::generate::{self, Options};
use crate::page::Page;
use crate::pictures::{LEAST_COLOURS, Picture, keep, largest_difference, settled};
use crate::site::Site;
use std::path::{Path, PathBuf};

/// As in a browser that finds nothing it may draw with.
const NO_ADAPTER: &str = "GPU.prototype.requestAdapter = async () => null";

/// A difference of a channel, of 255, that nobody sees.
const LEAST_SEEN: u64 = 8;

/// Some steps of training, with frees that wait for another stream and an allocation that fails.
fn file() -> PathBuf {
    let words = "--events 6000 --layers 4 --pending --oom --frames 8".split(' ').map(str::to_owned);
    let (options, _) = Options::parse(words).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("memory is patient");
    fixtures::file("pending.pickle", &bytes)
}

/// A page of the same browser, so that what composes and writes text is the same; `script` runs before it begins.
fn opened(script: &str, file: &Path) -> Page {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(script);
    page.navigate(&Site::shared().page_by_webgpu());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.wait_until("blocks are drawn", || settled(&page).colours >= LEAST_COLOURS);
    page
}

fn wheel(page: &Page, across: f64, notches: u32, held: &str) {
    let (x, y) = page.corners("canvas#timeline").at(across, 0.6);
    let turn = format!(
        "for (let left = {notches}; left > 0; left--) document.querySelector('canvas#timeline').dispatchEvent(new WheelEvent('wheel', \
         {{ deltaY: -100, clientX: {x}, clientY: {y}, bubbles: true, cancelable: true{held} }}));"
    );
    page.evaluate(&turn);
}

fn choose(page: &Page, id: &str, value: &str) {
    let script = "{ const picker = document.getElementById('ID'); picker.value = 'VALUE'; picker.dispatchEvent(new Event('change')); }";
    page.evaluate(&script.replace("ID", id).replace("VALUE", value));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_twin_shows_what_webgpu_shows() {
    let file = file();
    let pages = ["", NO_ADAPTER].map(|script| opened(script, &file));
    let renderers = pages.each_ref().map(|page| page.attribute("canvas#timeline", "data-renderer").unwrap_or_default());
    assert_eq!(renderers, ["webgpu", "cpu"]);
    let sizes = pages.each_ref().map(|page| page.corners("canvas#timeline")).map(|it| (it.width, it.height));
    assert_eq!(sizes[0], sizes[1], "the notice takes no room from the timeline");

    type Step = (&'static str, fn(&Page));
    let steps: [Step; 6] = [
        ("everything", |page| page.press("0")),
        ("by size, as a ramp", |page| choose(page, "colouring", "size")),
        ("one of the legend faded", |page| {
            choose(page, "colouring", "site");
            page.wait_until("the legend is there", || page.text("#legend").contains("train.py"));
            page.click("#legend .entry");
            page.wait_for(&Some("false".into()), || page.attribute("#legend .entry", "aria-pressed"));
        }),
        ("close up", |page| {
            page.click("#legend .entry");
            wheel(page, 0.43, 24, "");
        }),
        ("close up on both axes", |page| wheel(page, 0.43, 6, ", ctrlKey: true")),
        ("grouped, selected", |page| {
            choose(page, "stacking", "site");
            page.evaluate("document.querySelector('canvas#timeline').focus()");
            page.press("0");
            settled(page);
            let (x, y) = page.corners("canvas#timeline").at(0.5, 0.7);
            page.click_at(x, y);
            page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
            page.move_to(2.0, 2.0);
        }),
    ];
    let mut seen = Vec::new();
    for (number, (name, step)) in steps.into_iter().enumerate() {
        let pictures = pages.each_ref().map(|page| {
            step(page);
            settled(page)
        });
        keep(&pages[0], &format!("webgpu-{number}"));
        keep(&pages[1], &format!("twin-{number}"));
        assert_eq!(pictures[0], pictures[1], "{name}: target/screenshots/webgpu-{number}.png, twin-{number}.png");
        assert!(!seen.contains(&pictures[0]), "{name} looks like a picture before it: nothing was tested");
        seen.push(pictures[0]);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn an_adapter_in_software_draws_only_where_it_is_asked_for() {
    for (query, renderer) in [("", "cpu"), ("?renderer=webgpu", "webgpu"), ("?renderer=cpu", "cpu")] {
        let page = Page::open(Chromium::with(Adapter::Software), &format!("{}{query}", Site::shared().page()));
        page.wait_for(&Some(renderer.to_owned()), || {
            page.attribute("canvas#timeline", "data-renderer").filter(|it| !it.is_empty())
        });
        assert_eq!(page.text("#notice"), "", "nothing is lost by it");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn nothing_stays_blank_when_the_gpu_process_dies() {
    let chromium = Chromium::with(Adapter::Mortal);
    let page = Page::open(chromium, &Site::shared().page_by_webgpu());
    page.wait_for_state("empty");
    page.drop_files(&[&file()]);
    page.wait_for_state("ready");
    let mut shown = Vec::new();
    // Everything that is drawn on a canvas, two views one after the other.
    for (view, parts) in
        [("#tab-flame", ["#stage", "#minimap", "#flame-plot"]), ("#tab-state", ["#stage", "#minimap", "#memory-plot"])]
    {
        page.click(view);
        page.move_to(2.0, 2.0);
        settled(&page);
        let pictures = || parts.map(|part| Picture::of(&page, part));
        let before = page.settled("everything", pictures);
        assert!(before.iter().all(|picture| picture.colours >= LEAST_COLOURS), "{before:?}");
        let screenshot = page.screenshot();
        // The process is gone before it can answer.
        let frames = || page.attribute("canvas#timeline", "data-frames");
        let drawn = frames();
        let _ = chromium.try_call("", "Browser.crashGpuProcess", serde_json::json!({}));
        page.wait_until("it is drawn anew", || frames() != drawn);
        let differences = || {
            let now = page.screenshot();
            parts.map(|part| largest_difference(&page, part, [&screenshot, &now]))
        };
        page.wait_until("it shows what it showed", || differences().iter().all(|&most| most <= LEAST_SEEN));
        keep(&page, &format!("gpu-process-died{}", view.replace('#', "-")));
        shown.push(screenshot);
    }
    // What is another picture differs by more than the eye forgives.
    assert!(largest_difference(&page, "body", [&shown[0], &shown[1]]) > LEAST_SEEN);
}
