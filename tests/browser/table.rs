//! Table of allocations and histograms: sorting, filters, multiple selection, copying and scrolling.

use crate::appearance::{open_with_scheme, scrolls_sideways};
use crate::chromium::Adapter;
use crate::corpus::real_files;
use crate::opening::open_empty_page;
use crate::page::{CTRL, Page, SHIFT};
use crate::screenshots::save_screenshot;
use crate::{fixtures, generate};
use std::path::{Path, PathBuf};

/// Generates a file with some hundred allocations per step.
fn training_file() -> PathBuf {
    generate_file("table.pickle", "--steps 2 --layers 6")
}

fn generate_file(name: &str, words: &str) -> PathBuf {
    let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    fixtures::write_file(name, &bytes)
}

/// Opens a file in the page and shows the table.
fn open_table(page: &Page, file: &Path) {
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.press("L");
    page.click("#tab-table");
    let is_filled = "(rows => rows.length > 0 && rows.every(it => it.children[1]?.title))([...document.querySelectorAll('#table-rows > div')])";
    page.wait_until("rows are listed", || page.evaluate(is_filled) == true);
}

fn row_count(page: &Page) -> usize {
    page.evaluate("document.querySelectorAll('#table-rows > div').length").as_u64().unwrap_or(0) as usize
}

/// Count and bytes of the listed allocations, then of the chosen rows.
fn table_totals(page: &Page) -> [u64; 4] {
    ["data-count", "data-bytes", "data-chosen-count", "data-chosen-bytes"]
        .map(|name| page.attribute("#table-status", name).and_then(|it| it.parse().ok()).unwrap_or(0))
}

/// Exact bytes of the visible rows, from their titles.
fn visible_bytes(page: &Page) -> Vec<u64> {
    let titles =
        page.evaluate("[...document.querySelectorAll('#table-rows > div > :nth-child(2)')].map(it => it.title)");
    let bytes = |title: &serde_json::Value| {
        title.as_str().and_then(|it| it.replace([',', ' ', 'B'], "").parse().ok()).expect("exact bytes")
    };
    titles.as_array().expect("an array").iter().map(bytes).collect()
}

