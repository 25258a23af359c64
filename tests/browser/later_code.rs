//! Code of the engine that an optimized page fetches after it has started: questions wait for it.

use crate::chromium::{Adapter, Chromium};
use crate::comparing::{two_runs, wait_for_report};
use crate::insights::shown_report;
use crate::page::Page;
use crate::paired::{Worker, device};
use crate::site::Site;
use memscape::compare::FileSlot;
use memscape::protocol::Pairing;
use serde_json::json;

/// Opens a page whose request for the code is answered by `answer`, an expression of JavaScript that may use `request`,
/// the function that sends it. Returns `None` if the page is not split.
fn open_page(answer: &str) -> Option<Page> {
    let index = std::fs::read_to_string(crate::site::dist().join("index.html")).expect("the page is built");
    if !index.contains("id=\"part-later\"") {
        println!("SKIPPED: only an optimized page is split");
        return None;
    }
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(&format!(
        "if (self.window) {{ const {{ fetch }} = self; self.fetch = (...of) => {{ \
            const request = () => fetch(...of); return String(of[0]).includes('later-') ? {answer} : request(); }} }}"
    ));
    page.navigate(&Site::shared().page());
    Some(page)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn insights_and_comparison_wait_for_later_code() {
    let Some(page) = open_page("new Promise(resolve => { self.arrive = resolve }).then(request)") else { return };
    page.wait_for_state("empty");
    let [a, b] = two_runs();
    page.drop_files(&[&a]);
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || page.attribute("canvas#timeline", "data-frames").is_some());
    page.click("#tab-tree");
    page.wait_until("the call tree is filled", || page.text("#tree-rows").contains("train"));
    page.click("#tab-insights");
    page.wait_until("the report is awaited", || {
        page.attribute("#insights-report", "aria-busy").as_deref() == Some("true")
    });
    assert_eq!(shown_report(&page), json!([[], {}]));
    assert!(page.attribute("body", "data-idle").is_none(), "a question waits");
    page.evaluate("arrive()");
    page.wait_until_idle();
    assert_ne!(shown_report(&page), json!([[], {}]));

    // The worker of these files links the code that the page has loaded.
    page.drop_files(&[&a, &b]);
    let mut worker = Worker::new();
    let mut open = |which, path| {
        let bytes = std::fs::read(path).expect("the file was generated");
        device(&worker.open(which, &bytes).expect("the file is valid"))
    };
    let (first, second) = (open(FileSlot::First, &a), open(FileSlot::Second, &b));
    wait_for_report(&page, &worker.report(first, Pairing { b: second, ..Pairing::default() }, 10));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn failed_request_for_later_code_is_repeated_while_file_stays_open() {
    let answer = "self.is_online ? request() : Promise.reject(new TypeError('no network'))";
    let Some(page) = open_page(answer) else { return };
    let [a, _] = two_runs();
    page.drop_files(&[&a]);
    page.wait_for_state("ready");
    page.click("#tab-insights");
    page.wait_until("the failure is shown", || page.text("#status").contains("(no network). The page keeps trying."));
    assert_eq!(shown_report(&page), json!([[], {}]));
    page.click("#tab-tree");
    page.wait_until("the call tree is filled", || page.text("#tree-rows").contains("train"));

    page.click("#tab-insights");
    page.evaluate("self.is_online = true");
    page.wait_until_idle();
    assert_ne!(shown_report(&page), json!([[], {}]));
}
