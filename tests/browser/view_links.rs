//! Links to a view: how they are written and opened, back and forward in the history, and links to local files.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::{Page, SHIFT};
use crate::screenshots::save_drawn_screenshot;
use crate::site::Site;

const EXAMPLE: &str = "training.pickle.gz";

fn open(fragment: &str) -> Page {
    Page::open(Chromium::shared(Adapter::Missing), &format!("{}#{fragment}", Site::shared().page()))
}

fn open_example(view: &str) -> Page {
    let page = open(&format!("v=1&url={EXAMPLE}&{view}"));
    page.wait_for_state("ready");
    page
}

fn fragment(page: &Page) -> String {
    page.evaluate("location.hash").as_str().unwrap_or_default().to_owned()
}

/// Waits until the fragment contains `part`.
#[track_caller]
fn wait_for_fragment_part(page: &Page, part: &str) {
    page.wait_until(&format!("the address says {part}"), || fragment(page).contains(part));
}

/// Fragment of an open file once it is stable for longer than the page's delay before it writes it, and has the
/// fingerprint, which is written last.
#[track_caller]
fn settled_fragment(page: &Page) -> String {
    wait_for_fragment_part(page, "print=");
    page.wait_until_settled("the address", || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        fragment(page)
    })
}

/// Waits until the settled fragment is `link`.
#[track_caller]
fn assert_fragment_stays(page: &Page, link: &str) {
    page.wait_for(&link.to_owned(), || settled_fragment(page));
}

fn notice_text(page: &Page) -> String {
    match page.attribute("#link-notice", "hidden") {
        None => page.text("#link-notice-text"),
        Some(_) => String::new(),
    }
}

fn selected_tab(page: &Page) -> String {
    page.evaluate("(document.querySelector('.views:not([hidden]) [aria-pressed=true]') ?? document.querySelector('#tabs [aria-selected=true]'))?.id").as_str().unwrap_or_default().to_owned()
}

