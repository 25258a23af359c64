//! Plots of addresses and of reserved memory in the page: cards, selection, filters and exports.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::{self, halves};
use crate::generate::{Options, generate};
use crate::interactions::open_halves;
use crate::page::{Page, SHIFT};
use crate::screenshots::{Picture, save_drawn_screenshot, settled_timeline};
use crate::site::Site;
use std::path::{Path, PathBuf};

/// Address of the only segment of [`halves`].
const SEGMENT_ADDRESS: u64 = 0x7f00_0000_0000;
/// Reserved bytes of that segment.
const RESERVED: u64 = 3 << 30;
/// Height of the plot relative to the highest value in it.
const HEIGHT_RATIO: f64 = 17.0 / 16.0;

/// Selects an option of a `<select>`, then focuses the timeline.
pub(crate) fn select_option(page: &Page, select: &str, value: &str) {
    page.evaluate(&format!(
        "(it => {{ it.value = '{value}'; it.dispatchEvent(new Event('change')); }})(document.querySelector('{select}'))"
    ));
    page.evaluate("document.querySelector('canvas#timeline').focus()");
}

/// Shows a plot and waits until it is drawn.
#[track_caller]
fn show_plot(page: &Page, plot: &str) {
    let before = settled_timeline(page);
    select_option(page, "#show", plot);
    page.wait_for(&Some(plot.to_owned()), || page.attribute("#picture", "data-show"));
    page.wait_until(&format!("{plot} is drawn"), || Picture::capture(page, "canvas#timeline") != before);
    settled_timeline(page);
}

