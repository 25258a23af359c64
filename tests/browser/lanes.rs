//! Lanes, one per device, over a common horizontal axis: drawing, hit tests and focus.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, LOWER_BYTES, UPPER_BYTES, halves_value};
use crate::generate::{Options, generate};
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::{Picture, save_drawn_screenshot, settled_timeline};
use crate::site::Site;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Requested bytes of the lower block on the second device.
const LOWER_ON_1: u64 = 3 << 30;
/// Requested bytes of the upper block on the second device.
const UPPER_ON_1: u64 = (3 << 30) + 1024;
/// Delay of the second device's events, in µs. Events of the first device are 10 µs apart.
const DELAY_US: u64 = 600;

/// Writes a snapshot with [`fixtures::halves`] on device 0, and the same with other sizes, [`DELAY_US`] later, on
/// device 1.
fn two_devices() -> PathBuf {
    let (first, mut second) = (halves_value(), halves_value());
    let resized = |value: &mut Value, key: &str| match value[key].as_u64() {
        Some(LOWER_BYTES) => value[key] = LOWER_ON_1.into(),
        Some(UPPER_BYTES) => value[key] = UPPER_ON_1.into(),
        _ => {}
    };
    for event in second["device_traces"][0].as_array_mut().expect("the trace is an array") {
        resized(event, "size");
        event["time_us"] = (event["time_us"].as_u64().expect("the event has a time") + DELAY_US).into();
    }
    for segment in second["segments"].as_array_mut().expect("segments are an array") {
        segment["device"] = 1.into();
        segment["total_size"] = (7u64 << 30).into();
        for block in segment["blocks"].as_array_mut().expect("blocks are an array") {
            ["size", "requested_size"].into_iter().for_each(|key| resized(block, key));
        }
    }
    let both = json!({
        "segments": [first["segments"][0], second["segments"][0]],
        "device_traces": [first["device_traces"][0], second["device_traces"][0]],
    });
    let bytes = serde_pickle::to_vec(&both, serde_pickle::SerOptions::new()).expect("plain data");
    fixtures::write_file("two-lanes.pickle", &bytes)
}

/// Shows the first device. Initially the page shows the one with the highest peak.
fn show_first(page: &Page) {
    // The list is filled in a later frame than the one that says that the file is open.
    page.wait_until("the devices are listed", || {
        page.evaluate("document.querySelector('#device').options.length > 1") == true
    });
    page.evaluate(
        "{ const list = document.querySelector('#device'); list.value = '0'; list.dispatchEvent(new Event('change')); }",
    );
}

/// Opens the page with both devices in lanes, over events.
fn open_lanes() -> Page {
    let page = open_empty_page();
    page.drop_files(&[&two_devices()]);
    page.wait_for_state("ready");
    show_first(&page);
    page.click("#lanes");
    page.wait_for(&json!(["GPU 0", "GPU 1"]), || lane_names(&page));
    // Devices with times are first shown on the time axis.
    page.wait_for(&Some("true".into()), || page.attribute("#axis", "aria-pressed"));
    page.press("t");
    page.wait_for(&Some("false".into()), || page.attribute("#axis", "aria-pressed"));
    settled_timeline(&page);
    page
}

fn lane_names(page: &Page) -> Value {
    page.evaluate("[...document.querySelectorAll('#lane-labels .lane .name')].map(label => label.innerText)")
}

fn focused_lane(page: &Page) -> Option<String> {
    page.attribute("#lane-labels [aria-current]", "data-lane")
}

#[track_caller]
fn wait_for_focused_lane(page: &Page, lane: &str) {
    page.wait_for(&Some(lane.to_owned()), || focused_lane(page));
}

