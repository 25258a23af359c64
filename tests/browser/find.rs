//! Search for allocations: queries, counts, next and previous match, highlighting.

use crate::appearance::{open_with_scheme, scrolls_sideways};
use crate::chromium::Adapter;
use crate::fixtures::{LOWER_BYTES, UPPER_BYTES, halves, halves_value};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::Page;
use crate::screenshots::{Picture, save_screenshot, settled_timeline};

fn picture(page: &Page) -> Picture {
    Picture::capture(page, "canvas#timeline")
}

/// Opens [`halves`] in a page and waits until it is drawn.
fn open_halves() -> Page {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    assert!(settled_timeline(&page).colours >= 3);
    page
}

/// Types into the focused element.
fn type_text(page: &Page, text: &str) {
    for letter in text.chars() {
        page.press(&letter.to_string());
    }
}

/// Replaces the text of the search field by typing.
fn search_for(page: &Page, text: &str) {
    page.click("#find");
    page.evaluate("document.getElementById('find').select()");
    type_text(page, text);
}

/// Dispatches a keydown with Shift at the focused element.
fn press_with_shift(page: &Page, key: &str) {
    let event =
        format!("new KeyboardEvent('keydown', {{ key: '{key}', shiftKey: true, bubbles: true, cancelable: true }})");
    page.evaluate(&format!("document.activeElement.dispatchEvent({event})"));
}

fn match_count_and_bytes(page: &Page) -> (Option<String>, Option<String>) {
    (page.attribute("#find-status", "data-count"), page.attribute("#find-status", "data-requested"))
}

fn selected_id(page: &Page) -> Option<u64> {
    page.attribute("#details", "data-allocation").and_then(|id| id.parse().ok())
}

fn focused_id(page: &Page) -> String {
    page.evaluate("document.activeElement.id").as_str().unwrap_or_default().to_owned()
}

