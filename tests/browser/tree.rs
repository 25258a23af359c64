//! Call tree in the page: exact bytes, keys, links to other views, scrolling and settings.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;

use crate::fixtures::{LOWER_BYTES, UPPER_BYTES, halves};
use crate::interactions::{open_halves, point_at_event};
use crate::opening::open_empty_page;
use crate::page::{CTRL, Page, SHIFT};
use crate::screenshots::save_screenshot;
use crate::site::Site;
use std::path::{Path, PathBuf};

const ACTIVE: &str = "#tree-space .row.active";

fn real_file(name: &str) -> Option<PathBuf> {
    real_files()?.into_iter().map(|file| file.path).find(|path| path.ends_with(name))
}

/// Opens a file in a page and shows the call tree.
fn open_tree(file: &Path) -> Page {
    let page = open_empty_page();
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.click("#tab-tree");
    page.wait_until("the tree has rows", || page.attribute("#tree-space .row", "data-bytes").is_some());
    page.evaluate("document.activeElement.blur()");
    page
}

/// Attribute of the active row.
fn active_attr(page: &Page, attribute: &str) -> Option<String> {
    page.attribute(ACTIVE, attribute)
}

fn active_name(page: &Page) -> String {
    // A name is cut between its parts, which `innerText` puts on lines of their own.
    page.evaluate(&format!("document.querySelector('{ACTIVE} .name')?.textContent"))
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Waits until the active row has this name.
#[track_caller]
fn wait_for_active(page: &Page, wanted: &str) {
    page.wait_for(&wanted.to_owned(), || active_name(page));
}

fn row_count(page: &Page) -> u64 {
    let rows = page.attribute("#tree-rows", "aria-rowcount").and_then(|rows| rows.parse::<u64>().ok());
    rows.unwrap_or(0).saturating_sub(1)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_trees_are_saved() {
    let show = |file: &Path, scheme: &str, width: u32, height: u32, steps: &[(&[(&str, u32)], &str)]| {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[file]);
        page.wait_for_state("ready");
        for (keys, name) in steps {
            for (key, held) in *keys {
                page.press_with(key, *held);
                page.wait_until_idle();
            }
            page.wait_until_idle();
            save_screenshot(&page, &format!("gallery-tree-{name}"));
            let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
            assert_eq!(wide, false, "{name} scrolls sideways");
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    };
    let Some(training) = real_file("train-fp32-1185-segments.pickle") else { return };
    let down = ("ArrowDown", 0);
    let steps: &[(&[(&str, u32)], &str)] = &[
        (&[("j", 0)], "first"),
        (&[down, down, down, ("e", 0), down, down, down, ("Enter", 0)], "opened"),
        (&[("f", 0)], "focused"),
        (&[("Backspace", 0), ("Escape", 0), ("r", 0), down], "inverted"),
        (&[("?", 0)], "help"),
        (&[("?", 0), (",", CTRL)], "settings"),
    ];
    show(&training, "light", 1280, 900, steps);
    show(&training, "dark", 1280, 900, &steps[..2]);
    show(&training, "light", 600, 900, &steps[..2]);
    if let Some(deep) = real_file("deep-stacks-no-time.pickle") {
        show(&deep, "light", 1280, 900, &[(&[("j", 0), ("e", SHIFT), ("PageDown", 0)], "deep")]);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_navigate_to_line_with_most_bytes() {
    let Some(training) = real_file("train-fp32-1185-segments.pickle") else { return };
    let page = open_tree(&training);
    // The total is the exact peak.
    let peak = page.attribute("#summary", "data-peak-requested");
    page.wait_for(&peak, || page.attribute("#tree-rows", "data-total"));
    page.press("j");
    wait_for_active(&page, "all allocations");
    assert_eq!((active_attr(&page, "data-bytes"), active_attr(&page, "aria-level")), (peak.clone(), Some("1".into())));
    // Inverted (internal frames are hidden by default): the rows below the root are lines of the user's code, largest
    // first.
    page.press("r");
    page.wait_for(&Some("true".into()), || page.attribute("#tree-invert", "aria-pressed"));
    page.wait_for(&Some("true".into()), || page.attribute("#tree-internal", "aria-pressed"));
    page.wait_until("the tree has changed", || page.text("#tree-space").contains("backward and library frames"));
    page.wait_for(&peak, || page.attribute("#tree-rows", "data-total"));
    let lines = "[...document.querySelectorAll('#tree-space .row:not([hidden])')]
        .filter(row => row.ariaLevel == 2).map(row => [row.ariaPosInSet, row.dataset.bytes]).sort((a, b) => a[0] - b[0])
        .every(([, bytes], at, all) => at == 0 || +all[at - 1][1] >= +bytes)";
    page.wait_for(&true.into(), || page.evaluate(lines));
    for _ in 0..3 {
        page.press("ArrowDown");
    }
    wait_for_active(&page, "step");
    page.wait_until("the row has its line", || page.text(&format!("{ACTIVE} .place")).ends_with("optimizer.py:74"));
    page.press("Enter");
    page.wait_for(&Some("true".into()), || active_attr(&page, "aria-selected"));
    // Selects the row's largest allocation, which marks its stack.
    page.press("a");
    page.wait_until("an allocation is selected", || page.attribute("#details", "data-size").is_some());
    assert!(page.text("#frames").contains("optimizer.py:74"), "{}", page.text("#frames"));
    page.wait_until("its stack is marked", || page.attribute("#tree-space .marked", "data-node").is_some());
    // Esc clears the node, then the allocation.
    page.press("Escape");
    page.wait_for(&None, || page.attribute("#tree-space .selected", "data-node"));
    assert!(page.attribute("#details", "data-size").is_some());
    page.press("Escape");
    page.wait_for(&None, || page.attribute("#details", "data-size"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn timeline_and_tree_share_selection() {
    let page = open_halves();
    page.click("#tab-tree");
    page.wait_until("the tree has rows", || page.attribute("#tree-space .row", "data-bytes").is_some());
    // From the timeline to the tree.
    let (x, y) = point_at_event(&page, 60, 0.9);
    page.click_at(x, y);
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#tree-space .marked", "data-bytes"));
    wait_for_active(&page, "make_lower");
    // From the tree to the timeline: allocations outside the row fade.
    let pixel = |down: f64| {
        let (x, y) = point_at_event(&page, 60, down);
        page.evaluate(&format!("document.elementFromPoint({x}, {y}).id"))
    };
    assert_eq!(pixel(0.9), "timeline");
    let frames = || page.attribute("canvas#timeline", "data-frames");
    let before = frames();
    let upper =
        "[...document.querySelectorAll('#tree-space .row')].find(row => row.textContent.includes('make_upper'))";
    // Row elements are reused while the list loads.
    let row = page.wait_until_settled("the row exists", || page.evaluate(&format!("{upper}?.id")));
    page.click(&format!("#{} .name", row.as_str().expect("the row has an id")));
    page.wait_for(&Some(UPPER_BYTES.to_string()), || page.attribute("#tree-space .selected", "data-bytes"));
    page.wait_until("the timeline is drawn again", || frames() != before);
    page.click("#tree-heaviest");
    page.wait_for(&Some(UPPER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    // The search marks rows, and "n" moves between them while the tree has the focus.
    page.evaluate("document.querySelector('#find').focus()");
    page.evaluate(
        "{ const find = document.querySelector('#find'); find.value = 'make_lower'; \
                   find.dispatchEvent(new Event('input')); }",
    );
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#tree-space .match", "data-bytes"));
    page.evaluate("document.querySelector('#tree-rows').focus()");
    page.press("n");
    wait_for_active(&page, "make_lower");
    page.wait_for(&"1.00 GiB".to_owned(), || page.text(&format!("{ACTIVE} .found")));
    // Focuses the subtree of a row, and returns.
    page.press("f");
    page.press("ArrowUp");
    page.press("ArrowUp");
    page.press("f");
    page.wait_until("the breadcrumbs are shown", || page.text("#tree-way").contains("all allocations"));
    page.wait_for(&Some("1".into()), || active_attr(&page, "aria-level"));
    // Inverting the tree removes the focused breadcrumb, and the focus moves to the tree.
    let focus = || page.evaluate("document.activeElement.id");
    page.evaluate("document.querySelector('#tree-way button').focus()");
    page.press("r");
    page.wait_for(&String::new(), || page.text("#tree-way"));
    page.wait_for(&"tree-rows".into(), focus);
    page.press("r");
    page.wait_until("the breadcrumbs are shown", || page.text("#tree-way").contains("all allocations"));
    page.press("Backspace");
    page.wait_for(&String::new(), || page.text("#tree-way"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn fully_expanded_tree_scrolls_to_end() {
    let Some(deep) = real_file("deep-stacks-no-time.pickle") else { return };
    let page = open_tree(&deep);
    page.press("j");
    page.press("h");
    page.wait_until_settled("the tree", || page.text("#tree-space"));
    page.press_with("E", SHIFT);
    page.wait_until("all rows are expanded", || row_count(&page) > 250);
    let last = page.wait_until_settled("the number of rows", || row_count(&page));
    page.press("End");
    page.wait_for(&Some((last + 1).to_string()), || active_attr(&page, "aria-rowindex"));
    page.wait_until("the last row is visible", || {
        let seen = "(() => { const row = document.querySelector('#tree-space .active')?.getBoundingClientRect(); \
                    const list = document.querySelector('#tree-scroll').getBoundingClientRect(); \
                    return row && row.height == 22 && row.top >= list.top && row.bottom <= list.bottom + 1; })()";
        page.evaluate(seen) == true
    });
    let rows = "document.querySelectorAll('#tree-space .row').length";
    assert!(page.evaluate(rows).as_u64().is_some_and(|rows| rows < 80), "rows outside the view are rendered");
    let height = page.evaluate("document.querySelector('#tree-scroll').scrollHeight");
    assert_eq!(height.as_u64(), Some(last * 22));
    // Names of deep frames stay visible, because a chain of calls is not indented further.
    for down in [0.25, 0.5, 0.75] {
        page.evaluate(&format!(
            "{{ const list = document.querySelector('#tree-scroll'); list.scrollTop = list.scrollHeight * {down}; }}"
        ));
        page.wait_until("rows are visible there", || {
            let seen = "(() => { const list = document.querySelector('#tree-scroll').getBoundingClientRect(); \
                        const rows = [...document.querySelectorAll('#tree-space .row:not([hidden])')] \
                            .map(row => [row, row.getBoundingClientRect()]) \
                            .filter(([, at]) => at.bottom > list.top && at.top < list.bottom); \
                        return rows.length >= list.height / 22 && rows.every(([row]) => \
                            row.querySelector('.name').getBoundingClientRect().width > 20); })()";
            page.evaluate(seen) == true
        });
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn editor_link_settings_apply_and_are_stored() {
    let page = open_tree(&halves());
    page.press(",");
    page.press_with(",", CTRL);
    page.wait_for(&Some(String::new()), || page.attribute("dialog#settings", "open"));
    let type_in = |field: &str, text: &str| {
        page.evaluate(&format!(
            "{{ const field = document.querySelector('{field}'); field.focus(); field.value = {}; \
             for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind)); }}",
            serde_json::Value::from(text)
        ));
    };
    type_in("#setting-template", "javascript:alert('{file}')");
    page.wait_until("the error is shown", || page.text("#template-note").contains("vscode:"));
    assert_eq!(page.attribute("#setting-template", "aria-invalid"), Some("true".into()));
    type_in("#setting-template", "vscode://file{file}:{line}");
    type_in("#setting-folder", "/home/user/");
    page.wait_until("an example is shown", || page.text("#template-note").contains("vscode://file/home/user/train.py"));
    type_in("#setting-rules", "native\nnonsense");
    page.wait_until("the line of the error is shown", || page.text("#rules-note").starts_with("line 2"));
    // Hides functions whose names start with "make_".
    type_in("#setting-rules", "name:make_*");
    // Closed with the button: on Esc the page would receive the `close` event a moment later.
    page.click("#settings-close");
    page.wait_for(&None, || page.attribute("dialog#settings", "open"));
    let link = || page.attribute("#tree-space .user a.place[href]", "href");
    page.wait_for(&Some("vscode://file/home/user/train.py:40".into()), link);
    assert_eq!(page.text("#tree-space .user .place"), "train.py:40");
    page.press("j");
    let is_hidden = || !page.text("#tree-space").contains("make_") && page.text("#tree-space").contains("main");
    page.wait_until("the rules apply", is_hidden);
    // The settings still apply when the page is opened again.
    page.navigate("about:blank");
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    page.wait_for_state("ready");
    page.click("#tab-tree");
    page.evaluate("document.activeElement.blur()");
    page.wait_for(&Some("vscode://file/home/user/train.py:40".into()), link);
    page.press("j");
    page.wait_until("the rules apply again", is_hidden);
    // The details contain the same links.
    page.press("a");
    page.wait_until("the details contain links", || page.attribute("#frames a.place", "href").is_some());
    assert_eq!(page.errors(), Vec::<String>::new());
}
