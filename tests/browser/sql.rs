//! SQL tab in Chromium: exact results, completion, selection by rows, and hostile queries.

use crate::chromium::{Adapter, Chromium};
use crate::comparing::two_runs;
use crate::fixtures;
use crate::opened;
use crate::opening::open_empty_page;
use crate::page::{CTRL, Page};
use crate::screenshots::save_screenshot;
use crate::segments::generate_file;
use crate::site::Site;
use memscape::protocol::{CategorySet, DeviceSummary, Grouping};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Returns whether the page was built with SQL; prints a message if not.
pub(crate) fn has_sql() -> bool {
    let page = std::fs::read_to_string(crate::site::dist().join("index.html")).expect("the page is built");
    let has = page.contains("id=\"part-sql\"");
    if !has {
        println!("SKIPPED: the page was built without SQL, for want of clang");
    }
    has
}

/// Opens a file and the SQL tab, and waits until queries can run.
fn open_sql_tab(page: &Page, path: &Path) {
    page.drop_files(&[path]);
    page.wait_for_state("ready");
    page.click("#tab-sql");
    page.wait_until("the tab is ready", || {
        let status = page.text("#sql-status");
        assert!(page.attribute("#sql-status", "class").as_deref() != Some("wrong"), "{status}");
        status.contains("Ctrl+Enter runs")
    });
}

/// Replaces the query and runs it with Ctrl+Enter.
fn run_query(page: &Page, sql: &str) {
    let typed = "(text => { const field = document.getElementById('sql-text'); field.focus(); field.value = text;
        field.dispatchEvent(new Event('input', { bubbles: true })) })";
    page.evaluate(&format!("void {typed}({})", Value::from(sql)));
    page.press_with("Enter", CTRL);
}

/// Types at the caret.
fn type_at_caret(page: &Page, text: &str) {
    page.evaluate(&format!("document.execCommand('insertText', false, {})", Value::from(text)));
}

/// Cells of the result, once the status line reports it.
fn wait_for_rows(page: &Page) -> Value {
    page.wait_until("the query is answered", || {
        let is_busy = page.attribute("#sql", "aria-busy").as_deref() == Some("true");
        let status = page.text("#sql-status");
        assert!(page.attribute("#sql-status", "class").as_deref() != Some("wrong"), "{status}");
        !is_busy && status.contains(" row")
    });
    page.evaluate(
        "[...document.querySelectorAll('#sql-rows tr')].map(row => [...row.cells].map(cell => cell.textContent))",
    )
}