/// Clicks at fractions of the plot's width and height, and waits until an allocation of this size is selected.
#[track_caller]
fn click_and_select(page: &Page, across: f64, down: f64, size: u64) {
    // A selection opens its panel, which makes the plot narrower.
    settled_timeline(page);
    let (x, y) = page.bounding_box("canvas#timeline").at(across, down);
    page.click_at(x, y);
    page.wait_for(&Some(size.to_string()), || page.attribute("#details", "data-size"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn click_in_lane_selects_block_and_focuses_lane() {
    let page = open_lanes();
    wait_for_focused_lane(&page, "0");
    // Each lane has two blocks, and above them the reserved memory. The lanes share one scale.
    click_and_select(&page, 0.6, 0.465, LOWER_BYTES);
    click_and_select(&page, 0.6, 0.395, UPPER_BYTES);
    click_and_select(&page, 0.6, 0.90, LOWER_ON_1);
    wait_for_focused_lane(&page, "1");
    page.wait_for(&json!("1"), || page.evaluate("document.querySelector('select#device').value"));
    let peak = (LOWER_ON_1 + UPPER_ON_1 + (1 << 20)).to_string();
    page.wait_for(&Some(peak), || page.attribute("#summary", "data-peak-requested"));
    click_and_select(&page, 0.6, 0.68, UPPER_ON_1);
    click_and_select(&page, 0.6, 0.395, UPPER_BYTES);
    wait_for_focused_lane(&page, "0");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn card_shows_block_under_pointer_in_each_lane() {
    let page = open_lanes();
    for (down, ranges) in [
        (0.465, "1.00 GiB · 1,073,741,824 B"),
        (0.90, "3.00 GiB · 3,221,225,472 B"),
        (0.68, "3.00 GiB · 3,221,226,496 B"),
    ] {
        let (x, y) = page.bounding_box("canvas#timeline").at(0.6, down);
        page.move_to(x, y);
        page.wait_for(&ranges.to_owned(), || page.text("#card-title"));
    }
    assert_eq!(focused_lane(&page).as_deref(), Some("0"), "hovering changes the focus");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_show_lanes_and_move_focus() {
    let page = open_empty_page();
    page.drop_files(&[&two_devices()]);
    page.wait_for_state("ready");
    show_first(&page);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    let alone = settled_timeline(&page);
    assert!(alone.colours >= 3, "one device is drawn");
    page.press("l");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#lanes", "aria-pressed"));
    page.wait_until("the picture changed", || Picture::capture(&page, "canvas#timeline") != alone);
    for (key, device) in [("u", "1"), ("u", "0"), ("b", "1"), ("b", "0")] {
        page.press(key);
        page.wait_for(&Some(device.to_owned()), || focused_lane(&page));
    }
    page.click("#lane-labels [data-lane='1']");
    page.wait_for(&Some("1".to_owned()), || focused_lane(&page));
    page.click("#lane-labels [data-lane='0']");
    page.wait_for(&Some("0".to_owned()), || focused_lane(&page));
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    // The timeline comes below the pointer, which would draw a crosshair.
    page.move_to(1.0, 1.0);
    page.press("l");
    page.wait_for(&json!([]), || lane_names(&page));
    page.wait_until("the one device is back", || Picture::capture(&page, "canvas#timeline") == alone);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn time_axis_is_shared_by_all_lanes() {
    let page = open_lanes();
    page.press("t");
    page.wait_for(&Some("true".into()), || page.attribute("#axis", "aria-pressed"));
    settled_timeline(&page);
    let event_at = |across: f64, down: f64| {
        let (x, y) = page.bounding_box("canvas#timeline").at(across, down);
        page.move_to(x, y);
        page.wait_for_frames();
        page.wait_until("the event of the lane is shown", || page.text("#reading").contains("fter event"));
        // It may still be the one at the previous position.
        let text = page.wait_until_settled("the event", || page.text("#reading"));
        let (lane, rest) = text.split_once("fter event ").expect("the reading names an event");
        let number = rest.split([':', ' ']).next().map(|number| number.replace(',', ""));
        (lane.contains("GPU 1"), number.and_then(|number| number.parse::<i64>().ok()).expect("a number"))
    };
    for across in [0.45, 0.5, 0.6] {
        let (is_second, first) = event_at(across, 0.3);
        assert!(!is_second);
        let (is_second, second) = event_at(across, 0.8);
        assert!(is_second);
        let apart = DELAY_US as i64 / 10;
        assert!((first - second - apart).abs() <= 1, "{across}: {first} and {second}");
    }
    let nothing_yet = page.bounding_box("canvas#timeline").at(0.2, 0.8);
    page.move_to(nothing_yet.0, nothing_yet.1);
    page.wait_until("no event is shown before the second device begins", || {
        !page.text("#reading").contains("fter event")
    });
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_select_devices_without_lane() {
    let (options, _) =
        Options::parse("--devices 12 --events 600 --layers 3".split(' ').map(str::to_owned)).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    let page = open_empty_page();
    page.resize(1280, 600);
    page.drop_files(&[&fixtures::write_file("twelve-devices.pickle", &bytes)]);
    page.wait_for_state("ready");
    show_first(&page);
    page.press_with("V", SHIFT);
    page.click("#lanes");
    page.wait_until("the note about lanes is shown", || page.text("#lanes-note").contains(" of 12 devices"));
    let lanes = page.wait_until_settled("the lanes", || lane_names(&page).as_array().map_or(0, Vec::len));
    assert!((2..12).contains(&lanes), "{lanes} lanes");
    let height = page.bounding_box("canvas#timeline").height / lanes as f64;
    assert!(height >= 48.0, "lanes are {height} CSS pixels high");
    for device in (0..12).rev() {
        page.press("b");
        page.wait_for(&Some(device.to_string()), || focused_lane(&page));
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_lanes_are_saved() {
    let words = "--devices 4 --steps 2 --layers 8 --pending --snapshots --host";
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    let four = fixtures::write_file("four-devices.pickle", &bytes);
    let two = two_devices();
    for (file, scheme, width, name) in [
        (&four, "light", 1280, "lanes-light"),
        (&four, "dark", 1280, "lanes-dark"),
        (&four, "light", 600, "lanes-600"),
        (&two, "dark", 600, "lanes-two-600-dark"),
    ] {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[file]);
        page.wait_for_state("ready");
        page.press("l");
        page.wait_until_idle();
        save_drawn_screenshot(&page, name);
        page.press("t");
        page.press("n");
        page.press("]");
        page.wait_until_idle();
        save_drawn_screenshot(&page, &format!("{name}-time"));
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

/// Maximum time of the page's code per frame while lanes are panned, in ms: four times the goal of 4 ms, so that noise
/// does not fail the test.
const MAX_FRAME_MS: f64 = 16.0;

/// Maximum number of measurements. A busy machine interrupts the page now and then; a slow page is slow every time.
const ATTEMPTS: usize = 3;

/// Script that records the time of the page's code per frame: its frame callbacks and its wheel listener.
const TIMING_SCRIPT: &str = "{ const seen = window.seen = { frames: [], busy: 0 }; \
    const raf = window.requestAnimationFrame.bind(window); \
    window.requestAnimationFrame = frame => raf(time => { const start = performance.now(); frame(time); \
        seen.frames.push(seen.busy + performance.now() - start); seen.busy = 0; }); \
    seen.pan = count => new Promise(done => { const canvas = document.querySelector('canvas#timeline'); \
        const box = canvas.getBoundingClientRect(); seen.frames = []; const step = () => { const start = performance.now(); \
        canvas.dispatchEvent(new WheelEvent('wheel', { clientX: box.left + 99, clientY: box.top + 99, deltaX: count % 60 < 30 ? 9 : -9, bubbles: true, cancelable: true })); \
        seen.busy += performance.now() - start; if (count-- > 0) raf(step); else done(); }; raf(step); }); }";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn eight_devices_pan_within_frame_time() {
    let words = "--devices 8 --events 100000 --frames 8";
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    let page = open_empty_page();
    page.evaluate(TIMING_SCRIPT);
    page.drop_files(&[&fixtures::write_file("eight-devices.pickle", &bytes)]);
    page.wait_for_state("ready");
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    // With the views below collapsed, all devices have a lane.
    page.press_with("V", SHIFT);
    page.press("l");
    page.wait_until("all devices have a lane", || lane_names(&page).as_array().map_or(0, Vec::len) == 8);
    for _ in 0..4 {
        page.press(".");
    }
    let mut medians = Vec::new();
    while medians.len() < ATTEMPTS && medians.last().is_none_or(|&median| median > MAX_FRAME_MS) {
        page.evaluate("window.seen.pan(120)");
        let median = "window.seen.frames.toSorted((a, b) => a - b)[window.seen.frames.length >> 1]";
        medians.push(page.evaluate(median).as_f64().expect("frames"));
    }
    let events = page.attribute("#summary", "data-events");
    println!("{events:?} events on the first of 8 devices: {medians:.2?} ms of the page's own code a frame (median)");
    assert!(medians.iter().any(|&median| median <= MAX_FRAME_MS), "{medians:.2?} ms per frame in all attempts");
    settled_timeline(&page);
    save_drawn_screenshot(&page, "lanes-eight");
}