fn row_numbers(page: &Page) -> Vec<u64> {
    let rows = page.evaluate("[...document.querySelectorAll('#table-rows > div')].map(it => +it.dataset.row)");
    rows.as_array().expect("an array").iter().filter_map(|it| it.as_u64()).collect()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn table_works_with_mouse_and_keys_and_shows_exact_bytes() {
    let page = open_empty_page();
    open_table(&page, &training_file());
    let peak: u64 =
        page.attribute("#summary", "data-peak-requested").and_then(|it| it.parse().ok()).expect("the peak is a number");
    let [count, bytes, ..] = table_totals(&page);
    assert_eq!(bytes, peak, "the listed bytes are not the peak");
    assert_eq!(page.attribute("#table-grid", "aria-rowcount"), Some((count + 1).to_string()));
    let sizes = visible_bytes(&page);
    assert!(sizes.is_sorted_by(|one, other| one >= other) && sizes.len() > 5, "not sorted by size: {sizes:?}");

    // Chooses the first five rows with keys.
    page.evaluate("document.getElementById('table-grid').focus()");
    page.press("Home");
    for _ in 0..4 {
        page.press_with("ArrowDown", SHIFT);
    }
    let five: u64 = sizes.iter().take(5).sum();
    page.wait_for(&[count, peak, 5, five], || table_totals(&page));
    page.press_with("a", CTRL);
    page.wait_for(&[count, peak, count, peak], || table_totals(&page));
    // Chooses two rows with the mouse, the second one with Ctrl.
    page.click("#table-rows [data-row='1']");
    let (x, y) = page.bounding_box("#table-rows [data-row='3']").middle();
    page.move_to(x, y);
    page.mouse_event("mousePressed", (x, y), "left", CTRL);
    page.mouse_event("mouseReleased", (x, y), "left", CTRL);
    page.wait_for(&[count, peak, 2, sizes[1] + sizes[3]], || table_totals(&page));
    // A click selects the allocation in all views.
    page.wait_for(&page.attribute("#table-rows [data-row='1']", "data-allocation"), || {
        page.attribute("#details", "data-allocation")
    });
    page.wait_for(&Some("true".into()), || page.attribute("#table-rows [data-row='3']", "aria-selected"));

    // The copied text has a header and the two rows.
    page.evaluate("globalThis.copied = ''; \
                   navigator.clipboard.write = async ([item]) => { copied = await (await item.getType('text/plain')).text(); }");
    page.press_with("c", CTRL);
    page.wait_until("text was copied", || page.evaluate("copied") != "");
    let text = page.evaluate("copied").as_str().unwrap_or_default().to_owned();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0][..2], ["id", "requested_bytes"]);
    assert_eq!([lines[1][1], lines[2][1]], [sizes[1].to_string(), sizes[3].to_string()]);
    page.wait_until("the status reports it", || page.text("#status").contains("Copied 2 rows"));

    // Sorts by another column.
    page.click("[data-column='0']");
    page.wait_until("rows are sorted by id", || {
        let numbers =
            page.evaluate("[...document.querySelectorAll('#table-rows > div')].map(it => +it.dataset.allocation)");
        let numbers: Vec<u64> = numbers.as_array().expect("an array").iter().filter_map(|it| it.as_u64()).collect();
        numbers.len() > 5 && numbers.is_sorted()
    });
    let order = || page.attribute("#table-head > :first-child", "aria-sort");
    page.wait_for(&Some("ascending".to_owned()), order);

    // Filters: matches, an error, no matches, cleared.
    page.press("f");
    page.wait_until("the field has the focus", || page.evaluate("document.activeElement.id") == "table-filter");
    for letter in ">=1MiB & age>0".chars() {
        page.press(&letter.to_string());
    }
    page.wait_until("fewer rows are listed", || table_totals(&page)[0] < count);
    page.wait_until("all rows match the filter", || visible_bytes(&page).iter().all(|&size| size >= 1 << 20));
    page.wait_until("the status shows the total", || page.text("#table-status").contains(" of "));
    for letter in " & #".chars() {
        page.press(&letter.to_string());
    }
    page.wait_until("the error is shown", || page.text("#table-status").contains("after #"));
    for letter in "99999999".chars() {
        page.press(&letter.to_string());
    }
    page.wait_until("nothing matches", || page.text("#table-empty").contains("No matches"));
    page.click("#table-empty-clear");
    page.wait_for(&[count, peak], || [table_totals(&page)[0], table_totals(&page)[1]]);

    // A selection made elsewhere scrolls into view.
    page.press("]");
    page.wait_until("the selected row is in view", || {
        let wanted = page.attribute("#details", "data-allocation");
        wanted.is_some() && page.attribute("#table-rows .selected", "data-allocation") == wanted
    });
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn histogram_bars_filter_table() {
    let page = open_empty_page();
    open_table(&page, &training_file());
    let [count, ..] = table_totals(&page);
    page.press_with("H", SHIFT);
    page.wait_until("bars are shown", || page.attribute("#size-bars button", "aria-label").is_some());
    page.wait_until("a bar has the focus", || page.evaluate("!!document.activeElement.dataset.class") == true);
    // The table is hidden, so its keys do nothing.
    let selected = || page.evaluate("document.getElementById('details').hidden");
    assert_eq!(selected(), true);
    page.press("ArrowDown");
    page.press("m");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#measure", "aria-pressed"));
    assert_eq!(selected(), true);
    let names = "[...document.querySelectorAll('#size-bars button')].map(it => it.ariaLabel)";
    let names = page.wait_until_settled("the bars", || page.evaluate(names));
    let of = |name: &serde_json::Value| {
        let (_, rest) = name.as_str()?.split_once(": ")?;
        rest.split_once(" allocation")?.0.replace(',', "").parse::<u64>().ok()
    };
    let counts: Vec<u64> = names.as_array().expect("an array").iter().filter_map(of).collect();
    assert_eq!(counts.iter().sum::<u64>(), count, "{names}");
    let largest = counts.len() - 1;
    page.evaluate(&format!("document.querySelectorAll('#size-bars button')[{largest}].click()"));
    page.wait_for(&counts[largest], || table_totals(&page)[0]);
    page.wait_until("the bar is pressed", || {
        page.attribute("#size-bars [aria-pressed='true']", "aria-label").is_some()
    });
    page.click("#tab-table");
    page.wait_until("only allocations of the bar are listed", || {
        row_count(&page) as u64 == counts[largest].min(row_count(&page) as u64)
            && visible_bytes(&page).len() as u64 <= counts[largest]
    });
    assert!(!page.text("#chip-sizes").is_empty());
    page.click("#chip-sizes");
    page.wait_for(&count, || table_totals(&page)[0]);
    page.wait_until("the table has the focus", || page.evaluate("!!document.activeElement.closest('#table')") == true);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn million_rows_scroll_and_jump() {
    let page = open_empty_page();
    let events = 1_000_000;
    // Nothing is freed, so all allocations are live at the peak.
    let trace = (1..=events).map(|at: u64| {
        format!(r#"{{"action":"alloc","addr":{},"size":{},"stream":0,"frames":[]}}"#, at << 12, at % 4096 + 1)
    });
    let trace: Vec<String> = trace.collect();
    let file = format!(r#"{{"segments":[],"device_traces":[[{}]]}}"#, trace.join(","));
    open_table(&page, &fixtures::write_file("million.json", file.as_bytes()));
    page.wait_until("all rows are listed", || table_totals(&page)[0] >= events);
    let rows = table_totals(&page)[0];
    page.click("[data-column='0']");
    page.evaluate("document.getElementById('table-grid').focus()");
    page.press("End");
    page.wait_until("the last row is listed", || row_numbers(&page).contains(&(rows - 1)));
    page.press("PageUp");
    page.press("ArrowUp");
    page.wait_until("the row above is active", || {
        let row = page.attribute("#table-rows .active", "data-row").and_then(|row| row.parse::<u64>().ok());
        row.is_some_and(|row| row < rows - 2)
            && page.attribute("#table-rows .selected", "data-row").and_then(|it| it.parse().ok()) == row
    });
    page.evaluate("const grid = document.getElementById('table-grid'); grid.scrollTop = grid.scrollHeight / 2");
    page.wait_until("rows of the middle are listed", || {
        row_numbers(&page).iter().any(|row| row.abs_diff(rows / 2) < 2000)
    });
    page.evaluate("document.getElementById('table-grid').scrollTop = 1e9");
    page.wait_until("the last row is listed again", || row_numbers(&page).contains(&(rows - 1)));
    // The last row is completely visible at the lower edge.
    let (grid, last) =
        (page.bounding_box("#table-grid"), page.bounding_box(&format!("#table-rows [data-row='{}']", rows - 1)));
    assert!((grid.top + grid.height - last.top - last.height).abs() <= 18.0, "{grid:?} {last:?}");
    page.press("Home");
    page.wait_until("the first row is listed", || row_numbers(&page).first() == Some(&0));
    page.press_with("a", CTRL);
    page.wait_until("the sum of all rows is shown", || {
        table_totals(&page)[2] == rows && table_totals(&page)[3] == table_totals(&page)[1]
    });
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_table_are_saved() {
    let file = real_files().and_then(|files| {
        files.into_iter().map(|file| file.path).find(|path| path.ends_with("train-fp32-1185-segments.pickle"))
    });
    let file = file.unwrap_or_else(training_file);
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 600)] {
        let page = open_with_scheme(scheme, Adapter::Missing);
        page.resize(width, 900);
        open_table(&page, &file);
        page.evaluate("document.getElementById('table-grid').focus()");
        page.press("Home");
        page.press("ArrowDown");
        page.press_with("ArrowDown", SHIFT);
        page.press_with("ArrowDown", SHIFT);
        page.evaluate("document.getElementById('answer').scrollIntoView()");
        page.wait_until("three are chosen", || table_totals(&page)[2] == 3);
        page.wait_until_idle();
        save_screenshot(&page, &format!("table-{scheme}-{width}"));
        assert!(!scrolls_sideways(&page), "at {width}");
        page.click("#tab-histograms");
        page.wait_until("bars are shown", || page.attribute("#size-bars button", "aria-label").is_some());
        page.evaluate("document.querySelector('#size-bars button:last-child').click()");
        page.wait_until_idle();
        save_screenshot(&page, &format!("histograms-{scheme}-{width}"));
    }
}