fn query_rows(page: &Page, sql: &str) -> Value {
    run_query(page, sql);
    wait_for_rows(page)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn query_results_match_engine() {
    if !has_sql() {
        return;
    }
    let path = generate_file("sql.pickle", "--events 5000");
    let mut other = opened::open(&std::fs::read(&path).unwrap()).unwrap();
    let device = other.summary.devices[0].clone();
    let side = other.engine.complete_side(device.device).unwrap();
    let page = open_empty_page();
    let fetched = || page.requests().into_iter().filter(|url| url.contains("/sql-")).count();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    assert_eq!(fetched(), 0, "nothing is fetched before the tab is opened");
    open_sql_tab(&page, &path);
    assert_eq!(fetched(), 2, "the glue script and the wasm");
    let rows = query_rows(&page, "SELECT count(*), sum(requested_bytes) FROM allocation");
    let sum: u64 = side.history.allocations.spans().map(|(.., size)| size).sum();
    assert_eq!(rows, json!([[side.history.allocations.len().to_string(), sum.to_string()]]));
    let rows =
        query_rows(&page, "SELECT sum(requested_bytes), (SELECT max(live_bytes) FROM curve) FROM live_at('peak')");
    assert_eq!(rows, json!([[device.drawn_peak.to_string(), device.drawn_peak.to_string()]]));
    let mut wanted = BTreeMap::<String, u64>::new();
    side.for_each_in_scope(memscape::protocol::Scope::All, &mut |id, bytes| {
        *wanted.entry(side.group_label(Grouping::Category, side.group(Grouping::Category, id))).or_default() += bytes;
    });
    let wanted: Vec<[String; 2]> = wanted.into_iter().map(|(category, bytes)| [category, bytes.to_string()]).collect();
    let by_category = "SELECT category, sum(requested_bytes) FROM allocation GROUP BY category";
    assert_eq!(query_rows(&page, by_category), json!(wanted));
    let saved = "SELECT sum(delta_bytes) FROM between(100, 'end')";
    let live = |moment| side.history.drawn_at(memscape::units::Moment(moment));
    assert_eq!(query_rows(&page, saved), json!([[(live(side.history.event_count()) - live(101)).to_string()]]));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn prepared_queries_fill_editor_table_and_chart() {
    if !has_sql() {
        return;
    }
    let page = open_empty_page();
    open_sql_tab(&page, &generate_file("sql.pickle", "--events 5000"));
    assert_eq!(
        page.evaluate("document.querySelectorAll('#sql-canned button').length"),
        json!(memscape::sql::EXAMPLE_QUERIES.len())
    );
    page.click("#sql-canned [data-act='canned:3']");
    let rows = wait_for_rows(&page);
    assert_eq!(rows[0].as_array().unwrap().len(), 4, "device, event, live and reserved bytes");
    assert_eq!(page.evaluate("document.querySelectorAll('#sql-chart path').length"), json!(2));
    assert!(page.evaluate("document.getElementById('sql-text').value").as_str().unwrap().contains("FROM curve"));
    assert_eq!(page.text("#sql-colour .keyword"), "SELECT");
    // Sorts by a column, then in the other direction.
    let first = || page.text("#sql-rows td:nth-child(2)").parse::<u32>().unwrap();
    page.click("#sql-result [data-act='sort:1']");
    page.wait_until("the last event comes first", || first() > 4000);
    page.click("#sql-result [data-act='sort:1']");
    page.wait_until("the first event comes first", || first() < 10);
    let shown = || page.evaluate("document.querySelectorAll('#sql-rows tr').length").as_u64().unwrap();
    assert_eq!(shown(), 200);
    page.evaluate("void (document.getElementById('sql-scroll').scrollTop = 1e6)");
    page.wait_until("more rows are listed", || shown() > 200);
    page.click("#sql-side > :nth-child(3) summary");
    page.wait_until("the query is in the history", || page.text("#sql-history").contains("FROM curve"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn editor_completes_words_and_rows_select_allocations() {
    if !has_sql() {
        return;
    }
    let page = open_empty_page();
    open_sql_tab(&page, &generate_file("sql.pickle", "--events 5000"));
    page.evaluate("document.getElementById('sql-text').focus()");
    type_at_caret(&page, "SELECT id FROM alloc");
    page.wait_until("a table is offered", || page.text("#sql-words li").contains("allocation"));
    page.press("Tab");
    let text = || page.evaluate("document.getElementById('sql-text').value");
    page.wait_for(&json!("SELECT id FROM allocation"), text);
    type_at_caret(&page, " WHERE id = 77");
    page.press_with("Enter", CTRL);
    assert_eq!(wait_for_rows(&page), json!([["77"]]));
    page.click("#sql-rows tr");
    page.wait_until("the allocation is selected", || {
        page.text("#details-title").contains("77") || page.evaluate("location.hash").to_string().contains("select=")
    });
    let details = opened::open(&std::fs::read(generate_file("sql.pickle", "--events 5000")).unwrap())
        .unwrap()
        .details(0, 77)
        .unwrap();
    page.wait_for(&Some(details.requested.to_string()), || page.attribute("#details", "data-size"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn compared_files_have_side_column_and_use_category_rules_of_page() {
    if !has_sql() {
        return;
    }
    let files = two_runs();
    let opened = files.each_ref().map(|path| opened::open(&std::fs::read(path).unwrap()).unwrap());
    let [a, b] = opened.each_ref().map(|file| file.summary.devices[0].clone());
    let counts = "SELECT side, max(live_bytes), count(*) - 1 FROM curve GROUP BY side";
    let rows = |[one, other]: [&DeviceSummary; 2]| {
        let row = |side: &str, of: &DeviceSummary| json!([side, of.drawn_peak.to_string(), of.events.to_string()]);
        json!([row("A", one), row("B", other)])
    };
    let page = open_empty_page();
    page.drop_files(&[&files[0], &files[1]]);
    page.wait_until("both are compared", || {
        page.attribute("#compare-cursor", "title").is_some_and(|it| !it.is_empty())
    });
    page.click("#tab-sql");
    let ready = || page.wait_until("the tab is ready", || page.text("#sql-status").contains("Ctrl+Enter runs"));
    ready();
    assert_eq!(query_rows(&page, counts), rows([&a, &b]));
    // A row of B selects an allocation of B.
    let largest = "SELECT side, device, id, requested_bytes FROM allocation WHERE side = 'B' ORDER BY 4 DESC LIMIT 1";
    let row = query_rows(&page, largest);
    page.click("#sql-rows tr");
    page.wait_for(&row[0][3].as_str().map(str::to_owned), || page.attribute("#details", "data-size"));
    // Swapped sides, and another set of rules.
    page.evaluate("document.activeElement.blur()");
    page.press("~");
    page.wait_until_idle();
    ready();
    assert_eq!(query_rows(&page, counts), rows([&b, &a]));
    page.evaluate("document.querySelector('#rules [value=mosaic]').click()");
    page.wait_until_idle();
    ready();
    let mut mosaic = opened::open(&std::fs::read(&files[0]).unwrap()).unwrap();
    mosaic.engine.request(memscape::engine::Request::Categories(Box::new(CategorySet::mosaic())));
    let side = mosaic.engine.complete_side(a.device).unwrap();
    let mut wanted = BTreeMap::<String, u64>::new();
    side.for_each_in_scope(memscape::protocol::Scope::All, &mut |id, bytes| {
        *wanted.entry(side.group_label(Grouping::Category, side.group(Grouping::Category, id))).or_default() += bytes;
    });
    let wanted: Vec<[String; 2]> = wanted.into_iter().map(|(category, bytes)| [category, bytes.to_string()]).collect();
    let by_category = "SELECT category, sum(requested_bytes) FROM allocation WHERE side = 'B' GROUP BY category";
    assert_eq!(query_rows(&page, by_category), json!(wanted));
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Returns the statements that recreate an SQLite file.
pub(crate) fn sqlite_dump(path: &Path) -> String {
    let dump = "import sqlite3,sys;print('\\n'.join(sqlite3.connect(sys.argv[1]).iterdump()))";
    let output = Command::new("python3").args(["-c", dump]).arg(path).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the dump is text")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn result_is_saved_as_sqlite_file() {
    if !has_sql() {
        return;
    }
    let path = fixtures::folder().join("sql.pickle.sqlite");
    let _ = std::fs::remove_file(&path);
    let page = open_empty_page();
    page.save_downloads_in(&fixtures::folder());
    open_sql_tab(&page, &generate_file("sql.pickle", "--events 5000"));
    query_rows(&page, "SELECT 1 AS one, 'it''s' AS two");
    page.click("#sql [data-act=sqlite]");
    page.wait_until("the file is saved", || std::fs::metadata(&path).is_ok_and(|file| file.len() > 0));
    assert!(sqlite_dump(&path).contains("INSERT INTO \"result\" VALUES(1,'it''s');"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn hostile_queries_are_stopped_and_page_stays_usable() {
    if !has_sql() {
        return;
    }
    let page = open_empty_page();
    open_sql_tab(&page, &generate_file("sql.pickle", "--events 5000"));
    let wrong = |sql: &str, wanted: &str| {
        run_query(&page, sql);
        page.wait_until(wanted, || page.text("#sql-status").contains(wanted));
        assert_eq!(page.attribute("#sql-status", "class").as_deref(), Some("wrong"));
    };
    wrong("ATTACH 'x' AS y", "not allowed");
    wrong("DROP TABLE allocation", "not allowed");
    wrong("SELECT no_such", "no such column");
    wrong("SELECT length(zeroblob(1000000000))", "too big");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
    wrong(&format!("{endless} i FROM n ORDER BY i DESC"), " limit");
    // A query that would run until its time limit is cancelled, and a new worker answers the next one.
    run_query(&page, &format!("{endless} count(*) FROM n"));
    page.wait_until("the cancel button is visible", || {
        page.evaluate("getComputedStyle(document.getElementById('sql-cancel')).visibility") == "visible"
    });
    page.click("#sql-cancel");
    page.wait_until("a new worker is ready", || page.text("#sql-status").contains("Ctrl+Enter runs"));
    assert_eq!(query_rows(&page, "SELECT 1 + 1"), json!([["2"]]));
    assert_eq!(page.state(), "ready");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn query_after_failed_fetch_starts_new_worker() {
    if !has_sql() {
        return;
    }
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(
        "const real = globalThis.fetch; globalThis.attempts = 0; globalThis.fetch = (what, ...more) =>
            globalThis.mended || !String(what).includes('sql-') ? real(what, ...more)
            : (globalThis.attempts++, Promise.reject(new TypeError('no network')))",
    );
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&generate_file("sql.pickle", "--events 5000")]);
    page.wait_for_state("ready");
    page.click("#tab-sql");
    let attempts = || page.evaluate("globalThis.attempts").as_u64().unwrap();
    let has_failed = || page.text("#sql-status").contains("SQL is not available: no network");
    page.wait_until("the error is shown", has_failed);
    let before = attempts();
    run_query(&page, "SELECT 1");
    page.wait_until("the fetch is attempted again", || attempts() > before && has_failed());
    page.evaluate("void (globalThis.mended = true)");
    run_query(&page, "SELECT 1 + 1");
    page.wait_until("the tab is ready", || page.text("#sql-status").contains("1 row"));
    assert_eq!(query_rows(&page, "SELECT 1 + 2"), json!([["3"]]));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_answers_queries_if_built_with_sql_option() {
    if !has_sql() {
        return;
    }
    let open = |path: &Path| {
        let page = Page::open(Chromium::shared(Adapter::Missing), &format!("file://{}", path.display()));
        page.wait_for_state("ready");
        page.click("#tab-sql");
        page
    };
    let snapshot = generate_file("sql.pickle", "--events 5000");
    let [with, without] = ["sql-with.html", "sql-without.html"].map(|name| fixtures::folder().join(name));
    let html = |out: &Path, more: &[&str]| {
        let arguments = ["html", snapshot.to_str().unwrap(), "-o", out.to_str().unwrap()];
        let done = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).args(more).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    html(&with, &["--sql"]);
    html(&without, &[]);
    let page = open(&with);
    page.wait_until("the tab is ready", || page.text("#sql-status").contains("Ctrl+Enter runs"));
    let events = opened::open(&std::fs::read(&snapshot).unwrap()).unwrap().summary.devices[0].events;
    assert_eq!(query_rows(&page, "SELECT count(*) FROM event"), json!([[events.to_string()]]));
    let page = open(&without);
    page.wait_until("the page reports that SQL is missing", || {
        page.text("#sql-status").contains("SQL is not available")
    });
    assert_eq!(page.state(), "ready");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_saved_with_sql_tab_open_answers_queries() {
    if !has_sql() {
        return;
    }
    let into = crate::saved::empty_folder("saved-sql");
    let page = crate::saved::open_with_downloads(&Site::shared().page(), &into);
    open_sql_tab(&page, &generate_file("sql.pickle", "--events 5000"));
    let events = query_rows(&page, "SELECT count(*) FROM event");
    // In the editor, the page's keys would be typed as text.
    page.evaluate("document.activeElement.blur()");
    let page = crate::saved::open_saved(&crate::saved::save_html(&page, &into, "sql.html"), &into);
    page.wait_until("the tab is ready", || page.text("#sql-status").contains("Ctrl+Enter runs"));
    assert_eq!(query_rows(&page, "SELECT count(*) FROM event"), events);
}

/// Keeps screenshots of the tab.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn sql_tab_renders_in_light_dark_and_narrow_windows() {
    if !has_sql() {
        return;
    }
    let page = Page::open(Chromium::shared(Adapter::Missing), &Site::shared().page());
    page.wait_for_state("empty");
    let path = generate_file("sql.pickle", "--events 5000");
    for (name, [width, height], scheme) in
        [("light", [1440, 900], "light"), ("dark", [1440, 900], "dark"), ("narrow", [600, 900], "light")]
    {
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        if name == "light" {
            open_sql_tab(&page, &path);
            page.click("#sql-canned [data-act='canned:3']");
            wait_for_rows(&page);
        }
        if name == "dark" {
            page.click("#sql-canned [data-act='canned:0']");
            page.wait_until("the largest allocations are listed", || page.text("#sql-result").contains("call_site"));
        }
        page.wait_for_frames();
        save_screenshot(&page, &format!("sql-{name}"));
    }
}
