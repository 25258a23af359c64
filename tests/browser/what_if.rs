//! What-if simulation in the page: the check against the recording, then runs with other settings, compared with the
//! engine.

use crate::corpus::real_files;
use crate::opened::open;
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::{save_drawn_screenshot, save_screenshot};
use crate::segments::generate_file;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{WhatIf, WhatIfQuestion};
use memscape::units::group_digits;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SETTINGS: &str = "expandable_segments:True";

/// A real file, or a generated one without the corpus, and the expected text of the check against the recording.
fn snapshot_and_proof() -> (PathBuf, &'static str) {
    let real = real_files().into_iter().flatten().find(|file| file.path.ends_with("train-fp32-1185-segments.pickle"));
    match real {
        Some(file) => (file.path, "8,768 of 8,768 addresses"),
        None => (generate_file("what-if.pickle", "--events 20000 --leak"), "matches this recording exactly"),
    }
}

/// Answer of an engine without a page.
fn engine_answer(path: &Path, question: WhatIfQuestion) -> WhatIf {
    let mut opened = open(&std::fs::read(path).expect("the file exists")).expect("the file is valid");
    let (device, what) = (opened.summary.devices[0].device, Question::WhatIf(Box::new(question)));
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: what })) {
        Reply::Answer { answer: Answer::WhatIf(answer), .. } => *answer,
        other => panic!("expected a simulation, got {other:?}"),
    }
}

/// Settings and exact peak of each row.
fn rows(page: &Page) -> Value {
    page.evaluate(
        "[...document.querySelectorAll('#what-if-answer table:not(.fits) tbody tr')].map(row =>
            [row.cells[0].title, row.cells[1].title])",
    )
}

