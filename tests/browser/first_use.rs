//! First use of the page: room for the plot, number of controls, and the clicks that common questions take.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::{self, halves};
use crate::opened::open;
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::screenshots::save_screenshot;
use crate::segments::generate_file;
use crate::site::Site;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, Cell, Chart, Fold, FoldScope, FoldState, Grouping, Internal, MemoryFilter, ReportQuestion, Scope,
    SegmentSort, SegmentsQuestion, SegmentsSums, SortDirection, Span, TableColumn, TableFilter, TableQuestion,
    TableSort, Tone, Topic, TreeQuestion, TreeRow,
};
use memscape::units::Bytes;
use serde_json::{Value, json};
use std::path::Path;

/// Common window sizes, in CSS pixels.
const SIZES: [(u32, u32); 3] = [(1440, 900), (1280, 720), (1920, 1080)];

/// Ids of the visible controls in the header and the toolbar.
const CONTROLS: &str = "[...document.querySelectorAll('#bar :is(a, button, select, input), #tools :is(button, select)')] \
    .filter(it => it.checkVisibility() && it.id !== 'file' && it.getBoundingClientRect().width > 0).map(it => it.id)";

fn open_page(file: &Path) -> Page {
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page
}

fn is_pressed(page: &Page, control: &str) -> bool {
    page.attribute(control, "aria-pressed").as_deref() == Some("true")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn plot_takes_most_of_window() {
    let page = open_page(&halves());
    for (width, height) in SIZES {
        page.resize(width, height);
        page.wait_until("the header is one row of 44 px", || page.bounding_box("#bar").height.round() == 44.0);
        let plot = page.bounding_box("canvas#timeline").height;
        assert!(plot >= 0.45 * f64::from(height), "{plot} of {height} px at {width} × {height}");
        let controls = page.evaluate(CONTROLS);
        assert!(controls.as_array().is_some_and(|all| (5..=14).contains(&all.len())), "{controls}");
        let sideways = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        assert_eq!(page.evaluate(sideways), false, "the page scrolls sideways");
        let scrolls = "document.documentElement.scrollHeight > document.documentElement.clientHeight";
        assert_eq!(page.evaluate(scrolls), false, "the page scrolls vertically");
        save_screenshot(&page, &format!("screen-{width}x{height}"));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cause_of_oom_is_shown_without_click() {
    let page = open_page(&generate_file("screen-oom.pickle", "--steps 2 --layers 4 --oom"));
    page.wait_for(&Some("true".to_owned()), || page.attribute("#tab-insights", "aria-selected"));
    page.wait_for(&Some("oom".to_owned()), || page.attribute("#insights-report", "data-topic"));
    page.wait_until("the cause is shown", || !page.text("#insights-statements").is_empty());
    // The headlines include the OOM.
    let event = "[...document.querySelectorAll('#headlines button')].map(it => it.dataset.place)";
    assert_eq!(page.evaluate(event), json!(["oom", "peak", "reserved-peak", "end"]));
    let cursor = page.wait_until_settled("the cursor", || page.attribute("#moment", "data-event"));
    page.click("#headlines .peak");
    page.wait_for(&page.attribute("#summary", "data-peak-event"), || page.attribute("#moment", "data-event"));
    page.click("#headlines .oom");
    page.wait_for(&cursor, || page.attribute("#moment", "data-event"));
    for width in [1000, 1050, 1280, 1366] {
        page.resize(width, 768);
        let (all, oom) = (page.bounding_box("#headlines"), page.bounding_box("#headlines .oom"));
        assert!(
            oom.height > 0.0 && oom.top + oom.height <= all.top + all.height,
            "the OOM is hidden at {width} px: {oom:?} in {all:?}"
        );
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn user_frames_are_visible_after_one_click() {
    let page = open_page(&halves());
    wait_for_halves(&page);
    for (width, height) in [(1440, 900), (1280, 720)] {
        page.resize(width, height);
        let (x, y) = page.bounding_box("canvas#timeline").at(0.6, 0.75);
        page.click_at(x, y);
        page.wait_for(&Some(fixtures::LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
        page.wait_for(&Some("true".to_owned()), || page.attribute("#side-selection", "aria-selected"));
        let frame = page.bounding_box("#frames .user");
        assert!(frame.height > 0.0 && frame.top + frame.height <= f64::from(height), "{frame:?} at {height} px");
        save_screenshot(&page, &format!("screen-selection-{width}x{height}"));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn scope_applies_to_all_views() {
    let page = open_page(&halves());
    wait_for_halves(&page);
    page.click("#tab-table");
    let title = || page.text("#answer-title");
    page.wait_until("the live allocations are counted", || title().contains("3 allocations"));
    let all = page.attribute("#summary", "data-allocations").expect("the number of allocations");
    page.click("#scope-trace");
    page.wait_until("the whole trace", || title().starts_with(&format!("{all} allocations")));
    page.wait_until("all of them are listed", || page.text("#table-status").contains(&format!("{all} allocations")));
    assert!(is_pressed(&page, "#scope-trace") && !is_pressed(&page, "#scope-cursor"));
    page.click("#scope-range");
    page.wait_until("the window is the range", || page.attribute("#range", "data-from").is_some());
    page.wait_until("the choices of the scope are shown", || page.bounding_box("#scope").width > 0.0);
    page.click("#scope-cursor");
    page.wait_until("the scope is the cursor again", || title().contains("3 allocations"));
    page.wait_until("nothing is left to choose", || {
        page.evaluate("document.querySelector('#scope-field').hidden") == true
    });
}

/// Answer of an engine without a page, about the first device of the same file.
fn engine_answer(file: &Path, what: Question) -> Answer {
    let mut opened = open(&std::fs::read(file).expect("the file exists")).expect("the file is valid");
    let device = opened.summary.devices[0].device;
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: what })) {
        Reply::Answer { answer, .. } => answer,
        other => panic!("expected an answer, got {other:?}"),
    }
}

fn number_attr(page: &Page, selector: &str, attribute: &str) -> u64 {
    page.attribute(selector, attribute).and_then(|it| it.parse().ok()).unwrap_or(u64::MAX)
}

/// Compares the exact differences between A and B in each view with the engine's answers.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn changes_from_a_to_b_appear_in_every_view() {
    let file = generate_file("screen-change.pickle", "--steps 3 --layers 3");
    let page = open_page(&file);
    page.click("#scope-change");
    page.click("#tab-stacks");
    page.wait_until("the range is there", || number_attr(&page, "#range", "data-to") != u64::MAX);
    let [from, to] = ["data-from", "data-to"].map(|end| number_attr(&page, "#range", end) as u32);
    assert!(from == 0 && from < to, "{from} to {to}");
    let scope = Scope::Change(Span { from, to });
    let all = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
    let question = TreeQuestion {
        scope,
        arrangement: Arrangement { internal: Internal::Hidden, ..Arrangement::default() },
        focus: None,
        folds: vec![all],
        reveal: None,
        search_serial: None,
        rows: [0, 2000],
    };
    let Answer::Tree(tree) = engine_answer(&file, Question::Tree(Box::new(question))) else { panic!("no tree") };
    let [a, b] = tree.ends.map(|end| end.bytes);
    assert!(a != b && tree.rows.len() > 3, "{a} B, {b} B, {} rows", tree.rows.len());
    page.wait_for(&json!([a, b]), || {
        json!([number_attr(&page, "#tree-row-0", "data-bytes"), number_attr(&page, "#tree-row-0", "data-count")])
    });
    page.wait_until("the title shows A, B and the difference", || {
        let title = page.text("#answer-title");
        title.starts_with("A: ") && title.contains("→ B: ") && title.contains("Δ ")
    });
    let heads =
        page.evaluate("[...document.querySelectorAll('#tree-head > span')].slice(1, 6).map(it => it.textContent)");
    assert_eq!(heads, json!(["Δ B − A", "B / A", "At A", "At B", "Δ count"]));
    // Every visible row matches the engine's row.
    page.click("#tree-open-all");
    let rows = "[...document.querySelectorAll('#tree-space > .row:not([hidden])')]
        .map(it => [it.querySelector('.name').textContent, Number(it.dataset.bytes), Number(it.dataset.count)])";
    page.wait_until("more rows are shown", || page.evaluate(rows).as_array().is_some_and(|it| it.len() > 3));
    for row in page.evaluate(rows).as_array().into_iter().flatten() {
        let is_it = |it: &&TreeRow| json!([it.label.name, it.ends[0].bytes, it.ends[1].bytes]) == *row;
        assert!(tree.rows.iter().any(|it| is_it(&it)), "{row} is not in the engine's answer");
    }
    save_screenshot(&page, "screen-change-tree");
    page.click("#tab-flame");
    let ends = format!("{a} {b}");
    page.wait_for(&Some(ends), || page.attribute("#flame-canvas", "data-ends"));
    save_screenshot(&page, "screen-change-flame");
    page.click("#tab-sources");
    let heads = "[...document.querySelectorAll('#sources-head th')].slice(1).map(it => it.textContent)";
    page.wait_for(&json!(["Δ B − A", "B / A", "At A", "At B"]), || page.evaluate(heads));
    page.click("#tab-table");
    let [gone, new] = {
        let sort = TableSort { column: TableColumn::Size, direction: SortDirection::Descending };
        let filter = TableFilter::default();
        let question =
            TableQuestion { scope, filter, sort, rows: [0, 1], reveal: None, selected: vec![], search_serial: None };
        let Answer::Table(table) = engine_answer(&file, Question::Table(Box::new(question))) else {
            panic!("no table")
        };
        assert_eq!(i128::from(b) - i128::from(a), i128::from(table.listed.bytes) - 2 * i128::from(table.freed.bytes));
        let text = |sign: &str, bytes: u64| [if bytes > 0 { sign } else { "" }, &Bytes(bytes).to_string()].concat();
        [text("−", table.freed.bytes), text("+", table.listed.bytes - table.freed.bytes)]
    };
    page.wait_until("allocated and freed bytes are shown", || {
        let status = page.text("#table-status");
        status.contains(&format!("(allocated {new}, freed {gone})"))
    });
    let signs = "[...document.querySelectorAll('#table-rows [role=row]')].every(it => /^[+−]/.test(it.children[1].textContent))";
    assert_eq!(page.evaluate(signs), Value::Bool(true), "each row has a sign");
    save_screenshot(&page, "screen-change-table");
    // A click moves B, and the views follow.
    let (x, y) = page.bounding_box("canvas#timeline").at(0.9, 0.02);
    page.click_at(x, y);
    page.wait_until("B has moved", || number_attr(&page, "#range", "data-to") != u64::from(to));
    assert_eq!(number_attr(&page, "#range", "data-from"), u64::from(from), "A has not moved");
    assert!(is_pressed(&page, "#scope-change"));
}

/// A leak is reported at once, and a click on it shows its live bytes per step.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn leak_shows_bytes_per_step_after_one_click() {
    let file = generate_file("screen-leak.pickle", "--steps 7 --layers 2 --leak");
    let page = open_page(&file);
    page.wait_until("the badge counts the leak", || {
        page.text("#insights-badge").parse::<u32>().is_ok_and(|count| count > 0)
    });
    let question = ReportQuestion { topic: Topic::Peak, rows: 10, ..ReportQuestion::default() };
    let Answer::Report(report) = engine_answer(&file, Question::Report(question)) else { panic!("no report") };
    let grows =
        report.statements.iter().find(|it| matches!(it.chart, Some(Chart::Line { .. }))).expect("the leak is reported");
    assert_eq!(grows.tone, Tone::Alarm);
    let Some(Chart::Line { values, ends }) = &grows.chart else { panic!("no chart") };
    assert_eq!((values.len(), ends), (8, &["start".to_owned(), "step_6".to_owned()]));
    assert!(values.windows(2).all(|two| two[1] > two[0]), "live bytes grow in each step: {values:?}");
    let question = ReportQuestion { topic: Topic::Leaks, rows: 10, ..ReportQuestion::default() };
    let Answer::Report(leaks) = engine_answer(&file, Question::Report(question)) else { panic!("no report") };
    let growth =
        leaks.sheets.iter().find(|it| it.key == "grows").and_then(|it| it.rows.first()).map(|row| row.cells[0].clone());
    // The table leaves out the first two steps.
    assert_eq!(growth, Some(Cell::Change((values[7] - values[2]) as i64)), "the table shows the same growth");
    let bars = "[...document.querySelectorAll('#insights-statements .course i')].map(it => it.title)";
    let expected: Vec<String> = values.iter().map(|&bytes| Bytes(bytes).to_string()).collect();
    page.wait_for(&json!(expected), || page.evaluate(bars));
    page.click("#insights-statements li:has(.course) > button");
    page.wait_until("the chart is expanded", || {
        page.bounding_box("#insights-statements .course .marks").height >= 100.0
    });
    assert!(page.text("#insights-statements li:has(.course) .fix").starts_with("Fix"));
    save_screenshot(&page, "screen-leak");
}

/// Checks the first lines of the view: empty segments, segments pinned by one block, and that block.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn segments_tab_lists_blocks_that_prevent_release() {
    let Some(files) = real_files() else { return };
    let file = files
        .iter()
        .find(|it| it.path.ends_with("train-fp32-1185-segments.pickle"))
        .expect("the file is in the corpus");
    let page = open_page(&file.path);
    page.click("#tab-segments");
    page.wait_until("the segments are shown", || number_attr(&page, "#segments", "data-segments") == 1185);
    // Sums over the engine's segments at the peak (`tests/state.rs` checks those against a reference).
    let Answer::State(state) = engine_answer(
        &file.path,
        Question::State(SegmentsQuestion {
            moment: number_attr(&page, "#segments", "data-moment") as u32,
            filter: MemoryFilter::default(),
            sort: SegmentSort::Address,
            colouring: Grouping::CallSite,
            width_px: 0,
            bytes_per_px: 0.0,
            fit_rows: 0,
            rows: [0, 4096],
            reveal: None,
            request: None,
        }),
    ) else {
        panic!("no state")
    };
    let bars = |holds: &dyn Fn(&SegmentsSums) -> bool, of: &dyn Fn(&SegmentsSums) -> u64| -> (u64, u64) {
        let some: Vec<&SegmentsSums> = state.bars.iter().map(|bar| &bar.sums).filter(|sums| holds(sums)).collect();
        (some.len() as u64, some.into_iter().map(of).sum())
    };
    let empty = bars(&|sums| sums.blocks == 0, &|sums| sums.reserved);
    let pinned = bars(&|sums| sums.blocks == 1 && sums.free > 0, &|sums| sums.free);
    let shown = |segments: &str, bytes: &str| {
        (number_attr(&page, "#segments", segments), number_attr(&page, "#segments", bytes))
    };
    assert_eq!(shown("data-empty-segments", "data-empty-bytes"), empty);
    assert_eq!(shown("data-pinned-segments", "data-pinned-free"), pinned);
    let first = page.text("#segments-kept li:first-child");
    assert_eq!(first, format!("{} empty segments, {}, can be released", empty.0, Bytes(empty.1)));
    let by = &state.releasable.by_site[0];
    assert!(page.text("#segments-kept button").ends_with(&format!("pinned by one block: {}", by.call_site)));
    page.click("#segments-kept button");
    page.wait_until("the pinning block is selected", || {
        number_attr(&page, "#details", "data-allocation") == u64::from(by.allocation)
    });
    save_screenshot(&page, "screen-segments-kept");
}
