//! The simulated allocator in the page: the proof first, then the runs a person asks for, with the numbers of the engine.

use crate::corpus::real_files;
use crate::memory::generated;
use crate::opened::open;
use crate::opening::empty_page;
use crate::page::{Page, SHIFT};
use memscape::engine::protocol::{WhatIf, WhatIfQuestion};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::units::grouped;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const LINE: &str = "expandable_segments:True";

/// A real file, and what its proof says; without the real files a generated one.
fn snapshot() -> (PathBuf, &'static str) {
    let real = real_files().into_iter().flatten().find(|file| file.path.ends_with("train-fp32-1185-segments.pickle"));
    match real {
        Some(file) => (file.path, "8,768 of 8,768 addresses"),
        None => (generated("what-if.pickle", "--events 20000 --leak"), "reproduces this recording exactly"),
    }
}

/// What the engine says without a page.
fn beside(path: &Path, question: WhatIfQuestion) -> WhatIf {
    let mut opened = open(&std::fs::read(path).expect("it was read before")).expect("the page opened it");
    let (device, what) = (opened.summary.devices[0].device, Question::WhatIf(Box::new(question)));
    match opened.reply(Request::Ask(Ask { serial: 1, device, what })) {
        Reply::Answer { answer: Answer::WhatIf(answer), .. } => *answer,
        other => panic!("a simulation was asked for, not {other:?}"),
    }
}

/// Settings and exact peaks of the rows.
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
fn settings_are_simulated_as_the_engine_does() {
    let (path, proof) = snapshot();
    let page = empty_page();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    page.press_held("W", SHIFT);
    page.wait_until("its report", || page.attribute("#why-report", "data-topic").is_some());
    assert!(page.attribute("#what-if", "hidden").is_some(), "another insight is seen");
    page.click("[data-topic=settings]");
    page.wait_until("the proof", || page.text("#what-if-proof").contains(proof));

    // A wrong line says what is wrong, and simulates nothing.
    type_in(&page, "#what-if-line", "expandable_segments:maybe");
    page.press_enter();
    page.wait_for(&"Expected True or False at character 1: expandable_segments:maybe".to_owned(), || {
        page.text("#what-if-line-error")
    });
    assert_eq!(page.attribute("#what-if-line", "aria-invalid").as_deref(), Some("true"));
    assert_eq!(rows(&page).as_array().map(Vec::len), Some(1), "the recorded settings");

    type_in(&page, "#what-if-line", LINE);
    page.press_enter();
    let answer =
        beside(&path, WhatIfQuestion { lines: vec![LINE.to_owned()], fits: true, ..WhatIfQuestion::default() });
    let mut runs: Vec<_> = answer.runs.iter().map(|run| (run.peak_reserved, run.settings.clone())).collect();
    runs.sort();
    let expected: Vec<Value> =
        runs.iter().map(|(peak, settings)| json!([settings, format!("{} B", grouped(*peak))])).collect();
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

    // A capacity that is too small: the error happens at an event, and a click goes there.
    type_in(&page, "#what-if-capacity", "64 MiB");
    page.press_enter();
    page.wait_until("it runs out of memory", || {
        page.evaluate("document.querySelectorAll('#what-if-answer .out [data-run-oom]').length > 0") == true
    });
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    let moment = page.attribute("#what-if-answer .out [data-run-oom]", "data-run-oom").expect("it is a button");
    page.click("#what-if-answer .out [data-run-oom]");
    let event = moment.parse::<i64>().expect("a number") - 1;
    page.wait_for(&Some(event.to_string()), || page.attribute("#moment", "data-event"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_search_is_canceled() {
    let path = generated("what-if-large.pickle", "--events 1000000");
    let page = empty_page();
    page.drop_files(&[&path]);
    page.wait_for_state("ready");
    page.press_held("W", SHIFT);
    page.click("[data-topic=settings]");
    page.wait_until("the proof", || page.text("#what-if-proof").contains("reproduces this recording exactly"));
    page.click("#what-if-search");
    page.wait_until("it is on its way", || page.text("#what-if-status").starts_with("Simulating… 1 of "));
    page.click("#what-if-cancel");
    page.wait_for(&"Canceled.".to_owned(), || page.text("#what-if-status"));
    assert!(page.attribute("#what-if-cancel", "hidden").is_some());
    let count = page.settled("nothing more comes", || rows(&page).as_array().map(Vec::len));
    assert!(count < Some(12), "{count:?}");
    // What is asked next is answered.
    type_in(&page, "#what-if-line", LINE);
    page.press_enter();
    page.wait_until("the typed settings", || rows(&page).to_string().contains(LINE));
    page.wait_for(&String::new(), || page.text("#what-if-status"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