fn type_in(page: &Page, selector: &str, text: &str) {
    page.click(selector);
    page.evaluate(&format!("document.querySelector('{selector}').select()"));
    text.chars().for_each(|letter| page.press(&letter.to_string()));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn simulated_settings_match_engine() {
    let (path, proof) = snapshot_and_proof();
    let page = open_empty_page();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    page.wait_until("a report is shown", || page.attribute("#insights-report", "data-topic").is_some());
    assert!(page.attribute("#what-if", "hidden").is_some(), "the form is shown in another insight");
    page.click("[data-topic=settings]");
    page.wait_until("the check against the recording is shown", || page.text("#what-if-proof").contains(proof));

    // An invalid line shows an error and simulates nothing.
    type_in(&page, "#what-if-line", "expandable_segments:maybe");
    page.press_enter();
    page.wait_for(&"Expected True or False at character 1: expandable_segments:maybe".to_owned(), || {
        page.text("#what-if-line-error")
    });
    assert_eq!(page.attribute("#what-if-line", "aria-invalid").as_deref(), Some("true"));
    assert_eq!(rows(&page).as_array().map(Vec::len), Some(1), "only the recorded settings are listed");

    type_in(&page, "#what-if-line", SETTINGS);
    page.press_enter();
    let answer = engine_answer(
        &path,
        WhatIfQuestion { lines: vec![SETTINGS.to_owned()], fits: true, ..WhatIfQuestion::default() },
    );
    let mut runs: Vec<_> = answer.runs.iter().map(|run| (run.peak_reserved, run.settings.clone())).collect();
    runs.sort();
    let expected: Vec<Value> =
        runs.iter().map(|(peak, settings)| json!([settings, format!("{} B", group_digits(*peak))])).collect();
    page.wait_for(&json!(expected), || rows(&page));
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    assert_eq!(page.text("#what-if-line-error"), "");
    let fits = page.evaluate("document.querySelectorAll('#what-if-answer .fits tr').length");
    assert_eq!(fits, json!(answer.fits.len()));
    if proof.starts_with("8,768") {
        let peak = "[...document.querySelectorAll('#what-if-answer tbody tr')].find(row => row.cells[0].title.includes(':True')).cells[1].textContent";
        // 52.99 GiB with three digits.
        assert_eq!(page.evaluate(peak), json!("53.0 GiB"));
    }

    // With a capacity that is too small there is an OOM, and a click goes to its event.
    type_in(&page, "#what-if-capacity", "64 MiB");
    page.press_enter();
    page.wait_until("the OOM is shown", || {
        page.evaluate("document.querySelectorAll('#what-if-answer .out [data-run-oom]').length > 0") == true
    });
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    let moment = page.attribute("#what-if-answer .out [data-run-oom]", "data-run-oom").expect("the OOM has a button");
    page.click("#what-if-answer .out [data-run-oom]");
    let event = moment.parse::<i64>().expect("a number") - 1;
    page.wait_for(&Some(event.to_string()), || page.attribute("#moment", "data-event"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn changed_program_is_simulated_and_kept_in_link() {
    let page = open_empty_page();
    page.drop_files(&[&Path::new(env!("CARGO_MANIFEST_DIR")).join("www/training.pickle.gz")]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    page.click("[data-topic=settings]");
    page.wait_until("the check against the recording is shown", || !page.text("#what-if-proof").is_empty());
    // The controls are labelled, and reached with Tab in the order of the page.
    page.evaluate("document.querySelector('#what-if-empties').focus()");
    for (id, label) in [
        ("what-if-one-stream", "One stream"),
        ("what-if-no-record-stream", "No record_stream()"),
        ("what-if-step-ends", "empty_cache() at step ends"),
        ("what-if-preallocate", "Allocate first"),
    ] {
        page.press("Tab");
        let focused = page.evaluate("[document.activeElement.id, document.activeElement.labels[0].textContent]");
        assert_eq!(focused, json!([id, label]));
    }
    page.click("#what-if-step-ends");
    type_in(&page, "#what-if-preallocate", "2 GiB");
    page.press_enter();
    let changes = "with 2.00 GiB allocated first, empty_cache() at step ends";
    page.wait_until("the changed program is simulated", || rows(&page).to_string().contains(changes));
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    // Another program adds a row.
    page.evaluate(
        "{ const field = document.querySelector('#what-if-preallocate'); field.value = ''; \
         field.dispatchEvent(new Event('input', { bubbles: true })); }",
    );
    page.click("#what-if-step-ends");
    page.click("#what-if-one-stream");
    page.click("#what-if-form [type=submit]");
    page.wait_until("the other program is simulated", || rows(&page).to_string().contains("with one stream"));
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    assert_eq!(rows(&page).as_array().map(Vec::len), Some(3), "{}", rows(&page));
    // A snapshot has the recorded program, so only its row can be opened.
    assert_eq!(page.evaluate("document.querySelectorAll('#what-if-answer [data-run-open]').length"), json!(1));
    page.click("#what-if-answer [data-run-show][aria-label$='one stream']");
    page.wait_for(&Some("true".to_owned()), || {
        page.attribute("#what-if-answer [data-run-show][aria-label$='one stream']", "aria-pressed")
    });
    page.wait_until("the link has the program", || {
        page.evaluate("location.hash").to_string().contains("program=one-stream")
    });
    for (scheme, width) in [("light", 1440), ("dark", 1440), ("light", 600)] {
        page.prefer_color_scheme(scheme);
        page.resize(width, 900);
        for (part, selector) in [("form", "#what-if-form"), ("table", "#what-if-answer .sheet")] {
            page.evaluate(&format!("document.querySelector('{selector}').scrollIntoView({{ block: 'start' }})"));
            page.wait_for_frames();
            save_screenshot(&page, &format!("what-if-programs-{part}-{scheme}-{width}"));
        }
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{width} scrolls sideways");
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn search_can_be_canceled() {
    let path = generate_file("what-if-large.pickle", "--events 1000000");
    let page = open_empty_page();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    page.click("[data-topic=settings]");
    page.wait_until("the check against the recording is shown", || {
        page.text("#what-if-proof").contains("matches this recording exactly")
    });
    page.click("#what-if-search");
    page.wait_until("the search runs", || page.text("#what-if-status").starts_with("Simulating… 1 of "));
    page.click("#what-if-cancel");
    page.wait_for(&"Canceled.".to_owned(), || page.text("#what-if-status"));
    assert!(page.attribute("#what-if-cancel", "hidden").is_some());
    let count = page.wait_until_settled("the rows", || rows(&page).as_array().map(Vec::len));
    assert!(count < Some(12), "{count:?}");
    // The next simulation works.
    type_in(&page, "#what-if-line", SETTINGS);
    page.press_enter();
    page.wait_until("the typed settings are simulated", || rows(&page).to_string().contains(SETTINGS));
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Labels of the listed snapshots.
fn listed_snapshots(page: &Page) -> Value {
    page.evaluate("[...document.querySelectorAll('#snapshot option')].map(option => option.textContent)")
}

/// Selector of the button of this kind in the row of these settings.
fn button(kind: &str, settings: &str) -> String {
    format!("#what-if-answer [data-run-{kind}][aria-label$='{settings}']")
}

/// Shows the insight and simulates [`LINE`].
fn simulate(page: &Page) {
    page.press_with("W", SHIFT);
    page.click("[data-topic=settings]");
    page.wait_until("the check against the recording is shown", || !page.text("#what-if-proof").is_empty());
    type_in(page, "#what-if-line", SETTINGS);
    page.press_enter();
    page.wait_until("the typed settings are simulated", || rows(page).to_string().contains(SETTINGS));
    page.wait_for(&String::new(), || page.text("#what-if-status"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn simulated_run_opens_and_is_compared_with_recording() {
    let (path, _) = snapshot_and_proof();
    let name = path.file_name().expect("the path has a file name").to_string_lossy().into_owned();
    let page = open_empty_page();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    simulate(&page);
    for (scheme, width) in [("light", 1440), ("dark", 1440), ("light", 600)] {
        page.prefer_color_scheme(scheme);
        page.resize(width, 900);
        page.evaluate("document.querySelector('#what-if-answer table').scrollIntoView({ block: 'center' })");
        page.wait_for_frames();
        save_screenshot(&page, &format!("what-if-open-{scheme}-{width}"));
    }
    page.prefer_color_scheme("light");
    page.resize(1440, 900);
    let answer = engine_answer(&path, WhatIfQuestion { lines: vec![SETTINGS.to_owned()], ..WhatIfQuestion::default() });
    let peak =
        answer.runs.iter().find(|run| run.settings == SETTINGS).expect("the settings were simulated").peak_reserved;

    page.click(&button("open", SETTINGS));
    let simulated = format!("{name} · {SETTINGS} (simulated)");
    let heading = || page.evaluate("document.querySelector('#file-name').textContent");
    page.wait_for(&json!(simulated), heading);
    page.wait_for_state("ready");
    page.wait_for(&Some(peak.to_string()), || page.attribute("#summary", "data-peak-reserved"));
    assert_eq!(listed_snapshots(&page).as_array().map(Vec::len), Some(2), "the recording and the run are listed");
    let warning = format!("simulated, not recorded: allocator settings {SETTINGS} {name}");
    assert_eq!(page.evaluate("document.querySelector('#warnings').textContent"), json!(warning));
    // Addresses and segments of the run are shown as for a recording.
    page.press_with("Y", SHIFT);
    save_drawn_screenshot(&page, "simulated-addresses");
    page.press_with("M", SHIFT);
    save_drawn_screenshot(&page, "simulated-segments");

    // Returns to the recording, then compares both.
    page.evaluate(
        "{ const picker = document.querySelector('#snapshot'); picker.selectedIndex = 0; \
         picker.dispatchEvent(new Event('change', { bubbles: true })); }",
    );
    page.wait_for(&json!(name), heading);
    page.wait_for_state("ready");
    simulate(&page);
    page.evaluate(&format!(
        "document.querySelector(\"{}\").dispatchEvent(new MouseEvent('click', {{ bubbles: true, shiftKey: true }}))",
        button("open", SETTINGS)
    ));
    page.wait_until("the comparison is shown", || page.text("#insights-report").contains("reserved"));
    page.wait_until("the topic is the comparison", || {
        page.attribute("#insights-report", "data-topic").as_deref() == Some("comparison")
    });
    save_drawn_screenshot(&page, "simulated-compared");
    assert_eq!(page.errors(), Vec::<String>::new());
}