/// Number of allocations in the trace of [`halves`] for which `is` returns true, and their bytes, counted from the file
/// itself.
fn expected_matches(is: impl Fn(u64, u64, &str) -> bool) -> (Option<String>, Option<String>) {
    let value = halves_value();
    let trace = value["device_traces"][0].as_array().expect("the trace is an array");
    let sizes: Vec<u64> = trace
        .iter()
        .filter(|event| event["action"] == "alloc")
        .map(|event| {
            (
                event,
                event["addr"].as_u64().expect("the address is an integer"),
                event["size"].as_u64().expect("the size is an integer"),
            )
        })
        .filter(|(event, address, size)| {
            is(*address, *size, event["frames"][0]["name"].as_str().expect("the name is a string"))
        })
        .map(|(_, _, size)| size)
        .collect();
    (Some(sizes.len().to_string()), Some(sizes.iter().sum::<u64>().to_string()))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn search_counts_matches_and_exact_bytes() {
    let page = open_halves();
    let small = expected_matches(|_, size, _| size == 1 << 20);
    assert_eq!(small, (Some("40".into()), Some((40_u64 << 20).to_string())));
    let above = 0x7f00_0000_0000 + LOWER_BYTES;
    let cases = [
        ("MAKE_small", small.clone()),
        ("=1MiB", small.clone()),
        ("1.00 MiB", small),
        (">1GiB", expected_matches(|_, size, _| size > 1 << 30)),
        ("2MiB..1GiB", expected_matches(|_, size, _| size == LOWER_BYTES)),
        ("/make_(lower|upper)$/", expected_matches(|_, _, name| name != "make_small")),
        (&format!("0x{above:x}"), expected_matches(|address, _, _| address == above)),
        (&format!("0x{:x}", above - 1), expected_matches(|_, size, _| size == LOWER_BYTES)),
        (&format!("0x{:x}", above + UPPER_BYTES + 100), expected_matches(|_, _, name| name == "make_small")),
        ("train.py:40", expected_matches(|_, _, _| true)),
        ("nowhere", (Some("0".into()), Some("0".into()))),
    ];
    for (text, expected) in cases {
        search_for(&page, text);
        page.wait_for(&expected, || match_count_and_bytes(&page));
    }
    assert!(page.text("#find-status").contains("No match"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn search_works_with_keyboard_only() {
    let page = open_halves();
    let before = picture(&page);
    page.press("/");
    page.wait_for(&"find".to_owned(), || focused_id(&page));
    type_text(&page, "make_small");
    // Enter does not wait for the pause after typing. Allocations 0 and 1 are the two large ones.
    page.press("Enter");
    page.wait_for(&Some(2), || selected_id(&page));
    page.wait_until("the index of the match is shown", || page.text("#find-status").starts_with("1 of 40 · 40.0 MiB"));
    page.press("Enter");
    page.wait_for(&Some(3), || selected_id(&page));
    press_with_shift(&page, "Enter");
    page.wait_for(&Some(2), || selected_id(&page));
    press_with_shift(&page, "Enter");
    page.wait_for(&Some(41), || selected_id(&page));
    assert_eq!(focused_id(&page), "find", "the field keeps the focus");

    page.press("Escape");
    page.wait_for(&"timeline".to_owned(), || focused_id(&page));
    assert_eq!(page.evaluate("document.getElementById('find').value"), "make_small", "the query stays");
    page.press("n");
    page.wait_for(&Some(2), || selected_id(&page));
    press_with_shift(&page, "N");
    page.wait_for(&Some(41), || selected_id(&page));
    page.press("Escape");
    page.wait_for(&None, || selected_id(&page));
    page.wait_until("other allocations are faded", || picture(&page) != before);
    page.press("Escape");
    page.wait_for(&"".into(), || page.evaluate("document.getElementById('find').value"));
    // The cursor moved with the selection.
    press_with_shift(&page, "P");
    // Removes the focus ring.
    page.evaluate("document.activeElement.blur()");
    // The matches moved the cursor, which was at the peak.
    press_with_shift(&page, "P");
    page.wait_until("the first picture is back", || picture(&page) == before);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn search_works_with_mouse_and_reports_errors() {
    let page = open_halves();
    search_for(&page, ">5MB");
    page.wait_until("the error is shown beside the field", || page.text("#find-status").contains("write MiB"));
    assert_eq!(page.attribute("#find", "aria-invalid").as_deref(), Some("true"));
    assert_eq!(page.evaluate("document.getElementById('find-next').disabled"), true);
    search_for(&page, "make_upper");
    page.wait_for(&Some("1".into()), || match_count_and_bytes(&page).0);
    assert_eq!(page.attribute("#find", "aria-invalid").as_deref(), Some("false"));
    page.click("#find-next");
    page.wait_for(&Some(UPPER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    page.click("#find-previous");
    page.click("#find-clear");
    page.wait_for(&"".into(), || page.evaluate("document.getElementById('find').value"));
    page.wait_for(&Some(String::new()), || match_count_and_bytes(&page).0);
    // An allocation number selects it at once.
    search_for(&page, "#0");
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn allocations_with_selected_stack_are_highlighted() {
    let page = open_halves();
    let plain = picture(&page);
    page.press("]");
    page.wait_for(&Some(0), || selected_id(&page));
    page.wait_until("the stack's total is shown", || {
        page.text("#same-stack-text").contains("1 allocation · 1.00 GiB total")
    });
    let is_highlighted = || page.attribute("#same-stack", "aria-pressed").as_deref() == Some("true");
    page.wait_until("the rest is faded", || is_highlighted() && picture(&page) != plain);
    let faded = settled_timeline(&page);
    assert!(faded != plain);
    page.click("#same-stack");
    page.wait_until("nothing is faded", || !is_highlighted() && picture(&page) != faded);
    page.press("k");
    page.wait_until("the rest is faded again", || is_highlighted() && picture(&page) == faded);
    page.press("Escape");
    page.wait_until("the first picture is back", || picture(&page) == plain);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_search_are_saved() {
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 600)] {
        let page = open_with_scheme(scheme, Adapter::Missing);
        page.resize(width, 800);
        page.click("#open-leak");
        page.wait_for_state("ready");
        page.wait_until("the timeline is drawn", || picture(&page).colours >= 4);
        save_screenshot(&page, &format!("find-nothing-{scheme}-{width}"));
        search_for(&page, "forward");
        page.wait_until("the number of matches is shown", || page.text("#find-status").contains("match"));
        page.wait_until("the matches are drawn", || picture(&page).colours >= 4);
        page.wait_until_idle();
        save_screenshot(&page, &format!("find-found-{scheme}-{width}"));
        page.press("Enter");
        page.wait_until("an allocation is selected", || selected_id(&page).is_some());
        page.wait_until_idle();
        save_screenshot(&page, &format!("find-selected-{scheme}-{width}"));
        assert!(!scrolls_sideways(&page));
        page.click("#find-clear");
        page.wait_until("the stack is highlighted", || page.text("#same-stack-text").contains("at the peak"));
        page.wait_until_idle();
        save_screenshot(&page, &format!("find-stack-{scheme}-{width}"));
        search_for(&page, "/(/");
        page.wait_until("the error is shown", || page.text("#find-status").contains("expression"));
        save_screenshot(&page, &format!("find-wrong-{scheme}-{width}"));
        assert!(!scrolls_sideways(&page));
    }
}