/// Point of the plot, at a fraction of the width from the left and of the highest value from below.
fn point_in_plot(page: &Page, across: f64, up: f64) -> (f64, f64) {
    page.bounding_box("canvas#timeline").at(across, 1.0 - up / HEIGHT_RATIO)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn address_plot_shows_blocks_and_free_memory() {
    let page = open_halves();
    show_plot(&page, "addresses");
    for (up, shown) in [(1.0 / 6.0, "1.00 GiB · 1,073,741,824 B"), (0.5, "1.00 GiB · 1,073,742,336 B")] {
        let (x, y) = point_in_plot(&page, 0.5, up);
        page.move_to(x, y);
        page.wait_for(&shown.to_owned(), || page.text("#card-title"));
        page.wait_until("the card shows the segment", || {
            page.text("#card-segment").contains("in segment 0x7f0000000000: 3.00 GiB")
        });
    }
    let (x, y) = point_in_plot(&page, 0.5, 0.85);
    page.move_to(x, y);
    page.wait_until("the free memory is shown", || page.text("#card-title").starts_with("Free: ≤ 1.00 GiB"));
    page.click_at(x, y);
    page.wait_for(&Some(SEGMENT_ADDRESS.to_string()), || page.attribute("#details", "data-segment"));
    assert_eq!(page.attribute("#details", "data-reserved"), Some(RESERVED.to_string()));
    assert!(
        page.text("#details-facts").contains("≤ 1.00 GiB · 1,072,692,736 B at 0x7f0080100200"),
        "{}",
        page.text("#details-facts")
    );
    page.click("#details-only");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#only-segment", "aria-pressed"));
    assert_eq!(page.text("#only-segment").trim_end_matches(" ×"), "Only 0x7f0000000000");
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press_with("K", SHIFT);
    page.wait_for(&Some("false".to_owned()), || page.attribute("#only-segment", "aria-pressed"));
    // A click on a block selects its allocation.
    let (x, y) = point_in_plot(&page, 0.5, 1.0 / 6.0);
    page.click_at(x, y);
    page.wait_for(&Some((1u64 << 30).to_string()), || page.attribute("#details", "data-size"));
    page.wait_for(&None, || page.attribute("#details", "data-segment"));
    assert_eq!(page.attribute("#fit-bytes", "disabled").as_deref(), Some(""));
    assert!(
        page.attribute("#stacking", "title")
            .is_some_and(|title| title.contains("Only the Live and Reserved views have an order"))
    );
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_switch_plots_and_move_between_blocks() {
    let page = open_halves();
    for plot in ["addresses", "reserved", "stack", "addresses"] {
        page.press_with("Y", SHIFT);
        page.wait_for(&Some(plot.to_owned()), || page.attribute("#picture", "data-show"));
        page.wait_for(&plot.into(), || page.evaluate("document.querySelector('#show').value"));
    }
    assert!(settled_timeline(&page).colours >= 3, "the timeline is drawn");
    let (x, y) = point_in_plot(&page, 0.5, 1.0 / 6.0);
    page.move_to(x, y);
    page.wait_until("the lower block is shown", || page.text("#card-title").contains("1,073,741,824"));
    page.press_with("ArrowUp", SHIFT);
    page.wait_until("the upper block is shown", || page.text("#card-title").contains("1,073,742,336"));
    page.press("Enter");
    page.wait_for(&Some(((1u64 << 30) + 512).to_string()), || page.attribute("#details", "data-size"));
    page.press_with("ArrowDown", SHIFT);
    page.wait_until("the lower block is shown again", || page.text("#card-title").contains("1,073,741,824"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn reserved_plot_shows_segments_and_exact_lines() {
    let page = open_halves();
    show_plot(&page, "reserved");
    let (x, y) = point_in_plot(&page, 0.5, 0.5);
    page.move_to(x, y);
    page.wait_for(&"3.00 GiB reserved".to_owned(), || page.text("#card-title"));
    page.wait_until("the values of the lines are shown", || page.text("#reading").contains(": 3.00 GiB reserved · "));
    let exact = || page.attribute("#reading", "title").unwrap_or_default();
    assert!(exact().contains("3,221,225,472 B reserved"), "{}", exact());
    let reading = exact();
    for part in ["B allocated (rounded)", "B live (requested)", " free ("] {
        assert!(reading.contains(part), "{reading}");
    }
    assert_eq!(page.attribute("#line-rounded", "aria-pressed").as_deref(), Some("true"));
    for part in [
        "≥ 2,148,532,736 B allocated",
        "2,147,484,160 B live, not awaiting free",
        "1,048,576 B awaiting free",
        "≤ 33.3 % free",
    ] {
        assert!(reading.contains(part), "{reading}");
    }
    let lines = || Picture::capture(&page, "#labels");
    let before = lines();
    // No block is rounded in this file, so two of the lines coincide.
    page.press("6");
    page.wait_for(&Some("false".to_owned()), || page.attribute("#line-free", "aria-pressed"));
    page.wait_until("the line is hidden", || lines() != before);
    page.click("#line-free");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#line-free", "aria-pressed"));
    let (x, y) = point_in_plot(&page, 0.5, 0.5);
    page.click_at(x, y);
    page.wait_for(&Some(SEGMENT_ADDRESS.to_string()), || page.attribute("#details", "data-segment"));
    assert_eq!(page.attribute("#details", "data-allocation"), None, "no allocation is selected");
    assert_eq!(page.text("#details-title"), "3.00 GiB segment");
    assert!(page.text("#details-facts").contains("3,221,225,472 B"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn growing_segments_reach_recorded_peak() {
    let Some(files) = real_files() else { return };
    let reserved = 643_825_664u64;
    let is_it = |device: &serde_json::Value| device["peak_reserved"].as_u64() == Some(reserved);
    let file = files.iter().find(|file| file.devices.iter().any(is_it)).expect("the file with expandable segments");
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= 3);
    show_plot(&page, "reserved");
    let shown = || {
        let text = page.attribute("#reading", "title").unwrap_or_default();
        let before = text.split(" B reserved").next().filter(|before| before.len() < text.len())?;
        before.rsplit(": ").next()?.replace(',', "").parse::<u64>().ok()
    };
    let (x, y) = point_in_plot(&page, 0.5, 0.2);
    page.move_to(x, y);
    page.wait_until("the values of the lines are shown", || shown().is_some());
    let mut most = 0;
    for column in 0..200 {
        let (x, y) = point_in_plot(&page, (f64::from(column) + 0.5) / 200.0, 0.2);
        page.move_to(x, y);
        // The reading is updated in the next frame.
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        most = most.max(shown().unwrap_or(0));
    }
    assert_eq!(most, reserved);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_pool_can_be_shown() {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&generate_file("private-pools.pickle", "--private-pools --steps 2 --layers 6")]);
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= 3);
    show_plot(&page, "reserved");
    page.wait_until("pools are listed", || {
        page.evaluate("document.querySelector('#only-pool').options.length").as_u64() > Some(2)
    });
    let all = settled_timeline(&page);
    let value = page.evaluate("document.querySelector('#only-pool').options[2].value");
    select_option(&page, "#only-pool", value.as_str().expect("the value of the option"));
    page.wait_until("the pool is drawn", || Picture::capture(&page, "canvas#timeline") != all);
    page.press_with("Y", SHIFT);
    page.press_with("Y", SHIFT);
    page.wait_for(&Some("addresses".to_owned()), || page.attribute("#picture", "data-show"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn plots_are_saved_under_their_names() {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.save_downloads_in(&fixtures::folder());
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= 3);
    for (plot, words) in [("addresses", "Height: addresses"), ("reserved", "Height: reserved bytes")] {
        show_plot(&page, plot);
        let path = fixtures::folder().join(format!("halves-device0-{plot}-events-0-121.svg"));
        let _ = std::fs::remove_file(&path);
        page.press("i");
        page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
        page.press("s");
        page.wait_until(&format!("{} is saved", path.display()), || {
            std::fs::read_to_string(&path).is_ok_and(|text| text.contains("</svg>"))
        });
        let text = std::fs::read_to_string(&path).expect("the file was saved");
        assert!(text.contains(words), "{text}");
        assert_eq!(text.contains("<polyline"), plot == "reserved");
    }
}

fn generate_file(name: &str, words: &str) -> PathBuf {
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    fixtures::write_file(name, &bytes)
}

/// Keeps screenshots of both plots of a file, with the pointer over each.
fn take_screenshots(file: &Path, scheme: &str, width: u32, name: &str) {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.prefer_color_scheme(scheme);
    page.resize(width, 800);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= 3);
    for plot in ["addresses", "reserved"] {
        show_plot(&page, plot);
        let (x, y) = point_in_plot(&page, 0.6, 0.3);
        page.move_to(x, y);
        page.wait_until_idle();
        save_drawn_screenshot(&page, &format!("plots-{name}-{plot}"));
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{name} {plot} scrolls sideways");
        if width == 1280 {
            // The controls leave enough room for the plot.
            let [tools, stage] = ["#tools", "#stage"].map(|part| page.bounding_box(part).height);
            assert!(tools < 70.0 && stage >= 200.0, "{name} {plot}: {tools} px of tools, {stage} px of picture");
        }
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_plots_are_saved() {
    let pending = generate_file("pending-host.pickle", "--pending --host --steps 2 --layers 8");
    take_screenshots(&pending, "light", 600, "pending-600");
    let pools = generate_file("pools.pickle", "--private-pools --steps 2 --layers 8");
    take_screenshots(&pools, "dark", 1280, "pools-dark");
    let grown = generate_file("expandable.pickle", "--expandable --steps 2 --layers 8");
    take_screenshots(&grown, "light", 1280, "expandable");
    let Some(files) = real_files() else { return };
    let file = |name: &str| files.iter().find(|file| file.path.ends_with(name)).map(|file| file.path.clone());
    for (name, scheme, width, kept) in [
        ("train-fp32-1185-segments.pickle", "light", 1280, "segments"),
        ("train-annotated-mixed-precision.pickle", "dark", 600, "mixed-600-dark"),
    ] {
        file(name).into_iter().for_each(|file| take_screenshots(&file, scheme, width, kept));
    }
}
