//! The first lines: the alarm below the header, verdicts above maps, the file that ran out of memory, and notes about
//! what a recording lacks.

use crate::chromium::{Adapter, Chromium};
use crate::comparing::two_runs;
use crate::fixtures::{halves, halves_value, write_file};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::segments::generate_file;
use crate::site::Site;
use memscape::render::PictureTheme;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn open_page(file: &Path) -> Page {
    let page = open_empty_page();
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page
}

fn open_sample(name: &str) -> Page {
    let page = Page::open(Chromium::shared(Adapter::Missing), &format!("{}#v=1&url={name}", Site::shared().page()));
    page.wait_for_state("ready");
    page
}

/// Upper and lower edge of an element in CSS pixels.
fn edges(page: &Page, selector: &str) -> [f64; 2] {
    let place = page.bounding_box(selector);
    [place.top, place.top + place.height].map(f64::round)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn oom_is_one_alarm_on_the_first_screen() {
    let page = open_page(&generate_file("verdict-oom.pickle", "--steps 2 --layers 4 --oom"));
    page.wait_until("the alarm is raised", || page.is_shown("#alarm"));
    page.wait_until_idle();
    assert!(page.text("#alarm-text").starts_with("Out of memory at event "), "{}", page.text("#alarm-text"));
    assert_eq!(page.evaluate("document.querySelectorAll('#alarm button').length"), 1);
    assert_eq!(page.text("#insights-badge"), "1", "one error is one alarm");
    page.resize(1440, 900);
    page.wait_until("Insights has half of the height", || page.bounding_box("#answer").height.round() == 450.0);
    // A narrow window, and 200 % zoom of a common one.
    for (width, height) in [(600, 900), (720, 450), (1280, 720), (1440, 900)] {
        page.resize(width, height);
        page.wait_until_idle();
        let ([_, header], [top, bottom]) = (edges(&page, "#bar"), edges(&page, "#alarm"));
        assert!(top >= header && top - header <= 1.0, "the alarm is below the header at {width} × {height}");
        assert!(bottom <= f64::from(height), "{bottom} at {width} × {height}");
        let button = page.bounding_box("#alarm-show");
        assert!(button.left + button.width <= f64::from(width), "{button:?} at {width} × {height}");
        save_screenshot(&page, &format!("alarm-{width}x{height}"));
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn leak_opens_its_report_with_half_of_the_height() {
    let page = open_sample("leak.pickle.gz");
    page.wait_until("the alarm is raised", || page.is_shown("#alarm"));
    // The same figures as in the report, which `www/docs/insight-topics.md` shows.
    let alarm = "Likely leak: train.py:71 log_metrics keeps 42.0 MiB more per step, 336 MiB in all.";
    assert_eq!(page.text("#alarm-text"), alarm);
    page.wait_for(&Some("leaks".to_owned()), || page.attribute("#insights-report", "data-topic"));
    let half = page.evaluate("Math.round(innerHeight / 2)").as_f64().expect("a height");
    page.wait_until("Insights has half of the height", || (page.bounding_box("#answer").height - half).abs() <= 1.0);
    page.wait_until_idle();
    page.click("#alarm-show");
    page.wait_until("its sentence is marked", || {
        page.evaluate("!!document.querySelector('#insights-statements .alarm [aria-pressed=true]')") == true
    });
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn leak_moves_nothing_while_another_view_is_shown() {
    let page = open_sample("leak.pickle.gz&tab=tree");
    let places = || ["#alarm-row", "#tools", "#stage", "#answer"].map(|part| edges(&page, part));
    let before = places();
    page.wait_until("the alarm is raised", || page.is_shown("#alarm"));
    page.wait_until_idle();
    assert_eq!(places(), before);
    page.click("#alarm-show");
    page.wait_for(&Some("leaks".to_owned()), || page.attribute("#insights-report", "data-topic"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_without_findings_says_so_in_the_row_of_the_alarm() {
    let page = open_page(&halves());
    wait_for_halves(&page);
    let before = edges(&page, "#stage");
    page.wait_until("all reports are known", || page.is_shown("#no-alarm") || page.is_shown("#alarm"));
    assert_eq!(edges(&page, "#stage"), before);
    assert_eq!(page.is_shown("#no-alarm"), !page.is_shown("#alarm"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn legend_has_room_of_empty_selection() {
    let page = open_page(&halves());
    wait_for_halves(&page);
    let is_visible = |part: &str| page.evaluate(&format!("document.querySelector('{part}').checkVisibility()")) == true;
    page.click("#side-selection");
    page.wait_until("cursor and legend share the panel", || is_visible("#moment") && is_visible("#legend-entries"));
    let (x, y) = page.bounding_box("canvas#timeline").at(0.6, 0.75);
    page.click_at(x, y);
    page.wait_until("the selection has the panel", || is_visible("#details") && !is_visible("#legend-entries"));
    page.click("#clear-selection");
    page.wait_until("the legend is back", || !is_visible("#details") && is_visible("#legend-entries"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn failed_rank_is_opened_and_verdict_is_above_map() {
    let options = "--steps 2 --layers 2 --hidden 128 --sequence 64 --frames 12";
    let files: Vec<PathBuf> = [11, 2, 1]
        .into_iter()
        .map(|rank| {
            let oom = if rank == 11 { " --oom" } else { "" };
            generate_file(&format!("verdict_rank{rank}.pickle"), &format!("{options}{oom}"))
        })
        .collect();
    let page = open_empty_page();
    page.drop_files(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    page.wait_until("the rank that failed is open", || {
        page.evaluate("document.title").to_string().contains("verdict_rank11")
    });
    page.wait_for_state("ready");
    page.wait_for(&Some("ranks".to_owned()), || page.attribute("#insights-report", "data-topic"));
    page.wait_until("the map is shown", || page.is_shown("#insights-maps canvas"));
    assert!(page.text("#insights-statements").contains("ran out of memory"), "{}", page.text("#insights-statements"));
    assert!(edges(&page, "#insights-statements")[1] <= edges(&page, "#insights-maps")[0]);
    // Numbers in names count as numbers.
    let names = page.evaluate("[...document.querySelector('#snapshot').options].map(it => it.text.split(/\\s/)[0])");
    let names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(names, ["verdict_rank1.pickle", "verdict_rank2.pickle", "verdict_rank11.pickle"]);
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Step 3 of the tutorial on ranks. The archive lists its members again, which must not open the failed one again.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn chosen_rank_of_archive_stays_open() {
    let title = |page: &Page| page.evaluate("document.title").as_str().unwrap_or_default().to_owned();
    let page = open_empty_page();
    page.drop_files(&[&Path::new(env!("CARGO_MANIFEST_DIR")).join("www/docs/samples/ranks.tar")]);
    page.wait_until("the rank that failed is open", || title(&page).contains("rank00003"));
    page.wait_for_state("ready");
    page.wait_until("the map is shown", || page.is_shown("#insights-maps canvas"));
    page.evaluate(
        "{ const list = document.querySelector('#snapshot'); list.selectedIndex = 0; list.dispatchEvent(new Event('change')); }",
    );
    page.wait_until("the chosen rank is open", || title(&page).contains("rank00000"));
    page.wait_for_state("ready");
    page.click("#insights-topics [data-topic='ranks']");
    page.wait_until("the map is shown again", || page.is_shown("#insights-maps canvas"));
    let shown = page.wait_until_settled("the rank", || title(&page));
    assert!(shown.contains("rank00000"), "{shown}");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn line_below_the_header_is_the_verdict_of_a_comparison() {
    let [a, b] = two_runs();
    let page = open_empty_page();
    page.drop_files(&[&a, &b]);
    page.wait_for_state("ready");
    page.wait_until("the verdict is known", || page.text("#insights-statements").contains("B's peak"));
    let verdict =
        "document.querySelector('#insights-statements [data-item=\"0\"] span:not(.sign, .unseen, .show)').textContent";
    let verdict = page.evaluate(verdict).as_str().unwrap_or_default().to_owned();
    page.wait_for(&verdict, || page.text("#alarm-text"));
    assert_eq!((page.text("#compare-cursor"), page.is_shown("#no-alarm")), (String::new(), false));
    // The labels of both cursors are above the lanes.
    assert!(page.bounding_box("#plot").top - page.bounding_box("#stage").top >= 20.0);
    save_screenshot(&page, "comparison-verdict");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cursor_label_has_a_row_above_several_lanes() {
    let page = open_page(&generate_file("verdict-lanes.pickle", "--devices 2 --steps 2 --layers 4"));
    let row = || page.bounding_box("#plot").top - page.bounding_box("#stage").top;
    assert!(row() <= 1.0, "one device has no row of labels");
    page.click("#lanes");
    page.wait_until("both devices are shown", || {
        page.evaluate("document.querySelectorAll('#lane-labels .lane').length") == 2
    });
    page.wait_until("the row of labels is there", || (row() - 21.0).abs() <= 1.0);
    page.wait_for(&Some("true".to_owned()), || page.attribute("#axis", "aria-pressed"));
    page.click("#lanes");
    page.wait_until("the row is gone", || row() <= 1.0);
    page.wait_for(&Some("false".to_owned()), || page.attribute("#axis", "aria-pressed"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn recording_without_stacks_is_explained_in_the_plot() {
    let mut value = halves_value();
    for event in value["device_traces"][0].as_array_mut().expect("the trace is an array") {
        event["frames"] = json!([]);
    }
    for segment in value["segments"].as_array_mut().expect("segments are an array") {
        for block in segment["blocks"].as_array_mut().expect("blocks are an array") {
            block["frames"] = json!([]);
        }
    }
    let page = open_page(&write_file("verdict-no-stacks.json", value.to_string().as_bytes()));
    page.wait_until("the note is shown", || page.is_shown("#plot-note"));
    assert!(page.text("#plot-note-text").contains("_record_memory_history(context=\"all\")"));
    page.click("#plot-note-close");
    page.wait_until("the note is closed", || !page.is_shown("#plot-note"));
    // An unreadable file: the reason, and below it the code that records a snapshot.
    let page = open_empty_page();
    page.drop_files(&[&write_file("verdict-unreadable.pickle", b"\x80\x04no pickle")]);
    page.wait_for_state("error");
    let ([_, reason], [code, end]) = (edges(&page, "#error"), edges(&page, "#snippet"));
    assert!(reason <= code && end <= 700.0, "{reason}, {code}, {end}");
    assert!(code < edges(&page, "#welcome-title")[0]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn picture_beside_a_snapshot_is_answered() {
    let page = open_empty_page();
    page.drop_files(&[&write_file("loss.png", b"not a snapshot"), &halves()]);
    wait_for_halves(&page);
    page.wait_for(&"Not a snapshot: loss.png.".to_owned(), || page.text("#status"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn legend_explains_marks_in_their_colours() {
    let page = open_page(&generate_file("verdict-marks.pickle", "--steps 2 --layers 4 --pending --oom"));
    page.wait_until("the marks are explained", || page.is_shown("#mark-oom"));
    assert!(["#mark-reserved", "#mark-free", "#mark-awaiting"].iter().all(|mark| page.is_shown(mark)));
    for (scheme, look) in [("light", PictureTheme::light()), ("dark", PictureTheme::dark())] {
        page.prefer_color_scheme(scheme);
        let rgb = |[red, green, blue, _]: [u8; 4]| format!("rgb({red}, {green}, {blue})");
        let style = |of: &str, property: &str| {
            page.evaluate(&format!("getComputedStyle(document.querySelector('{of}'), '::before').{property}"))
        };
        page.wait_for(&json!(rgb(look.reserved_edge)), || style("#mark-reserved", "borderTopColor"));
        page.wait_for(&json!(rgb(look.reserved_fill)), || style("#mark-free", "backgroundColor"));
        let oom = style("#mark-oom", "backgroundImage");
        assert!(oom.as_str().is_some_and(|it| it.contains(&rgb(look.peak))), "{oom}");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn all_inputs_have_one_style() {
    let page = open_page(&halves());
    wait_for_halves(&page);
    // Cells of the table of rules and the field of the palette are no boxes of their own.
    let styles = "[...new Set([...document.querySelectorAll('input:is([type=text], [type=number])')] \
        .filter(it => !it.closest('#rules-form') && it.id !== 'palette-field') \
        .map(it => getComputedStyle(it)).map(it => [it.borderTopColor, it.borderRadius, it.backgroundColor, it.fontSize, it.fontFamily].join('; ')))]";
    let styles = page.evaluate(styles);
    assert_eq!(styles.as_array().map(Vec::len), Some(1), "{styles:#}");
}
