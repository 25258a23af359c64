//! Parts around the timeline: annotation slices, cards, the axis of free memory, the legend, and the histograms in the
//! table's header.

use crate::appearance::open_with_scheme;
use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures;
use crate::generate::{Options, generate};
use crate::opening::open_empty_page;
use crate::page::Page;
use crate::screenshots::{save_screenshot, settled_timeline};
use crate::site::Site;
use serde_json::{Value, json};

/// Opens a generated training run with nine annotated steps.
fn open_training() -> Page {
    let words = "--steps 9 --layers 4 --hidden 512 --oom";
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    let page = open_empty_page();
    page.drop_files(&[&fixtures::write_file("annotated.pickle", &bytes)]);
    page.wait_for_state("ready");
    settled_timeline(&page);
    page
}

/// Terms and values of a definition list.
fn definition_list(page: &Page, list: &str) -> Vec<(String, String)> {
    let script = format!(
        "[...document.querySelectorAll('{list} dt')].map(it => [it.textContent, it.nextElementSibling.textContent])"
    );
    let pair = |pair: &Value| (pair[0].as_str().unwrap_or("").to_owned(), pair[1].as_str().unwrap_or("").to_owned());
    page.evaluate(&script).as_array().expect("an array").iter().map(pair).collect()
}

fn select_option(page: &Page, select: &str, value: &str) {
    page.evaluate(&format!(
        "(it => {{ it.value = '{value}'; it.dispatchEvent(new Event('change')); }})(document.querySelector('{select}'))"
    ));
}

