//! Privacy and content security policy: opening a file requests nothing from other servers, and foreign scripts do not
//! run.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::Page;
use crate::site::Site;

/// Expression that fetches an address and returns "reached" or "refused".
fn fetch_attempt(address: &str) -> String {
    format!("fetch('{address}').then(() => 'reached', () => 'refused')")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn opening_file_requests_only_own_server() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let requests = page.requests();
    let own = |address: &&String| {
        address.starts_with(&format!("{}/memscape/", Site::shared().origin))
            || address.starts_with("blob:")
            || address.starts_with("data:")
    };
    let foreign: Vec<_> = requests.iter().filter(|address| !own(address)).collect();
    assert!(foreign.is_empty(), "{foreign:#?}");
    assert!(
        requests.iter().any(|address| address.ends_with("_bg.wasm")),
        "the request for the wasm is missing: {requests:#?}"
    );
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_and_worker_cannot_reach_other_origin() {
    let site = Site::shared();
    // The other server allows every origin. A tab without the policy reaches it, so only the policy blocks the page.
    let unbound = Page::blank(Chromium::shared(Adapter::Missing));
    crate::fixtures::write_file("control", b"asked for by this test alone");
    assert_eq!(unbound.evaluate(&fetch_attempt(&format!("{}/open/control", site.other_origin))), "reached");
    assert_eq!(site.elsewhere_requests("open/control").len(), 1);

    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let probe = format!("{}/open/probe", site.other_origin);
    assert_eq!(page.evaluate(&fetch_attempt(&probe)), "refused");
    let worker = page.engine_workers().pop().expect("the page has a worker");
    assert_eq!(page.evaluate_in(&worker, &fetch_attempt(&probe)), "refused");
    // Ways to send a request without fetch.
    let image = format!(
        "new Promise(done => {{ const image = new Image(); image.onload = () => done('reached'); \
         image.onerror = () => done('refused'); image.src = '{probe}'; }})"
    );
    assert_eq!(page.evaluate(&image), "refused");
    let import =
        format!("(() => {{ try {{ importScripts('{probe}'); return 'reached' }} catch {{ return 'refused' }} }})()");
    assert_eq!(page.evaluate_in(&worker, &import), "refused");
    page.evaluate(&format!("navigator.sendBeacon('{probe}', 'x') && null"));
    page.evaluate(&format!("new WebSocket('{}') && null", probe.replace("http:", "ws:")));
    // A request that was not blocked would arrive well within this time.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(site.elsewhere_requests("open/probe"), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn injected_script_does_not_run() {
    let page = open_empty_page();
    page.evaluate(
        "{ const script = document.createElement('script'); script.textContent = 'window.intruder = 1'; \
         document.body.append(script); }",
    );
    assert_eq!(page.evaluate("typeof window.intruder"), "undefined");
    let handler = "{ const button = document.createElement('button'); button.setAttribute('onclick', 'window.intruder = 1'); \
                   document.body.append(button); button.click(); button.remove(); }";
    page.evaluate(handler);
    assert_eq!(page.evaluate("typeof window.intruder"), "undefined");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_starts_without_policy_violation() {
    let page = open_empty_page();
    assert_eq!(page.errors(), Vec::<String>::new());
    let policies = page.evaluate("document.querySelectorAll('meta[http-equiv=\"Content-Security-Policy\" i]').length");
    assert_eq!(policies, 2, "the policy of the page and the stricter one added by start()");
}
