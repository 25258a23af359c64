//! The views are one: what is selected or searched in one of them is so in all, and in the timeline.

use crate::corpus::real_files;
use crate::opening::empty_page;
use crate::page::{ALT, Page};
use crate::pictures::settled;

/// A page with a real file of some thousand allocations; `None`, said aloud, without the corpus.
fn training() -> Option<Page> {
    let files = real_files()?;
    let file = files.into_iter().find(|file| file.path.ends_with("train-fp32-1185-segments.pickle"))?;
    let page = empty_page();
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    show(&page, "tree");
    page.wait_until("the tree has rows", || page.attribute("#tree-space .row", "data-bytes").is_some());
    // A click beside a picture that is not there yet selects nothing.
    settled(&page);
    Some(page)
}

/// Shows a view, by its tab.
fn show(page: &Page, tab: &str) {
    page.click(&format!("#tab-{tab}"));
    page.wait_until("the view is seen", || page.shows(&format!("#{tab}")));
}

fn selected(page: &Page) -> Option<String> {
    page.attribute("#details", "data-allocation")
}

/// Waits until another allocation is selected, and gives it.
#[track_caller]
fn another(page: &Page, than: &Option<String>) -> Option<String> {
    page.wait_until("another allocation is selected", || selected(page).is_some() && selected(page) != *than);
    selected(page)
}

fn reading(page: &Page) -> String {
    page.text("#flame-reading")
}

/// How often the timeline was drawn.
fn pictures(page: &Page) -> Option<String> {
    page.attribute("canvas#timeline", "data-frames")
}

/// Where the selected allocation is in tree, flame graph and table.
#[track_caller]
fn is_in_all(page: &Page, allocation: &Option<String>) {
    show(page, "tree");
    page.wait_until("its stack is marked in the tree", || {
        page.attribute("#tree-space .marked:not([hidden])", "data-node").is_some()
    });
    show(page, "flame");
    page.wait_until("its box is told", || reading(page).contains("The selected allocation is in"));
    show(page, "table");
    page.wait_for(allocation, || page.attribute("#table-rows .selected", "data-allocation"));
}

