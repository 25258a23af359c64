//! Linked views: a selection or a search in one view appears in all views and in the timeline.

use crate::corpus::real_files;
use crate::opening::open_empty_page;
use crate::page::{ALT, Page};
use crate::screenshots::settled_timeline;

/// Opens a real file with several thousand allocations; `None`, with a message, without the corpus.
fn open_training() -> Option<Page> {
    let files = real_files()?;
    let file = files.into_iter().find(|file| file.path.ends_with("train-fp32-1185-segments.pickle"))?;
    let page = open_empty_page();
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    show_view(&page, "tree");
    page.wait_until("the tree has rows", || page.attribute("#tree-space .row", "data-bytes").is_some());
    // A click before the timeline is drawn would select nothing.
    settled_timeline(&page);
    Some(page)
}

/// Shows a view by clicking its tab.
fn show_view(page: &Page, tab: &str) {
    page.click(&format!("#tab-{tab}"));
    page.wait_until("the view is shown", || page.is_shown(&format!("#{tab}")));
}

fn selected_id(page: &Page) -> Option<String> {
    page.attribute("#details", "data-allocation")
}

/// Waits until another allocation is selected, and returns its id.
#[track_caller]
fn wait_for_other_selection(page: &Page, than: &Option<String>) -> Option<String> {
    page.wait_until("another allocation is selected", || selected_id(page).is_some() && selected_id(page) != *than);
    selected_id(page)
}

fn reading(page: &Page) -> String {
    page.text("#flame-reading")
}

/// Number of frames of the timeline so far.
fn timeline_frames(page: &Page) -> Option<String> {
    page.attribute("canvas#timeline", "data-frames")
}

/// Checks that tree, flame graph and table mark this allocation.
#[track_caller]
fn assert_in_all_views(page: &Page, allocation: &Option<String>) {
    show_view(page, "tree");
    page.wait_until("its stack is marked in the tree", || {
        page.attribute("#tree-space .marked:not([hidden])", "data-node").is_some()
    });
    show_view(page, "flame");
    page.wait_until("its box is described", || reading(page).contains("The selected allocation is in"));
    show_view(page, "table");
    page.wait_for(allocation, || page.attribute("#table-rows .selected", "data-allocation"));
}