/// Point in the upper lane of the annotations.
fn point_in_track(page: &Page, across: f64) -> (f64, f64) {
    let strip = page.bounding_box("#axis-strip");
    let (x, top) = strip.at(across, 0.0);
    (x, top + 24.0 + 7.0)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn annotation_slices_show_card_and_are_selected_and_zoomed() {
    let page = open_training();
    let (x, y) = point_in_track(&page, 0.5);
    page.move_to(x, y);
    page.wait_until("the card shows the slice", || page.text("#card-title").starts_with("step_"));
    page.wait_until("the card shows exact bytes", || {
        definition_list(&page, "#card-facts").iter().any(|(_, value)| value.contains(" B in"))
    });
    let (name, card) = (page.text("#card-title"), definition_list(&page, "#card-facts"));
    assert_eq!(page.evaluate("getComputedStyle(document.querySelector('#axis-strip')).cursor"), json!("pointer"));
    save_screenshot(&page, "annotation-slice");
    page.click_at(x, y);
    page.wait_until("the slice is the range", || page.attribute("#range", "data-from").is_some());
    page.wait_until("the range is summarized", || !definition_list(&page, "#range-facts").is_empty());
    let range = definition_list(&page, "#range-facts");
    for (label, value) in card.iter().filter(|(label, _)| label != "Duration") {
        let same = range.iter().find(|(known, _)| known == label);
        assert_eq!(same.map(|(_, value)| value), Some(value), "{label}: {range:?}");
    }
    // After zooming, the slice takes nearly the full width.
    for kind in ["mousePressed", "mouseReleased"] {
        page.double_click_event(kind, (x, y));
    }
    for across in [0.1, 0.9] {
        let (x, y) = point_in_track(&page, across);
        page.wait_until("the same slice is under the pointer", || {
            page.move_to(x, y - 1.0);
            page.move_to(x, y);
            page.text("#card-title") == name
        });
    }
    // Keys move from slice to slice.
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    let from = || page.attribute("#range", "data-from").and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    let first = from();
    page.press(")");
    page.wait_until("the next slice is the range", || from() > first);
    page.press("(");
    page.wait_for(&first, from);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn card_is_complete_and_beside_pointer() {
    let page = open_training();
    for (across, down) in [(0.3, 0.6), (0.6, 0.8), (0.97, 0.5), (0.5, 0.97)] {
        let (x, y) = page.bounding_box("canvas#timeline").at(across, down);
        page.move_to(x, y);
        page.wait_until("the card shows the block", || page.text("#card-share").ends_with(" live"));
        page.wait_until("the card shows the category", || page.text("#card-share").contains(" · "));
        // It may still be the card of the previous position.
        page.wait_until_settled("the card", || page.text("#card"));
        assert!(page.text("#card-title").contains(" B"));
        assert!(page.text("#card-lifetime").contains("allocated"));
        let (card, stage) = (page.bounding_box("#card"), page.bounding_box("#plot"));
        let ((left, top), (right, bottom)) = (card.at(0.0, 0.0), card.at(1.0, 1.0));
        assert!(!((left..right).contains(&x) && (top..bottom).contains(&y)), "{card:?} hides {x} {y}");
        assert!(bottom <= stage.at(0.0, 1.0).1 + 1.0 && top >= stage.at(0.0, 0.0).1 - 1.0, "{card:?} {stage:?}");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn reserved_plot_layout_is_stable() {
    let page = open_training();
    select_option(&page, "#show", "reserved");
    page.wait_for(&Some("reserved".to_owned()), || page.attribute("#picture", "data-show"));
    settled_timeline(&page);
    // The axis of percentages is beside the plot, outside the crosshair's area.
    let (plot, stage) = (page.bounding_box("#plot"), page.bounding_box("#stage"));
    assert!(stage.at(1.0, 0.0).0 - plot.at(1.0, 0.0).0 >= 40.0);
    let (minimap, strip) = (page.bounding_box("#minimap"), page.bounding_box("#axis-strip"));
    for other in [minimap, strip] {
        assert!(
            (other.at(1.0, 0.0).0 - plot.at(1.0, 0.0).0).abs() <= 2.0,
            "the right edges differ: {other:?} {plot:?}"
        );
    }
    let places = || ["#stage", "#reading", "#divider"].map(|it| page.bounding_box(it).at(0.0, 1.0).1.round());
    let before = places();
    for across in [0.2, 0.5, 0.95] {
        let (x, y) = page.bounding_box("canvas#timeline").at(across, 0.5);
        page.move_to(x, y);
        page.wait_until("the values of the lines are shown", || page.text("#reading").contains(" reserved · "));
        assert_eq!(places(), before, "the layout has changed");
    }
    let exact = page.attribute("#reading", "title").unwrap_or_default();
    assert!(exact.contains(" B reserved · ≥ ") && exact.contains(" B live (requested)"), "{exact}");
    save_screenshot(&page, "reserved-view");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn legend_is_filtered_and_its_buttons_do_not_cover_bytes() {
    let page = open_training();
    let entries = || page.evaluate("document.querySelectorAll('#legend .entry').length").as_u64().unwrap_or(0);
    assert!(page.attribute("#legend-filter", "hidden").is_some(), "a short legend needs no filter");
    select_option(&page, "#group", "site");
    page.wait_until("the call sites are listed", || entries() > 8 && page.is_shown("#legend-filter"));
    let all = entries();
    let filter = |text: &str| {
        page.evaluate(&format!(
            "(it => {{ it.value = {}; it.dispatchEvent(new Event('input')); }})(document.querySelector('#legend-filter'))",
            json!(text)
        ));
    };
    // Filters by the name of the last entry, in upper case.
    let last = page.evaluate("[...document.querySelectorAll('#legend .label')].at(-1).textContent");
    let last = last.as_str().expect("the label is a string").to_owned();
    filter(&last.to_ascii_uppercase());
    page.wait_until("fewer entries are listed", || (1..all).contains(&entries()));
    let left = page.evaluate("[...document.querySelectorAll('#legend .label')].map(it => it.textContent)");
    assert!(left.as_array().is_some_and(|left| left.iter().all(|it| it.as_str().is_some_and(|it| it.contains(&last)))));
    filter("no such call site");
    page.wait_until("no match is reported", || page.text("#legend-entries").contains("No matches"));
    filter("");
    page.wait_for(&all, entries);
    // The button "only" is beside the numbers.
    let only = page.bounding_box("#legend .only").at(1.0, 0.0).0;
    assert!(only <= page.bounding_box("#legend .bytes").at(0.0, 0.0).0 + 1.0);
    let titles = "[...document.querySelectorAll('#legend .entry')].every(it => it.title.startsWith(it.querySelector('.label').textContent))";
    assert_eq!(page.evaluate(titles), json!(true), "titles contain the full labels");
    // An ordered scale is a bar without gaps, and its steps can still be faded.
    select_option(&page, "#group", "size");
    page.wait_until("the legend is a ramp", || {
        page.evaluate("document.querySelector('#legend').classList.contains('ramp')") == true
    });
    page.wait_until("the steps of the ramp are shown", || page.text("#legend").contains("–"));
    let gaps = "(all => all.slice(1).map((it, at) => it.getBoundingClientRect().top - all[at].getBoundingClientRect().bottom))([...document.querySelectorAll('#legend .swatch')])";
    let gaps = page.evaluate(gaps);
    assert!(
        gaps.as_array().is_some_and(
            |gaps| !gaps.is_empty() && gaps.iter().all(|gap| gap.as_f64().is_some_and(|gap| gap.abs() < 0.6))
        ),
        "{gaps}"
    );
    page.click("#legend .entry");
    page.wait_for(&Some("false".to_owned()), || page.attribute("#legend .entry", "aria-pressed"));
    save_screenshot(&page, "legend-ramp");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn drag_on_table_header_histogram_filters_rows() {
    let page = open_training();
    page.click("#tab-allocations");
    let bars = || page.evaluate("document.querySelectorAll('#table-sizes i').length").as_u64().unwrap_or(0);
    page.wait_until("bars are shown", || bars() > 4);
    let count = || page.attribute("#table-status", "data-count").and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    page.wait_until("allocations are counted", || count() > 0);
    let all = count();
    let bar = |number: u64| page.bounding_box(&format!("#table-sizes i:nth-child({number})")).middle();
    let (first, last) = (bars() - 3, bars());
    page.drag(bar(first), bar(last), 0);
    page.wait_until("fewer allocations are listed", || (1..all).contains(&count()));
    assert!(page.text("#chip-sizes").contains('–'), "{}", page.text("#chip-sizes"));
    let chosen = || page.evaluate("document.querySelectorAll('#table-sizes [data-chosen=true]').length");
    page.wait_for(&json!(4), chosen);
    save_screenshot(&page, "table-brushed");
    // The Histograms tab shows the same selection.
    page.click("#tab-histograms");
    page.wait_for(&json!(4), || page.evaluate("document.querySelectorAll('#size-bars [aria-pressed=true]').length"));
    for axis in ["#size-axis", "#life-axis"] {
        assert!(page.text(axis).contains("Requested bytes"), "{}", page.text(axis));
    }
    page.click("#measure");
    page.wait_until("the axis shows allocations", || page.text("#size-axis").contains("Allocations"));
    save_screenshot(&page, "histograms-axis");
    page.click("#tab-table");
    page.click("#chip-sizes");
    page.wait_for(&all, count);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn no_view_causes_browser_warnings() {
    let Some(files) = real_files() else { return };
    let is_it = |path: &std::path::Path| path.ends_with("train-annotated-100.pickle");
    let file = files.iter().find(|file| is_it(&file.path)).expect("the annotated file is in the corpus");
    let page = Page::open(Chromium::shared(Adapter::Software), &Site::shared().page_with_webgpu());
    page.wait_for_state("empty");
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    page.wait_for(&Some("webgpu".to_owned()), || page.attribute("canvas#timeline", "data-renderer"));
    settled_timeline(&page);
    let tabs = ["insights", "stacks", "flame", "sources", "allocations", "histograms", "segments", "events"];
    for tab in tabs {
        page.click(&format!("#tab-{tab}"));
        settled_timeline(&page);
    }
    for show in ["addresses", "reserved", "stack"] {
        select_option(&page, "#show", show);
        page.wait_for(&Some(show.to_owned()), || page.attribute("#picture", "data-show"));
        settled_timeline(&page);
    }
    for across in [0.2, 0.7] {
        let (x, y) = page.bounding_box("canvas#timeline").at(across, 0.6);
        page.click_at(x, y);
        settled_timeline(&page);
    }
    assert_eq!(page.warnings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn missing_webgpu_shows_icon_with_reason() {
    let page = open_with_scheme("light", Adapter::Missing);
    page.drop_files(&[&fixtures::halves()]);
    page.wait_for_state("ready");
    page.wait_until("the icon is shown", || {
        page.attribute("#notice", "title").is_some_and(|title| title.contains("WebGPU"))
    });
    let sign = page.bounding_box("#notice");
    assert!(sign.at(1.0, 0.0).0 - sign.at(0.0, 0.0).0 <= 24.0, "{sign:?}");
    assert_eq!(page.attribute("#notice", "aria-label"), page.attribute("#notice", "title"));
}
