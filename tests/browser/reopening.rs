//! What is open stays where another file can't be opened; a page that was reloaded asks for its file; the samples of the start page; keys
//! and the side panel wherever the focus and however narrow the window is.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves, halves_value};
use crate::opening::{empty_page, shows_halves};
use crate::page::{Page, SHIFT};
use crate::pictures::{keep, keep_drawn};
use crate::site::Site;
use crate::zip::zip_of;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

fn fragment(page: &Page) -> String {
    page.evaluate("location.hash").as_str().unwrap_or_default().to_owned()
}

/// The address of an open file once it has said the same for longer than the page waits before it writes it.
#[track_caller]
fn settled(page: &Page) -> String {
    page.wait_until("the address has the fingerprint", || fragment(page).contains("print="));
    page.settled("the address", || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        fragment(page)
    })
}

fn is_shown(page: &Page, selector: &str) -> bool {
    page.shows(selector)
}

/// [`halves`] with a cursor, a window, a selection and a tab of its own.
fn seen(page: &Page) -> String {
    shows_halves(page);
    page.click("#tab-events");
    page.evaluate("document.getElementById('timeline').focus()");
    page.press(".");
    let (x, y) = page.corners("canvas#timeline").at(0.5, 0.75);
    page.click_at(x, y);
    page.wait_for(&Some(fixtures::LOWER.to_string()), || page.attribute("#details", "data-size"));
    settled(page)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_wrong_file_leaves_what_is_open() {
    let page = empty_page();
    page.drop_files(&[&halves()]);
    let link = seen(&page);
    assert!(link.contains("&select=") && link.contains("&x=") && link.contains("tab=events"), "{link}");
    let cut = std::fs::read(halves()).map(|bytes| bytes[..bytes.len() / 2].to_vec()).expect("just written");
    let wrong: [(&str, Vec<u8>, &str); 4] = [
        ("truncated.pickle", cut, "end"),
        ("empty.pickle", Vec::new(), "empty"),
        ("nothing.zip", zip_of(&[]), ""),
        ("call.pickle", b"\x80\x04N)R.".to_vec(), "REDUCE"),
    ];
    for (name, bytes, said) in wrong {
        page.drop_files(&[&fixtures::file(name, &bytes)]);
        page.wait_until("it is said", || page.text("#toast-text").starts_with(&format!("Could not open {name}: ")));
        page.wait_for_state("ready");
        assert!(is_shown(&page, "#toast") && !is_shown(&page, "#error"));
        // What is folded away is no text that is seen.
        let details = page.evaluate("document.querySelector('#toast-details').textContent").to_string();
        assert!(details.contains(said), "{name}: {details}");
        assert_eq!(page.attribute("#toast", "role").as_deref(), Some("alert"));
        // It is as it was: picture, window, cursor, selection, tab.
        shows_halves(&page);
        page.wait_for(&link, || settled(&page));
        page.wait_for(&Some(fixtures::LOWER.to_string()), || page.attribute("#details", "data-size"));
    }
    // It covers nothing, and stays until it is closed.
    let toast = page.corners("#toast");
    for control in ["#share", "#show", "#fit-both", "#tab-events", "#side-selection"] {
        let control = page.corners(control);
        assert!(control.top >= toast.top + toast.height || control.top + control.height <= toast.top, "{control:?}");
    }
    let details = || page.evaluate("document.querySelector('#toast-details').checkVisibility()") == true;
    assert!(!details());
    page.click("#toast summary");
    page.wait_until("the details are seen", details);
    keep_drawn(&page, "toast-details");
    page.click("#toast-close");
    page.wait_until("it is closed", || !is_shown(&page, "#toast"));
    page.drop_files(&[&fixtures::file("empty.pickle", b"")]);
    page.wait_until("it is said again", || is_shown(&page, "#toast"));
    page.evaluate("document.getElementById('timeline').focus()");
    page.press("Escape");
    page.wait_until("Esc closes it", || !is_shown(&page, "#toast"));
    assert!(page.attribute("#details", "data-size").is_some(), "and nothing else");
    // The worker still answers, and the next good file opens.
    page.press("End");
    page.click("#tab-table");
    page.wait_until("rows come", || {
        page.evaluate("document.querySelectorAll('#table-grid [role=row]').length > 1") == true
    });
    let other = fixtures::file("other.json", halves_value().to_string().as_bytes());
    page.drop_files(&[&other]);
    page.wait_for(&"other.json".to_owned(), || page.text("#file-name"));
    shows_halves(&page);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_link_that_fails_or_is_cancelled_leaves_what_is_open() {
    let page = empty_page();
    page.drop_files(&[&halves()]);
    let link = seen(&page);
    page.evaluate("location.hash = '#url=../nowhere.pickle'");
    page.wait_until("it is said", || page.text("#toast-text").starts_with("Could not open nowhere.pickle: "));
    shows_halves(&page);
    page.wait_for(&link, || settled(&page));
    page.evaluate("location.hash = '#url=../slow.pickle'");
    page.wait_for_state("loading");
    assert!(!is_shown(&page, "#workspace"));
    page.click("#cancel");
    page.wait_for_state("ready");
    shows_halves(&page);
    page.wait_for(&link, || settled(&page));
    assert!(!is_shown(&page, "#toast"), "nobody has to be told of what they did");
    // A file that is dropped while another one loads, and is wrong as well.
    page.evaluate("location.hash = '#url=../slow.pickle'");
    page.wait_for_state("loading");
    page.drop_files(&[&fixtures::file("empty.pickle", b"")]);
    page.wait_until("it is said", || page.text("#toast-text").starts_with("Could not open empty.pickle: "));
    page.wait_for(&link, || settled(&page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_reload_asks_for_the_file_and_restores_the_view() {
    let page = empty_page();
    // Of what is picked the browser keeps no handle.
    page.choose("input#file", &[&halves()]);
    let link = seen(&page);
    page.reload();
    page.wait_until("it asks", || page.text("#link-choose") == "Choose halves.pickle…");
    assert_eq!(page.state(), "empty");
    let text = page.text("#link-notice-text");
    assert!(
        text.starts_with("This view belongs to halves.pickle (") && text.ends_with("Choose that file to restore it.")
    );
    page.evaluate(
        "document.getElementById('file').addEventListener('click', event => { event.preventDefault(); window.picks = true; })",
    );
    page.click("#link-choose");
    page.wait_until("the picker was opened", || page.evaluate("window.picks") == true);
    page.choose("input#file", &[&halves()]);
    shows_halves(&page);
    page.wait_for(&link, || settled(&page));
    assert!(!is_shown(&page, "#link-notice"));
    // A name that is no button's.
    let long = "checkpoint-".repeat(20);
    let other =
        Page::open(Chromium::with(Adapter::Software), &format!("{}#v=1&name={long}&tab=table", Site::shared().page()));
    other.wait_until("it asks", || other.text("#link-choose").starts_with("Choose checkpoint-"));
    assert!(other.corners("#link-choose").width <= 330.0);
    keep(&other, "link-asks");
    other.drop_files(&[&halves()]);
    shows_halves(&other);
    other.wait_until("its tab is shown", || fragment(&other).contains("tab=table"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn each_sample_opens_at_its_story() {
    let stories =
        [("#open-example", "oom"), ("#open-leak", "leaks"), ("#open-training", "steps"), ("#open-graphs", "pools")];
    for (card, topic) in stories {
        let page = empty_page();
        page.click(card);
        page.wait_for_state("ready");
        page.wait_for(&Some(topic.to_owned()), || page.attribute("#why-report", "data-topic"));
        page.wait_until("it says so", || !page.text("#why-statements").is_empty());
        assert!(!is_shown(&page, "#link-notice"), "{}", page.text("#link-notice-text"));
        let has_alarms = ["oom", "leaks"].contains(&topic);
        page.wait_until("alarms are counted", || !has_alarms || is_shown(&page, "#why-badge"));
        keep_drawn(&page, &format!("sample-{topic}"));
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
    let page = empty_page();
    page.click("#open-example");
    page.wait_for_state("ready");
    let at = "document.querySelector('#moment').dataset.event";
    page.wait_until("the cursor is where memory ran out", || page.evaluate(at) == "1342");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_without_events_says_so_and_shows_segments() {
    let mut value = halves_value();
    value["device_traces"] = serde_json::json!([[]]);
    let page = empty_page();
    page.drop_files(&[&fixtures::file("segments-only.json", value.to_string().as_bytes())]);
    page.wait_for_state("ready");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#tab-state", "aria-selected"));
    assert!(page.text("#link-notice-text").starts_with("No trace events recorded: segments only."));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn alarms_are_counted_whichever_tab_is_seen() {
    for view in ["tab=table", "tab=tree&views=folded"] {
        let address = format!("{}#v=1&url=leak.pickle.gz&{view}", Site::shared().page());
        let page = Page::open(Chromium::with(Adapter::Software), &address);
        page.wait_for_state("ready");
        page.wait_until("there are alarms", || is_shown(&page, "#why-badge") && page.text("#why-badge") != "0");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_move_the_timeline_after_a_click_on_an_insight() {
    let page = empty_page();
    page.click("#open-leak");
    page.wait_for_state("ready");
    page.wait_until("there is something to click", || {
        page.evaluate("!!document.querySelector('#why-report [data-item]')") == true
    });
    page.click("#why-report [data-item]");
    page.wait_until("it has the focus", || page.evaluate("!!document.activeElement.closest('#why-report')") == true);
    // What it is about may be in the window now.
    page.press("0");
    settled(&page);
    page.press(".");
    page.wait_until("it is zoomed", || fragment(&page).contains("&x="));
    let zoomed = settled(&page);
    page.press("ArrowRight");
    page.wait_until("it is moved", || fragment(&page).contains("&x=") && fragment(&page) != zoomed);
    page.press("0");
    page.wait_until("all is seen again", || !fragment(&page).contains("&x="));
    page.press_held("P", SHIFT);
    page.wait_until("the cursor is at the peak", || !fragment(&page).contains("&at="));
    // In a text field they are text.
    page.click("#find");
    page.press(".");
    settled(&page);
    assert!(!fragment(&page).contains("&x="));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_side_panel_of_a_narrow_window_is_a_sheet() {
    let page = empty_page();
    page.resize(600, 900);
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    let height = || page.corners_now("#side").height;
    page.wait_until("it is down", || height() < 60.0);
    let (x, y) = page.corners("canvas#timeline").at(0.5, 0.75);
    page.click_at(x, y);
    page.wait_until("a selection brings it up", || height() > 300.0);
    page.wait_until("with what was selected", || {
        let title = page.corners_now("#details-title");
        title.height > 0.0 && title.top > 300.0 && title.top + title.height < 900.0
    });
    keep_drawn(&page, "sheet");
    page.click("#side-sheet");
    page.wait_until("it is closed", || height() < 60.0);
    assert_eq!(page.attribute("#side-sheet", "aria-expanded").as_deref(), Some("false"));
    page.click("#side-file");
    page.wait_until("a tab opens it", || height() > 300.0);
    page.evaluate("document.getElementById('timeline').focus()");
    page.press("Escape");
    page.wait_until("Esc closes it", || height() < 60.0);
    page.resize(1280, 800);
    page.wait_until("a wide window has it beside the picture", || height() > 600.0);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_theme_that_was_chosen_holds_before_anything_is_painted() {
    let page = empty_page();
    page.prefer_color_scheme("light");
    page.evaluate("localStorage.setItem('memscape.settings', 'memscape settings 1\\ntheme=dark')");
    // The program runs after the document was read.
    page.run_before_load(
        "document.addEventListener('readystatechange', () => { window.first ??= document.documentElement.dataset.theme ?? 'none' })",
    );
    page.reload();
    page.wait_for(&serde_json::json!("dark"), || page.evaluate("window.first"));
}

/// Says yes for the person whom Chromium asks for a kept file: without a window its dialog waits forever.
fn allow(page: &Page) {
    let bytes = BASE64_STANDARD.encode(std::fs::read(halves()).expect("just written"));
    page.evaluate(&format!(
        "FileSystemFileHandle.prototype.requestPermission = async () => 'granted';
         FileSystemFileHandle.prototype.getFile = async function () {{
             const bytes = Uint8Array.from(atob('{bytes}'), letter => letter.charCodeAt(0));
             return new File([bytes], this.name);
         }}; 0"
    ));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn files_that_were_dropped_are_recent_and_open_again() {
    let page = empty_page();
    assert!(!is_shown(&page, "#recent"));
    page.drop_files(&[&halves()]);
    let link = seen(&page);
    let kept = "(async () => {
        const open = indexedDB.open('recent');
        const base = await new Promise(done => open.onsuccess = () => done(open.result));
        if (!base.objectStoreNames.contains('recent')) return [];
        const got = base.transaction('recent').objectStore('recent').get('recent');
        const list = await new Promise(done => got.onsuccess = () => done(got.result ?? []));
        base.close();
        return list.map(handle => handle.name);
    })()";
    page.wait_for(&json!(["halves.pickle"]), || page.evaluate(kept));
    page.navigate("about:blank");
    page.navigate(&Site::shared().page());
    page.wait_until("the recent files are shown", || is_shown(&page, "#recent"));
    assert_eq!(page.text("#recent-list button"), "halves.pickle");
    let facts = page.text("#recent-list .facts");
    assert!(facts.contains(" · peak 2.00 GiB · "), "{facts}");
    keep(&page, "recent-files");
    allow(&page);
    page.click("#recent-list button");
    shows_halves(&page);
    // The link of the view finds it too, without a dialog of the system.
    page.navigate("about:blank");
    page.navigate(&(Site::shared().page() + &link));
    page.wait_until("it asks", || page.text("#link-choose") == "Choose halves.pickle…");
    page.wait_until("it knows the file", || page.text("#recent-list button") == "halves.pickle");
    allow(&page);
    page.click("#link-choose");
    shows_halves(&page);
    page.wait_for(&link, || settled(&page));
    page.navigate("about:blank");
    page.navigate(&Site::shared().page());
    page.wait_until("the recent files are shown", || is_shown(&page, "#recent"));
    page.click("#recent-clear");
    page.wait_until("they are gone", || !is_shown(&page, "#recent"));
    page.wait_for(&json!([]), || page.evaluate(kept));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