/// Formats a number with thousands separators.
fn grouped(digits: &str) -> String {
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|it| str::from_utf8(it).ok()).collect();
    groups.join(",")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn selection_is_shared_by_all_views() {
    let Some(page) = open_training() else { return };
    // An allocation selected in the timeline…
    let (x, y) = page.bounding_box("canvas#timeline").at(0.9, 0.5);
    page.click_at(x, y);
    let clicked = wait_for_other_selection(&page, &None);
    assert_in_all_views(&page, &clicked);
    // …and in the table.
    let before = timeline_frames(&page);
    page.evaluate("document.querySelector('#table-grid').focus()");
    page.press("ArrowDown");
    let next = wait_for_other_selection(&page, &clicked);
    page.wait_until("the timeline is drawn again", || timeline_frames(&page) != before);
    assert_in_all_views(&page, &next);

    // A node selected in the tree appears in the timeline, the flame graph and the table, with exact bytes.
    show_view(&page, "tree");
    let before = timeline_frames(&page);
    page.evaluate("document.querySelector('#tree-rows').focus()");
    page.press("h");
    page.wait_for(&Some("false".to_owned()), || page.attribute("#tree-internal", "aria-pressed"));
    page.wait_until_settled("the tree", || page.text("#tree-space"));
    page.press("Home");
    page.press("ArrowDown");
    page.press("Enter");
    let node = |name: &str| page.attribute("#tree-space .selected:not([hidden])", name);
    page.wait_until("a row is selected", || node("data-bytes").is_some());
    let (bytes, count) = (node("data-bytes").unwrap_or_default(), node("data-count"));
    page.wait_until("the timeline is drawn again", || timeline_frames(&page) != before);
    show_view(&page, "flame");
    page.wait_until("its box is selected", || reading(&page).contains(&format!("{} B", grouped(&bytes))));
    show_view(&page, "table");
    page.wait_for(&Some(bytes.clone()), || page.attribute("#table-status", "data-bytes"));
    page.wait_for(&count, || page.attribute("#table-status", "data-count"));
    assert!(page.is_shown("#chip-node"), "the chip of the node filter is shown");

    // A deeper box selected in the flame graph appears in the tree and the table.
    show_view(&page, "flame");
    page.evaluate("document.querySelector('#flame-canvas').focus()");
    let mut shown = reading(&page);
    for _ in 0..4 {
        page.press("ArrowDown");
        page.wait_until("the next box is described", || reading(&page) != shown);
        shown = page.wait_until_settled("the reading", || reading(&page));
    }
    let before = node("data-node");
    show_view(&page, "tree");
    page.wait_until("its row is selected and visible", || {
        let seen = "(() => { const row = document.querySelector('#tree-space .selected:not([hidden])')?.getBoundingClientRect(); \
                    const list = document.querySelector('#tree-scroll').getBoundingClientRect(); \
                    return !!row && row.top >= list.top - 1 && row.bottom <= list.bottom + 1; })()";
        page.evaluate(seen) == true && node("data-node") != before
    });
    let bytes = node("data-bytes").unwrap_or_default();
    assert!(shown.contains(&format!("{} B", grouped(&bytes))), "{bytes} in {shown}");
    show_view(&page, "table");
    page.wait_for(&Some(bytes), || page.attribute("#table-status", "data-bytes"));
    // The chip clears the node in all views.
    page.click("#chip-node");
    show_view(&page, "tree");
    page.wait_for(&None, || node("data-node"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn search_marks_and_counts_matches_in_all_views() {
    let Some(page) = open_training() else { return };
    let type_in = |text: &str| {
        page.evaluate(&format!(
            "{{ const find = document.querySelector('#find'); find.value = {}; find.dispatchEvent(new Event('input')); }}",
            serde_json::Value::from(text)
        ));
    };
    let tally = || page.attribute("#find-status", "data-count").and_then(|it| it.parse::<u64>().ok());
    let before = timeline_frames(&page);
    page.press("/");
    page.wait_until("the field has the focus", || page.evaluate("document.activeElement.id") == "find");
    type_in("OPTIMIZER.py");
    page.wait_until("matches are counted", || tally().is_some_and(|count| count > 0));
    let folded = tally();
    page.wait_until("the timeline is drawn again", || timeline_frames(&page) != before);
    // Count and bytes in the scope are the same in every view.
    page.wait_until("the tree shows the matches", || page.text("#tree-found").contains(" found · "));
    let found = page.text("#tree-found");
    page.evaluate("document.querySelector('#tree-rows').focus()");
    page.press("n");
    page.wait_until("a matching row is active", || page.attribute("#tree-space .match.active", "data-node").is_some());
    show_view(&page, "flame");
    page.wait_for(&found, || page.text("#flame-found"));
    show_view(&page, "table");
    page.wait_until("the table shows the matches", || page.text("#table-status").ends_with(&found));
    // "n" moves from match to match in the table and scrolls to its row.
    page.evaluate("document.querySelector('#table-grid').focus()");
    page.press("n");
    let first = wait_for_other_selection(&page, &None);
    page.wait_for(&first, || page.attribute("#table-rows .selected.found", "data-allocation"));
    page.press("n");
    let second = wait_for_other_selection(&page, &first);
    page.press_with("N", crate::page::SHIFT);
    assert_eq!(wait_for_other_selection(&page, &second), first);
    // With Match case there is no such file. A case-insensitive expression finds as many as before.
    page.press_with("c", ALT);
    page.wait_for(&Some(0), tally);
    page.wait_for(&Some("true".to_owned()), || page.attribute("#find-capitals", "aria-pressed"));
    page.wait_until("no matches are shown", || !page.text("#table-status").contains("found"));
    type_in("/OPTIMIZER\\.py/i");
    page.wait_for(&folded, tally);
    type_in("optimizer.py");
    page.wait_for(&folded, tally);
    page.click("#find-capitals");
    page.wait_for(&folded, tally);
    // A line in the view "By source" starts a search in all views.
    show_view(&page, "sources");
    page.wait_until("lines are listed", || page.attribute("#sources-rows tr.line button", "data-row").is_some());
    page.click("#sources-rows tr.line button");
    page.wait_until("the search for the line has matches", || {
        tally().is_some_and(|count| count > 0) && tally() != folded
    });
    show_view(&page, "tree");
    page.wait_until("the tree shows the matches", || {
        page.text("#tree-found").contains(" found · ") && page.text("#tree-found") != found
    });
    page.click("#find-clear");
    page.wait_for(&String::new(), || page.text("#tree-found"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn empty_views_show_message() {
    let page = open_empty_page();
    // One block without a stack is allocated and freed. The second device has a segment and no events.
    let event = |action: &str| format!(r#"{{"action":"{action}","addr":4096,"size":512,"stream":0,"frames":[]}}"#);
    let trace = ["alloc", "free_requested", "free_completed"].map(event).join(",");
    let segment = r#"{"device":1,"address":8192,"total_size":2097152,"stream":0,"segment_type":"large","allocated_size":0,
        "active_size":0,"requested_size":0,"blocks":[{"address":8192,"size":2097152,"requested_size":0,"state":"inactive"}]}"#;
    let file = format!(r#"{{"segments":[{segment}],"device_traces":[[{trace}],[]]}}"#);
    page.drop_files(&[&crate::fixtures::write_file("nothing.json", file.as_bytes())]);
    page.wait_for_state("ready");
    // Without stacks the tree has one row, the flame graph one box and the table one row.
    show_view(&page, "tree");
    page.wait_until("the tree shows a row without a stack", || page.text("#tree-space").contains("no stack"));
    let expect = |words: [&str; 5], name: &str| {
        let seen = ["tree", "flame", "table", "histograms", "sources"];
        for (tab, words) in seen.into_iter().zip(words) {
            show_view(&page, tab);
            page.wait_until(&format!("{tab} shows {words}"), || page.text("#answer").contains(words));
            crate::screenshots::save_screenshot(&page, &format!("nothing-{name}-{tab}"));
        }
    };
    page.press("@");
    page.evaluate("document.querySelector('#at').value = 'end'");
    page.press("Enter");
    page.wait_for(&Some("0".to_owned()), || page.attribute("#moment", "data-live-requested"));
    let nothing = "Nothing is live at the cursor.";
    // The view "By source" has rows, since it shows the peak too.
    expect([nothing, nothing, nothing, nothing, "no frame in your code"], "live");
    page.evaluate("{ const device = document.querySelector('#device'); device.value = '1'; device.dispatchEvent(new Event('change')); }");
    page.wait_for(&Some("0".to_owned()), || page.attribute("#summary", "data-events"));
    expect([nothing; 5], "device");
    assert_eq!(page.errors(), Vec::<String>::new());
}
