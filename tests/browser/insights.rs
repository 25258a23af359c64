//! Insights in the page: each topic matches the engine's report, evidence is shown by clicks and keys, and the dialog
//! of category rules.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::{folder, write_file};
use crate::generate::{self, Options};
use crate::opened::{Opened, open};
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::save_screenshot;
use crate::site::Site;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{CategorySet, Evidence, Report, ReportQuestion, Topic};
use memscape::ui::features::insights::cells::spreadsheet_text;
use memscape::yaml;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Rows of a sheet that the page requests at first.
const ROWS: usize = 10;

/// Generates a snapshot with a leak, blocks awaiting free, compile contexts, and an OOM at the end.
fn snapshot_with_issues() -> PathBuf {
    let words = "--events 6000 --leak --oom --pending --compile-contexts";
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    write_file("troubled.pickle", &bytes)
}

/// Opens the same file without a page, for expected reports.
fn open_engine(path: &Path) -> Opened {
    open(&std::fs::read(path).expect("the file exists")).expect("the file is valid")
}

fn engine_report(opened: &mut Opened, topic: Topic, thresholds: &[(&str, u64)], rows: usize) -> Report {
    let peak = opened.summary.devices[0].peak_event;
    let question = ReportQuestion {
        topic,
        at: u32::try_from(peak + 1).ok(),
        thresholds: thresholds.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect(),
        rows: rows as u32,
        ..ReportQuestion::default()
    };
    match opened.reply(Request::Ask(Ask {
        serial: 1,
        device: opened.summary.devices[0].device,
        question: Question::Report(question),
    })) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

/// Statements of a report and plain cells of the first rows by sheet, in the form that [`shown`] reads from the page.
pub(crate) fn report_as_json(report: &Report, most: usize) -> Value {
    let sheets: serde_json::Map<String, Value> = report
        .sheets
        .iter()
        .map(|sheet| {
            let rows: Vec<Vec<String>> =
                sheet.rows.iter().take(most).map(|row| row.cells.iter().map(spreadsheet_text).collect()).collect();
            (sheet.key.clone(), json!(rows))
        })
        .collect();
    let statements: Vec<&str> = report.statements.iter().map(|statement| statement.text.as_str()).collect();
    json!([statements, sheets])
}

/// Statements and rows that the page shows, in the same form as the expected ones.
pub(crate) fn shown_report(page: &Page) -> Value {
    page.evaluate(
        "[[...document.querySelectorAll('#insights-statements [data-item]')].map(item =>
            item.querySelector('span:not(.sign, .unseen, .show)').textContent),
          Object.fromEntries([...document.querySelectorAll('[data-sheet]')].map(sheet => [sheet.dataset.sheet,
            [...sheet.querySelectorAll('tbody [data-item]')].map(row => [...row.cells].map(cell => cell.dataset.value))]))]",
    )
}

#[track_caller]
fn wait_for_topic(page: &Page, topic: &str) {
    page.wait_for(&(Some(topic.to_owned()), Some("false".to_owned())), || {
        (page.attribute("#insights-report", "data-topic"), page.attribute("#insights-report", "aria-busy"))
    });
}

fn focused_attribute(page: &Page, attribute: &str) -> String {
    let value = page.evaluate(&format!("document.activeElement.getAttribute('{attribute}') ?? ''"));
    value.as_str().unwrap_or_default().to_owned()
}