/// A number with commas, as people read it.
fn grouped(digits: &str) -> String {
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|it| str::from_utf8(it).ok()).collect();
    groups.join(",")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn what_is_selected_in_one_view_is_so_in_all() {
    let Some(page) = training() else { return };
    // An allocation: from the timeline…
    let (x, y) = page.corners("canvas#timeline").at(0.9, 0.5);
    page.click_at(x, y);
    let clicked = another(&page, &None);
    is_in_all(&page, &clicked);
    // …and from the table.
    let before = pictures(&page);
    page.evaluate("document.querySelector('#table-grid').focus()");
    page.press("ArrowDown");
    let next = another(&page, &clicked);
    page.wait_until("the timeline is drawn anew", || pictures(&page) != before);
    is_in_all(&page, &next);

    // A node: from the tree to the timeline, the flame graph and the table, to the byte.
    show(&page, "tree");
    let before = pictures(&page);
    page.evaluate("document.querySelector('#tree-rows').focus()");
    page.press("h");
    page.wait_for(&Some("false".to_owned()), || page.attribute("#tree-internal", "aria-pressed"));
    page.settled("the tree", || page.text("#tree-space"));
    page.press("Home");
    page.press("ArrowDown");
    page.press("Enter");
    let node = |name: &str| page.attribute("#tree-space .selected:not([hidden])", name);
    page.wait_until("a row is selected", || node("data-bytes").is_some());
    let (bytes, count) = (node("data-bytes").unwrap_or_default(), node("data-count"));
    page.wait_until("the timeline is drawn anew", || pictures(&page) != before);
    show(&page, "flame");
    page.wait_until("its box is selected", || reading(&page).contains(&format!("{} B", grouped(&bytes))));
    show(&page, "table");
    page.wait_for(&Some(bytes.clone()), || page.attribute("#table-status", "data-bytes"));
    page.wait_for(&count, || page.attribute("#table-status", "data-count"));
    assert!(page.shows("#chip-node"), "the table says what filters it");

    // From the flame graph, a few boxes deeper, to the tree and the table.
    show(&page, "flame");
    page.evaluate("document.querySelector('#flame-canvas').focus()");
    let mut told = reading(&page);
    for _ in 0..4 {
        page.press("ArrowDown");
        page.wait_until("the next box", || reading(&page) != told);
        told = page.settled("what is told", || reading(&page));
    }
    let before = node("data-node");
    show(&page, "tree");
    page.wait_until("its row is selected and seen", || {
        let seen = "(() => { const row = document.querySelector('#tree-space .selected:not([hidden])')?.getBoundingClientRect(); \
                    const list = document.querySelector('#tree-scroll').getBoundingClientRect(); \
                    return !!row && row.top >= list.top - 1 && row.bottom <= list.bottom + 1; })()";
        page.evaluate(seen) == true && node("data-node") != before
    });
    let bytes = node("data-bytes").unwrap_or_default();
    assert!(told.contains(&format!("{} B", grouped(&bytes))), "{bytes} in {told}");
    show(&page, "table");
    page.wait_for(&Some(bytes), || page.attribute("#table-status", "data-bytes"));
    // The chip gives the node up for all.
    page.click("#chip-node");
    show(&page, "tree");
    page.wait_for(&None, || node("data-node"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_search_marks_and_counts_in_all_views() {
    let Some(page) = training() else { return };
    let type_in = |text: &str| {
        page.evaluate(&format!(
            "{{ const find = document.querySelector('#find'); find.value = {}; find.dispatchEvent(new Event('input')); }}",
            serde_json::Value::from(text)
        ));
    };
    let tally = || page.attribute("#find-status", "data-count").and_then(|it| it.parse::<u64>().ok());
    let before = pictures(&page);
    page.press("/");
    page.wait_until("the field has the focus", || page.evaluate("document.activeElement.id") == "find");
    type_in("OPTIMIZER.py");
    page.wait_until("it is found", || tally().is_some_and(|count| count > 0));
    let folded = tally();
    page.wait_until("the timeline is drawn anew", || pictures(&page) != before);
    // Count and bytes in the scope are the same in every view.
    page.wait_until("the tree tells it", || page.text("#tree-found").contains(" found · "));
    let found = page.text("#tree-found");
    page.evaluate("document.querySelector('#tree-rows').focus()");
    page.press("n");
    page.wait_until("a row is gone to", || page.attribute("#tree-space .match.active", "data-node").is_some());
    show(&page, "flame");
    page.wait_for(&found, || page.text("#flame-found"));
    show(&page, "table");
    page.wait_until("the table tells it", || page.text("#table-status").ends_with(&found));
    // From match to match of what the table shows; the row of each is in view.
    page.evaluate("document.querySelector('#table-grid').focus()");
    page.press("n");
    let first = another(&page, &None);
    page.wait_for(&first, || page.attribute("#table-rows .selected.found", "data-allocation"));
    page.press("n");
    let second = another(&page, &first);
    page.press_held("N", crate::page::SHIFT);
    assert_eq!(another(&page, &second), first);
    // Where capitals matter, there is no such file; as an expression that folds them, as much as before.
    page.press_held("c", ALT);
    page.wait_for(&Some(0), tally);
    page.wait_for(&Some("true".to_owned()), || page.attribute("#find-capitals", "aria-pressed"));
    page.wait_until("nothing is told", || !page.text("#table-status").contains("found"));
    type_in("/OPTIMIZER\\.py/i");
    page.wait_for(&folded, tally);
    type_in("optimizer.py");
    page.wait_for(&folded, tally);
    page.click("#find-capitals");
    page.wait_for(&folded, tally);
    // A line of the view by source searches for itself, in all views.
    show(&page, "sources");
    page.wait_until("lines are there", || page.attribute("#sources-rows tr.line button", "data-row").is_some());
    page.click("#sources-rows tr.line button");
    page.wait_until("the line is looked for", || tally().is_some_and(|count| count > 0) && tally() != folded);
    show(&page, "tree");
    page.wait_until("the tree tells it", || {
        page.text("#tree-found").contains(" found · ") && page.text("#tree-found") != found
    });
    page.click("#find-clear");
    page.wait_for(&String::new(), || page.text("#tree-found"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn views_with_nothing_to_show_say_so() {
    let page = empty_page();
    // One block without a stack comes and goes; the second device has a segment and no event.
    let event = |action: &str| format!(r#"{{"action":"{action}","addr":4096,"size":512,"stream":0,"frames":[]}}"#);
    let trace = ["alloc", "free_requested", "free_completed"].map(event).join(",");
    let segment = r#"{"device":1,"address":8192,"total_size":2097152,"stream":0,"segment_type":"large","allocated_size":0,
        "active_size":0,"requested_size":0,"blocks":[{"address":8192,"size":2097152,"requested_size":0,"state":"inactive"}]}"#;
    let file = format!(r#"{{"segments":[{segment}],"device_traces":[[{trace}],[]]}}"#);
    page.drop_files(&[&crate::fixtures::file("nothing.json", file.as_bytes())]);
    page.wait_for_state("ready");
    // Without stacks there is one row, one box and a row of the table.
    show(&page, "tree");
    page.wait_until("the tree says it", || page.text("#tree-space").contains("no stack"));
    let says = |words: [&str; 5], name: &str| {
        let seen = ["tree", "flame", "table", "histograms", "sources"];
        for (tab, words) in seen.into_iter().zip(words) {
            show(&page, tab);
            page.wait_until(&format!("{tab} says {words}"), || page.text("#answer").contains(words));
            crate::pictures::keep(&page, &format!("nothing-{name}-{tab}"));
        }
    };
    page.press("@");
    page.evaluate("document.querySelector('#at').value = 'end'");
    page.press("Enter");
    page.wait_for(&Some("0".to_owned()), || page.attribute("#moment", "data-live-requested"));
    let nothing = "Nothing is live at the cursor.";
    // By source it is told beside the peak, which had something.
    says([nothing, nothing, nothing, nothing, "no frame in your code"], "live");
    page.evaluate("{ const device = document.querySelector('#device'); device.value = '1'; device.dispatchEvent(new Event('change')); }");
    page.wait_for(&Some("0".to_owned()), || page.attribute("#summary", "data-events"));
    says([nothing; 5], "device");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