fn type_into(page: &Page, field: &str, text: &str) {
    page.evaluate(&format!("document.querySelector({}).focus()", serde_json::Value::from(field)));
    page.replace_text(text);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_restores_every_view() {
    let page = open_example("");
    page.evaluate("document.getElementById('timeline').focus()");
    // At the start of the trace, rounding the edges in the link does not move the window.
    for key in [".", ".", "."].into_iter().chain(["a"; 12]).chain(["+", "g", "h"]) {
        page.press(key);
    }
    type_into(&page, "#find", "size>1MiB");
    let views = ["insights", "tree", "flame", "table", "histograms", "sources", "segments", "events"];
    let names = ["why", "tree", "flame", "table", "sizes", "source", "memory", "events"];
    for (tab, name) in views.iter().zip(names) {
        page.click(&format!("#tab-{tab}"));
        wait_for_fragment_part(&page, &format!("tab={name}"));
    }
    // Through all plots, from the one after "stack".
    page.evaluate("document.getElementById('timeline').focus()");
    for plot in ["addresses", "reserved"] {
        page.press_with("Y", SHIFT);
        wait_for_fragment_part(&page, &format!("show={plot}"));
        let link = settled_fragment(&page);
        for part in ["stack=", "colour=", "find=size%3E1MiB", "x=", "tab=events"] {
            assert!(link.contains(part), "{part} in {link}");
        }
        let other = open(link.trim_start_matches('#'));
        other.wait_for_state("ready");
        assert_fragment_stays(&other, &link);
        assert_eq!(other.evaluate("document.getElementById('find').value"), "size>1MiB");
        assert_eq!(other.evaluate("document.getElementById('show').value"), plot);
        other.wait_for(&"tab-events".to_owned(), || selected_tab(&other));
        assert_eq!(notice_text(&other), "");
        save_drawn_screenshot(&other, &format!("link-{plot}"));
        assert_eq!(other.errors(), Vec::<String>::new());
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn back_and_forward_switch_views_and_zooming_adds_no_history() {
    let page = open_example("tab=tree");
    settled_fragment(&page);
    let steps = || page.evaluate("history.length").as_u64().unwrap_or_default();
    let before = steps();
    page.evaluate("document.getElementById('timeline').focus()");
    for _ in 0..40 {
        for key in [".", "d", ","] {
            page.press(key);
        }
    }
    settled_fragment(&page);
    assert_eq!(steps(), before, "zooming and panning add no history entries");
    page.click("#tab-insights");
    wait_for_fragment_part(&page, "tab=why");
    page.click("#tab-table");
    wait_for_fragment_part(&page, "tab=table");
    page.wait_for(&(before + 2), steps);
    let asked = page.requests_without_head();
    page.evaluate("history.back()");
    page.wait_for(&"tab-insights".to_owned(), || selected_tab(&page));
    page.evaluate("history.back()");
    page.wait_for(&"tab-tree".to_owned(), || selected_tab(&page));
    page.evaluate("history.forward()");
    page.wait_for(&"tab-insights".to_owned(), || selected_tab(&page));
    settled_fragment(&page);
    assert_eq!(steps(), before + 2);
    assert_eq!(page.requests_without_head(), asked, "nothing is fetched again");
    // The fragment is edited by hand.
    page.evaluate("location.hash = location.hash.replace('tab=why', 'tab=flame')");
    page.wait_for(&"tab-flame".to_owned(), || selected_tab(&page));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_local_file_asks_for_file_and_recognizes_it() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.click("#tab-table");
    wait_for_fragment_part(&page, "tab=table");
    let link = settled_fragment(&page);
    assert!(link.contains("name=halves.pickle"), "{link}");

    let other = open(link.trim_start_matches('#'));
    other.wait_until("the page asks for the file", || {
        notice_text(&other).starts_with("This view belongs to halves.pickle (")
    });
    assert_eq!(other.state(), "empty");
    let wrong =
        fixtures::write_file("wrong.pickle", &[std::fs::read(halves()).expect("a fixture"), b" ".to_vec()].concat());
    other.drop_files(&[&wrong]);
    other.wait_for_state("ready");
    other.wait_until("the page reports a different file", || {
        notice_text(&other).starts_with("This is a different file. ")
    });
    assert_eq!(selected_tab(&other), "tab-insights");
    other.drop_files(&[&halves()]);
    other.wait_for(&"tab-table".to_owned(), || selected_tab(&other));
    other.wait_for(&String::new(), || notice_text(&other));
    assert_fragment_stays(&other, &link);
    assert_eq!(other.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn changed_hosted_file_shows_warning() {
    let print = "1234-00000000000000000000000000000000";
    let page = open_example(&format!("print={print}&tab=table"));
    page.wait_until("the warning is shown", || notice_text(&page).contains("has changed since the link was made"));
    page.wait_for(&"tab-table".to_owned(), || selected_tab(&page));
    page.click("#link-notice-close");
    page.wait_for(&String::new(), || notice_text(&page));
    // A link with the current fingerprint causes no warning.
    page.wait_until("the link has the current fingerprint", || !fragment(&page).contains(print));
    let link = settled_fragment(&page);
    assert!(link.contains("print=") && !link.contains(print), "{link}");
    let page = open(link.trim_start_matches('#'));
    page.wait_for_state("ready");
    assert_fragment_stays(&page, &link);
    assert_eq!(notice_text(&page), "");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_with_two_snapshots_lists_both() {
    halves();
    let page = open(&format!("url={EXAMPLE}&url=../snapshots/halves.pickle&open=1"));
    wait_for_halves(&page);
    // The link contains "open=1" too, but not the version.
    wait_for_fragment_part(&page, "v=1");
    let choose = "{ const picker = document.getElementById('snapshot'); picker.selectedIndex = 0; \
                  picker.dispatchEvent(new Event('change', { bubbles: true })); }";
    page.evaluate(choose);
    page.wait_until("the other snapshot is open", || !fragment(&page).contains("open=1"));
    page.wait_for_state("ready");
    assert!(fragment(&page).starts_with("#v=1&url=training.pickle.gz&url=../snapshots/halves.pickle"));
    settled_fragment(&page);
    page.evaluate("history.back()");
    wait_for_halves(&page);
}

/// The event that announces a step in the history comes late on a busy machine.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn address_is_not_written_between_going_back_and_its_event() {
    halves();
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(
        "addEventListener('hashchange', (event) => { if (!window.isLate) return; window.isLate = false; \
         event.stopImmediatePropagation(); setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')), 600); }, \
         { capture: true })",
    );
    page.navigate(&format!("{}#url={EXAMPLE}&url=../snapshots/halves.pickle&open=1", Site::shared().page()));
    wait_for_halves(&page);
    wait_for_fragment_part(&page, "v=1");
    page.evaluate(
        "{ const picker = document.getElementById('snapshot'); picker.selectedIndex = 0; \
         picker.dispatchEvent(new Event('change', { bubbles: true })); }",
    );
    page.wait_until("the other snapshot is open", || !fragment(&page).contains("open=1"));
    page.wait_for_state("ready");
    settled_fragment(&page);
    page.evaluate("window.isLate = true; document.getElementById('tab-flame').click(); history.back()");
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_of_newer_version_applies_known_parameters() {
    let page = open(&format!("v=7&url={EXAMPLE}&tab=flame&hologram=on&at=beyond"));
    page.wait_for_state("ready");
    page.wait_until("the version is reported", || notice_text(&page).contains("v=7"));
    page.wait_for(&"tab-flame".to_owned(), || selected_tab(&page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn known_link_parameters_apply_and_unknown_ones_are_reported() {
    for (scheme, width) in [("light", 1280), ("dark", 600)] {
        let page = open_example(
            "tab=why&topic=leaks&threshold=leaks:alive:16777216&hologram=on&at=40&cursor=40:1000&sort=weight-",
        );
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.wait_for(&"Ignored in the link: hologram and 1 more.".to_owned(), || notice_text(&page));
        let fields = "[...document.querySelectorAll('[data-threshold]')].map(field => field.value).join()";
        let has = |value: &str| page.evaluate(fields).as_str().is_some_and(|all| all.split(',').any(|it| it == value));
        page.wait_until("the threshold is the link's", || has("16.0 MiB"));
        save_drawn_screenshot(&page, &format!("link-in-vain-{scheme}"));
        // The page's link keeps the known parameters.
        let link = settled_fragment(&page);
        for part in ["threshold=leaks:alive:16777216", "cursor=40:1000", "at=40"] {
            assert!(link.contains(part), "{part} in {link}");
        }
        assert!(!link.contains("hologram"));
        let other = open(link.trim_start_matches('#'));
        other.wait_for_state("ready");
        assert_fragment_stays(&other, &link);
        assert_eq!(notice_text(&other), "");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn hostile_link_opens_view_without_foreign_requests() {
    let most = u64::MAX;
    let views = [
        format!("device={most}&at={most}&select=4294967295&node=4294967295&focus=4294967295&zoom=4294967295&tab=tree"),
        "node=4294967295&tab=flame&zoom=4294967294&folds=4294967295O,4294967295c&tab=flame".to_owned(),
        format!("show=addresses&pool={most}.{most}&stream={most}&segment=ffffffffffffffff&y={most}..{most}&tab=memory"),
        format!("show=reserved&lines=1,2,3,4,5,6,7&x=-9223372036854..9223372036854&y=0..{most}&tab=events&actions=ffffffff"),
        "axis=time&x=9..1&range=4294967294..-1&about=bytes&tab=table&sizes=0..255&lives=9..1&filter=%00%FF%3C&sort=age%2B".to_owned(),
        format!("find=%2F(((((%2F&marks=0:{most}:{most}:a,0:1:{most}:a&capacity={most}&faded={most}&topic=oom&tab=why&views=999"),
        format!("cursor={most}:{most}&at=5&ruler=x{most}:{most}..t9:{most}&heights=0:{most}..{most}&lanes=all&rows=leaks:x:4294967295"),
        format!("show=reserved&chosen=4294967294:{most}&threshold=leaks:alive:{most}&tab=why&topic=leaks"),
        format!("show=addresses&chosen=0:{most}&files=%00,%2C,{}&tab=source&mzoom={most}", "a/".repeat(900)),
        "tab=memory&mzoom=1&%3Cimg%20src=x%20onerror=alert(1)%3E=1".to_owned(),
        "events=%2F(a%7Caa)%2B%24%2F&request=99999999999TiB&mpool=7.7&mstream=9&tab=memory&views=-4".to_owned(),
    ];
    let page = open("url=%6a%61vascript%3Aalert(1)");
    page.wait_for_state("error");
    assert!(page.text("#error").contains("Only http and https links"), "{}", page.text("#error"));
    for view in views {
        let page = open_example(&view);
        settled_fragment(&page);
        assert_eq!(page.state(), "ready", "{view}: {}", page.text("#error"));
        page.press("?");
        page.press("?");
        let home = &Site::shared().origin;
        assert!(page.requests().iter().all(|url| url.starts_with(home) || url.starts_with("blob:")), "{view}");
        assert_eq!(page.errors(), Vec::<String>::new(), "{view}");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_to_missing_file_shows_notice_with_name() {
    let print = "4404019-00112233445566778899aabbccddeeff";
    let name = "run-17/rank-0/a%20snapshot%20with%20a%20rather%20long%20name%20of%20the%20third%20attempt.pickle";
    for (scheme, width) in [("light", 1280), ("dark", 600)] {
        let page = open(&format!("v=1&name={name}&print={print}&tab=why"));
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.wait_until("the page asks for the file", || notice_text(&page).contains("(4.20 MiB)"));
        crate::screenshots::save_screenshot(&page, &format!("link-asks-{scheme}"));
        page.drop_files(&[&halves()]);
        page.wait_until("the page reports a different file", || {
            notice_text(&page).starts_with("This is a different file. ")
        });
        save_drawn_screenshot(&page, &format!("link-other-{scheme}"));
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(page.evaluate(fits), true, "the page scrolls sideways at {width} px");
    }
}