fn field_value(page: &Page, selector: &str) -> String {
    page.evaluate(&format!("document.querySelector('{selector}').value")).as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn every_topic_matches_report_of_engine() {
    let mut paths = vec![snapshot_with_issues()];
    let names =
        ["train-annotated-100.pickle", "anonymised-annotations-compile-context.pickle", "no-time-expandable.pickle"];
    for file in real_files().into_iter().flatten() {
        if names.iter().any(|name| file.path.ends_with(name)) {
            paths.push(file.path);
        }
    }
    for path in paths {
        let page = open_empty_page();
        page.drop_files(&[&path]);
        page.wait_for_state("ready");
        // A file with an OOM opens at its event.
        page.click("#at-peak");
        page.press_with("W", SHIFT);
        let mut engine = open_engine(&path);
        for topic in Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range()) {
            page.evaluate(&format!("document.querySelector('[data-topic={}]').click()", topic.name()));
            wait_for_topic(&page, topic.name());
            let report = engine_report(&mut engine, topic, &[], ROWS);
            page.wait_for(&report_as_json(&report, ROWS), || shown_report(&page));
            assert!(!report.statements.is_empty(), "{path:?} {topic:?}");
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn long_report_received_in_parts_is_complete() {
    let (options, _) = Options::parse(["--events", "100000"].map(str::to_owned).into_iter()).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    let page = open_empty_page();
    page.drop_files(&[&write_file("many-steps.pickle", &bytes)]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    let choose = |topic: &str| {
        page.evaluate(&format!("document.querySelector('[data-topic={topic}]').click()"));
        wait_for_topic(&page, topic);
    };
    choose("steps");
    let rows = || page.evaluate("document.querySelectorAll('#insights-sheets tbody [data-item]').length").as_u64();
    while page.evaluate("document.querySelector('#insights-sheets [data-more]') !== null") == true {
        let before = rows();
        page.evaluate("document.querySelector('#insights-sheets [data-more]').click()");
        page.wait_until("more rows are listed", || {
            rows() > before && page.attribute("#insights-report", "aria-busy").as_deref() == Some("false")
        });
    }
    assert!(rows() > Some(100), "{:?}", rows());
    let whole = shown_report(&page);
    choose("peak");
    choose("steps");
    assert_eq!(shown_report(&page), whole);
    // End reaches the last row although the report is still being added frame by frame.
    page.evaluate("document.querySelector('[data-topic=peak]').click()");
    page.evaluate("document.querySelector('[data-topic=steps]').click(); document.querySelector('#insights-report [data-item]').focus()");
    page.press("End");
    page.wait_until("the last row has the focus", || {
        page.evaluate(
            "document.activeElement === [...document.querySelectorAll('#insights-report [data-item]')].at(-1)",
        ) == true
    });
    wait_for_topic(&page, "steps");
    assert_eq!(shown_report(&page), whole);
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Index, among all visible items, and evidence of the first item whose evidence satisfies `is`.
fn find_item(report: &Report, is: impl Fn(&Evidence) -> bool) -> Option<(usize, Evidence)> {
    let rows = report.sheets.iter().flat_map(|sheet| sheet.rows.iter().take(ROWS)).map(|row| &row.evidence);
    let all = report.statements.iter().map(|statement| &statement.evidence).chain(rows);
    all.enumerate().find_map(|(at, evidence)| Some((at, evidence.clone().filter(|it| is(it))?)))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn oom_is_reported_first_and_keys_follow_links_of_report() {
    let path = snapshot_with_issues();
    let mut engine = open_engine(&path);
    let page = open_empty_page();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    wait_for_topic(&page, "oom");
    page.wait_for(&Some("true".into()), || page.attribute("#tab-insights", "aria-selected"));

    // From the tabs to the topics, then into the report.
    page.press_with("W", SHIFT);
    page.wait_for(&"oom".to_owned(), || focused_attribute(&page, "data-topic"));
    page.press("End");
    let last = Topic::ALL.last().expect("there are topics").name();
    page.wait_for(&last.to_owned(), || focused_attribute(&page, "data-topic"));
    let above = Topic::ALL
        .iter()
        .rev()
        .filter(|topic| !topic.depends_on_range())
        .take_while(|topic| **topic != Topic::Leaks)
        .count();
    (0..above).for_each(|_| page.press("ArrowUp"));
    page.wait_for(&"leaks".to_owned(), || focused_attribute(&page, "data-topic"));
    wait_for_topic(&page, "leaks");
    let report = engine_report(&mut engine, Topic::Leaks, &[], ROWS);
    page.wait_for(&report_as_json(&report, ROWS), || shown_report(&page));
    page.press("ArrowRight");
    page.wait_for(&"0".to_owned(), || focused_attribute(&page, "data-item"));

    let everything = |it: &Evidence| it.allocation.is_some() && (it.moment.is_some() || it.span.is_some());
    for is in [&everything as &dyn Fn(&Evidence) -> bool, &|it| it.find.is_some()] {
        let Some((at, evidence)) = find_item(&report, is) else { continue };
        page.press("Home");
        (0..at).for_each(|_| page.press("ArrowDown"));
        page.wait_for(&at.to_string(), || focused_attribute(&page, "data-item"));
        page.press_enter();
        let selector = format!("[data-item='{at}']");
        page.wait_until("the item is marked", || {
            page.evaluate(&format!(
                "document.querySelector(\"{selector}\").matches('[aria-selected=true], [aria-pressed=true]')"
            )) == true
        });
        if let Some(moment) = evidence.moment {
            page.wait_for(&Some((i64::from(moment) - 1).to_string()), || page.attribute("#moment", "data-event"));
        }
        if let Some(allocation) = evidence.allocation {
            page.wait_for(&Some(allocation.to_string()), || page.attribute("#details", "data-allocation"));
        }
        if evidence.span.is_some() {
            page.wait_until("the window has moved", || page.attribute("#window-back", "disabled").is_none());
        }
        page.wait_for(&evidence.find.unwrap_or_default(), || field_value(&page, "#find"));
        assert_eq!(focused_attribute(&page, "data-item"), at.to_string(), "the focus has moved");
    }

    // Space shows and hides a stack.
    let rows = report.sheets.iter().flat_map(|sheet| sheet.rows.iter().take(ROWS));
    let at = rows.clone().position(|row| !row.stack.is_empty()).expect("a row with a stack");
    let stack = rows.clone().nth(at).expect("the same row").stack.clone();
    page.press("Home");
    (0..report.statements.len() + at).for_each(|_| page.press("ArrowDown"));
    page.wait_for(&(report.statements.len() + at).to_string(), || focused_attribute(&page, "data-item"));
    page.press(" ");
    page.wait_for(&json!(stack), || {
        page.evaluate("[...document.querySelectorAll('#insights-sheets ol li')].map(it => it.textContent)")
    });
    page.press(" ");
    page.wait_until("the stack is hidden", || {
        page.evaluate("document.querySelectorAll('#insights-sheets ol').length") == 0
    });

    // A new threshold is entered, and the focus stays in its field.
    let place = report.sheets.iter().position(|sheet| sheet.threshold.as_ref().is_some_and(|it| it.unit == "bytes"));
    let place = place.expect("a threshold in bytes");
    let key = report.sheets[place].threshold.as_ref().expect("the sheet has a threshold").key.clone();
    page.evaluate(&format!("document.querySelector('[data-threshold=\"{place}\"]').select()"));
    "4096".chars().for_each(|digit| page.press(&digit.to_string()));
    page.press_enter();
    let lower = engine_report(&mut engine, Topic::Leaks, &[(&key, 4096)], ROWS);
    assert_ne!(report_as_json(&lower, ROWS), report_as_json(&report, ROWS));
    page.wait_for(&report_as_json(&lower, ROWS), || shown_report(&page));
    page.wait_for(&place.to_string(), || focused_attribute(&page, "data-threshold"));

    // More rows.
    let sheet = lower.sheets.iter().position(|sheet| sheet.left_out > 0).expect("a sheet with more rows");
    page.evaluate(&format!("document.querySelector('[data-more=\"{sheet}\"]').click()"));
    let more = engine_report(&mut engine, Topic::Leaks, &[(&key, 4096)], ROWS * 5);
    let key = &more.sheets[sheet].key;
    page.wait_for(&report_as_json(&more, ROWS * 5)[1][key], || shown_report(&page)[1][key].clone());
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Cells of the dialog's table, which applies the rules to the open snapshot.
fn rules_result(page: &Page) -> Value {
    page.evaluate("[...document.querySelectorAll('#rules-result tbody tr[data-item]')].map(row => [...row.cells].map(cell => cell.dataset.value))")
}

/// Expected cells with these rules.
fn expected_result(engine: &mut Opened, text: &str) -> Value {
    let set = yaml::parse(text).expect("valid rules");
    engine.engine.request(Request::Categories(Box::new(set)));
    let report = engine_report(engine, Topic::Categories, &[], 64);
    let rows: Vec<Vec<String>> =
        report.sheets[0].rows.iter().map(|row| row.cells.iter().map(spreadsheet_text).collect()).collect();
    json!(rows)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn edited_rules_show_result_and_are_stored() {
    const RIGHT: &str = "{\n\"in the model\": \"model.py\",\n\"elsewhere\": \"train\"\n}";
    const WRONG: &str = "{\n\"in the model\": \"model.py\",\n\"elsewhere\": \"train(\"\n}";
    let path = snapshot_with_issues();
    let mut engine = open_engine(&path);
    let page = open_empty_page();
    page.save_downloads_in(&folder());
    let open = || {
        page.drop_files(&[&path]);
        page.wait_for_state("ready");
        // A file with an OOM opens at its event.
        page.click("#at-peak");
        page.press_with("G", SHIFT);
        page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#rules').open") == true);
        page.click("#rules-as-json");
    };
    open();
    let ours = expected_result(&mut engine, &CategorySet::standard().to_json());
    page.wait_for(&ours, || rules_result(&page));
    let choose = |name: &str| page.evaluate(&format!("document.querySelector('#rules [value={name}]').click()"));
    choose("mosaic");
    page.wait_for(&expected_result(&mut engine, &CategorySet::mosaic().to_json()), || rules_result(&page));
    page.wait_for(&true.into(), || page.evaluate("document.querySelector('#rules-text').readOnly"));
    choose("own");
    page.wait_until("the text is editable", || {
        page.evaluate("document.querySelector('#rules-text').readOnly") == false
    });

    // Valid rules are applied. Invalid ones are reported, and the result does not change.
    let write = |text: &str| {
        page.evaluate("{ const field = document.querySelector('#rules-text'); field.focus(); field.select() }");
        page.evaluate(&format!("document.execCommand('insertText', false, {})", Value::from(text)));
        page.wait_for(&text.to_owned(), || field_value(&page, "#rules-text"));
    };
    write(RIGHT);
    let own = expected_result(&mut engine, RIGHT);
    page.wait_for(&own, || rules_result(&page));
    assert_ne!(own, ours);
    write(WRONG);
    page.wait_until("the error is shown", || {
        page.text("#rules-errors").contains("line 3: \"pattern\" is no regular expression")
            || page.text("#rules-errors").starts_with("line 3")
    });
    assert_eq!((rules_result(&page), field_value(&page, "#rules-text")), (own.clone(), WRONG.to_owned()));
    page.click("#rules-errors button");
    let marked =
        "(field => field.value.slice(field.selectionStart, field.selectionEnd))(document.querySelector('#rules-text'))";
    page.wait_for(&json!("\"elsewhere\": \"train(\""), || page.evaluate(marked));

    // The invalid text is stored, and the last valid rules stay in effect.
    page.reload();
    page.wait_for_state("empty");
    open();
    page.wait_for(&own, || rules_result(&page));
    page.wait_for(&WRONG.to_owned(), || field_value(&page, "#rules-text"));
    page.wait_until("the error is shown", || page.text("#rules-errors").contains("line 3"));

    // Rules are loaded from a file, saved to a file, and the load is undone.
    page.choose_files("#rules-file", &[&write_file("rules.yaml", b"rules:\n  - name: everything\n    pattern: .\n")]);
    let imported = "rules:\n  - name: everything\n    pattern: .\n";
    page.wait_for(&imported.to_owned(), || field_value(&page, "#rules-text"));
    page.wait_for(&expected_result(&mut engine, imported), || rules_result(&page));
    let saved = folder().join("categories-mosaic.json");
    let _ = std::fs::remove_file(&saved);
    page.evaluate("document.querySelector('#rules-save-mosaic').click()");
    page.wait_until("the file is saved", || {
        std::fs::read_to_string(&saved).is_ok_and(|text| CategorySet::parse(&text) == yaml::parse(imported))
    });
    page.click("#rules-undo");
    page.wait_for(&WRONG.to_owned(), || field_value(&page, "#rules-text"));
    page.press_escape_in("#rules");
    // Stacks and colours the timeline by category.
    page.evaluate("for (const id of ['stacking', 'colouring']) { const list = document.getElementById(id); list.value = 'category'; list.dispatchEvent(new Event('change', { bubbles: true })) }");
    page.wait_until("the legend lists the categories", || page.text("#legend-entries").contains("everything"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_insights_are_saved() {
    let Some(files) = real_files() else { return };
    let Some(training) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    let made = snapshot_with_issues();
    let (real, made) = (("real", &training.path), ("made", &made));
    for (scheme, width, height, files) in
        [("light", 1280, 900, vec![real, made]), ("dark", 1280, 900, vec![made]), ("light", 600, 900, vec![real])]
    {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        for (name, path) in files {
            page.navigate(&Site::shared().page());
            page.wait_for_state("empty");
            page.drop_files(&[path]);
            page.wait_for_state("ready");
            page.press_with("W", SHIFT);
            if width > 1000 {
                page.evaluate("document.querySelector('#divider').focus()");
                (0..8).for_each(|_| page.press("ArrowUp"));
            }
            for topic in ["peak", "oom", "categories", "steps", "modules", "leaks"] {
                page.evaluate(&format!("document.querySelector('[data-topic={topic}]').click()"));
                page.wait_until("the report is shown", || {
                    page.attribute("#insights-report", "data-topic").as_deref() == Some(topic)
                        && page.attribute("#insights-report", "aria-busy").as_deref() == Some("false")
                });
                if width < 1000 {
                    page.evaluate("document.querySelector('#answer').scrollIntoView()");
                }
                page.wait_until_idle();
                save_screenshot(&page, &format!("why-{name}-{topic}-{scheme}-{width}"));
            }
            if name == "real" || scheme == "dark" {
                page.evaluate("document.querySelector('#rules-open').click()");
                page.wait_until_idle();
                save_screenshot(&page, &format!("rules-{scheme}-{width}"));
            }
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
