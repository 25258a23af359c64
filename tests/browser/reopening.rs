//! Opening another file: failures leave the open file unchanged, a reload asks for its file, samples, recent files;
//! also keyboard focus and the side panel in narrow windows.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves, halves_value};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::{Page, SHIFT};
use crate::screenshots::{save_drawn_screenshot, save_screenshot};
use crate::site::Site;
use crate::zip::zip_of;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

fn fragment(page: &Page) -> String {
    page.evaluate("location.hash").as_str().unwrap_or_default().to_owned()
}

/// Fragment of an open file once it is stable for longer than the page's delay before it writes it.
#[track_caller]
fn settled_fragment(page: &Page) -> String {
    page.wait_until("the address has the fingerprint", || fragment(page).contains("print="));
    page.wait_until_settled("the address", || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        fragment(page)
    })
}

fn is_shown(page: &Page, selector: &str) -> bool {
    page.is_shown(selector)
}

/// Sets a cursor, a window, a selection and a tab in a page with [`halves`], and returns the fragment.
fn set_view(page: &Page) -> String {
    wait_for_halves(page);
    page.click("#tab-events");
    page.evaluate("document.getElementById('timeline').focus()");
    page.press(".");
    let (x, y) = page.bounding_box("canvas#timeline").at(0.5, 0.75);
    page.click_at(x, y);
    page.wait_for(&Some(fixtures::LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    settled_fragment(page)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn opening_invalid_file_does_not_close_open_file() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    let link = set_view(&page);
    assert!(link.contains("&select=") && link.contains("&x=") && link.contains("tab=events"), "{link}");
    let cut = std::fs::read(halves()).map(|bytes| bytes[..bytes.len() / 2].to_vec()).expect("just written");
    let wrong: [(&str, Vec<u8>, &str); 4] = [
        ("truncated.pickle", cut, "cut off"),
        ("empty.pickle", Vec::new(), "empty"),
        ("nothing.zip", zip_of(&[]), ""),
        ("call.pickle", b"\x80\x04N)R.".to_vec(), "REDUCE"),
    ];
    for (name, bytes, said) in wrong {
        page.drop_files(&[&fixtures::write_file(name, &bytes)]);
        page.wait_until("the toast is shown", || {
            page.text("#toast-text").starts_with(&format!("Could not open {name}: "))
        });
        page.wait_for_state("ready");
        assert!(is_shown(&page, "#toast") && !is_shown(&page, "#error"));
        // The details are collapsed, so they are not in the rendered text.
        let details = page.evaluate("document.querySelector('#toast-details').textContent").to_string();
        assert!(details.contains(said), "{name}: {details}");
        assert_eq!(page.attribute("#toast", "role").as_deref(), Some("alert"));
        // Picture, window, cursor, selection and tab are unchanged.
        wait_for_halves(&page);
        page.wait_for(&link, || settled_fragment(&page));
        page.wait_for(&Some(fixtures::LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    }
    // The toast covers no controls and stays until it is closed.
    let toast = page.bounding_box("#toast");
    for control in ["#share", "#show", "#fit-both", "#tab-events", "#side-selection"] {
        let control = page.bounding_box(control);
        assert!(control.top >= toast.top + toast.height || control.top + control.height <= toast.top, "{control:?}");
    }
    let details = || page.evaluate("document.querySelector('#toast-details').checkVisibility()") == true;
    assert!(!details());
    page.click("#toast summary");
    page.wait_until("the details are shown", details);
    save_drawn_screenshot(&page, "toast-details");
    page.click("#toast-close");
    page.wait_until("the toast is closed", || !is_shown(&page, "#toast"));
    page.drop_files(&[&fixtures::write_file("empty.pickle", b"")]);
    page.wait_until("the toast is shown again", || is_shown(&page, "#toast"));
    page.evaluate("document.getElementById('timeline').focus()");
    page.press("Escape");
    page.wait_until("Esc closes the toast", || !is_shown(&page, "#toast"));
    // The selection is kept.
    page.wait_for(&Some(fixtures::LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    // The worker still answers, and the next valid file opens.
    page.press("End");
    page.click("#tab-table");
    page.wait_until("rows are listed", || {
        page.evaluate("document.querySelectorAll('#table-grid [role=row]').length > 1") == true
    });
    let other = fixtures::write_file("other.json", halves_value().to_string().as_bytes());
    page.drop_files(&[&other]);
    page.wait_for(&"other.json".to_owned(), || page.text("#file-name"));
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn failed_or_cancelled_link_does_not_close_open_file() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    let link = set_view(&page);
    page.evaluate("location.hash = '#url=../nowhere.pickle'");
    page.wait_until("the toast is shown", || page.text("#toast-text").starts_with("Could not open nowhere.pickle: "));
    wait_for_halves(&page);
    page.wait_for(&link, || settled_fragment(&page));
    page.evaluate("location.hash = '#url=../slow.pickle'");
    page.wait_for_state("loading");
    assert!(!is_shown(&page, "#workspace"));
    page.click("#cancel");
    page.wait_for_state("ready");
    wait_for_halves(&page);
    page.wait_for(&link, || settled_fragment(&page));
    assert!(!is_shown(&page, "#toast"), "a toast reports the cancellation");
    // An invalid file dropped while a link loads.
    page.evaluate("location.hash = '#url=../slow.pickle'");
    page.wait_for_state("loading");
    page.drop_files(&[&fixtures::write_file("empty.pickle", b"")]);
    page.wait_until("the toast is shown", || page.text("#toast-text").starts_with("Could not open empty.pickle: "));
    page.wait_for(&link, || settled_fragment(&page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn reload_asks_for_file_and_restores_view() {
    let page = open_empty_page();
    // The browser gives no reusable handle for files chosen in an input.
    page.choose_files("input#file", &[&halves()]);
    let link = set_view(&page);
    page.reload();
    page.wait_until("the page asks for the file", || page.text("#link-choose") == "Choose halves.pickle…");
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
    page.choose_files("input#file", &[&halves()]);
    wait_for_halves(&page);
    page.wait_for(&link, || settled_fragment(&page));
    assert!(!is_shown(&page, "#link-notice"));
    // A file name that is too long for a button.
    let long = "checkpoint-".repeat(20);
    let other =
        Page::open(Chromium::shared(Adapter::Missing), &format!("{}#v=1&name={long}&tab=table", Site::shared().page()));
    other.wait_until("the page asks for the file", || other.text("#link-choose").starts_with("Choose checkpoint-"));
    assert!(other.bounding_box("#link-choose").width <= 330.0);
    save_screenshot(&other, "link-asks");
    other.drop_files(&[&halves()]);
    wait_for_halves(&other);
    other.wait_until("the tab of the link is shown", || fragment(&other).contains("tab=table"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn sample_cards_open_file_with_matching_insight() {
    let stories =
        [("#open-example", "oom"), ("#open-leak", "leaks"), ("#open-training", "steps"), ("#open-graphs", "pools")];
    for (card, topic) in stories {
        let page = open_empty_page();
        page.click(card);
        page.wait_for_state("ready");
        page.wait_for(&Some(topic.to_owned()), || page.attribute("#insights-report", "data-topic"));
        page.wait_until("the report is shown", || !page.text("#insights-statements").is_empty());
        assert!(!is_shown(&page, "#link-notice"), "{}", page.text("#link-notice-text"));
        let has_alarms = ["oom", "leaks"].contains(&topic);
        page.wait_until("alarms are counted", || !has_alarms || is_shown(&page, "#insights-badge"));
        save_drawn_screenshot(&page, &format!("sample-{topic}"));
        assert_eq!(page.errors(), Vec::<String>::new());
    }
    let page = open_empty_page();
    page.click("#open-example");
    page.wait_for_state("ready");
    let at = "document.querySelector('#moment').dataset.event";
    page.wait_until("the cursor is at the OOM", || page.evaluate(at) == "1342");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_without_events_shows_segments_and_notice() {
    let mut value = halves_value();
    value["device_traces"] = serde_json::json!([[]]);
    let page = open_empty_page();
    page.drop_files(&[&fixtures::write_file("segments-only.json", value.to_string().as_bytes())]);
    page.wait_for_state("ready");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#tab-segments", "aria-selected"));
    // The reason and the code that records a snapshot stand where the plot would be.
    assert!(page.text("#plot-note-text").starts_with("No events: recording was not enabled."));
    assert!(page.text("#plot-note-code").contains("torch.cuda.memory._record_memory_history("));
    let (note, stage) = (page.bounding_box("#plot-note"), page.bounding_box("#stage"));
    assert!(note.top >= stage.top && note.top + note.height <= stage.top + stage.height, "{note:?} in {stage:?}");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn alarm_count_is_shown_on_every_tab() {
    for view in ["tab=table", "tab=tree&views=folded"] {
        let address = format!("{}#v=1&url=leak.pickle.gz&{view}", Site::shared().page());
        let page = Page::open(Chromium::shared(Adapter::Missing), &address);
        page.wait_for_state("ready");
        page.wait_until("alarms are counted", || {
            is_shown(&page, "#insights-badge") && page.text("#insights-badge") != "0"
        });
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn timeline_keys_work_after_click_on_insight() {
    let page = open_empty_page();
    page.click("#open-leak");
    page.wait_for_state("ready");
    page.wait_until("an item is shown", || {
        page.evaluate("!!document.querySelector('#insights-report [data-item]')") == true
    });
    page.click("#insights-report [data-item]");
    page.wait_until("the report has the focus", || {
        page.evaluate("!!document.activeElement.closest('#insights-report')") == true
    });
    // The click may have zoomed to the insight's evidence.
    page.press("0");
    settled_fragment(&page);
    page.press(".");
    page.wait_until("the window is zoomed", || fragment(&page).contains("&x="));
    let zoomed = settled_fragment(&page);
    page.press("ArrowRight");
    page.wait_until("the window has moved", || fragment(&page).contains("&x=") && fragment(&page) != zoomed);
    page.press("0");
    page.wait_until("the window is the whole trace", || !fragment(&page).contains("&x="));
    page.press_with("P", SHIFT);
    page.wait_until("the cursor is at the peak", || !fragment(&page).contains("&at="));
    // In a text field, keys are typed as text.
    page.click("#find");
    page.press(".");
    settled_fragment(&page);
    assert!(!fragment(&page).contains("&x="));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn side_panel_is_bottom_sheet_in_narrow_window() {
    let page = open_empty_page();
    page.resize(600, 900);
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let height = || page.bounding_box_now("#side").height;
    page.wait_until("the sheet is closed", || height() < 60.0);
    let (x, y) = page.bounding_box("canvas#timeline").at(0.5, 0.75);
    page.click_at(x, y);
    page.wait_until("a block is selected", || page.attribute("#details", "data-allocation").is_some());
    assert!(height() < 60.0, "a selection covers the views");
    page.click("#side-selection");
    page.wait_until("its tab opens the sheet", || height() > 300.0);
    page.wait_until("the sheet shows the selection", || {
        let title = page.bounding_box_now("#details-title");
        title.height > 0.0 && title.top > 300.0 && title.top + title.height < 900.0
    });
    save_drawn_screenshot(&page, "sheet");
    page.click("#side-sheet");
    page.wait_until("the sheet is closed", || height() < 60.0);
    assert_eq!(page.attribute("#side-sheet", "aria-expanded").as_deref(), Some("false"));
    page.click("#side-file");
    page.wait_until("a tab opens the sheet", || height() > 300.0);
    page.evaluate("document.getElementById('timeline').focus()");
    page.press("Escape");
    page.wait_until("Esc closes the sheet", || height() < 60.0);
    page.resize(1280, 800);
    page.wait_until("the panel is beside the timeline in a wide window", || height() > 600.0);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn stored_theme_applies_before_first_paint() {
    let page = open_empty_page();
    page.prefer_color_scheme("light");
    page.evaluate("localStorage.setItem('memscape.settings', 'memscape settings 1\\ntheme=dark')");
    // The theme must be set before the program starts, which is after the document is parsed.
    page.run_before_load(
        "document.addEventListener('readystatechange', () => { window.first ??= document.documentElement.dataset.theme ?? 'none' })",
    );
    page.reload();
    page.wait_for(&serde_json::json!("dark"), || page.evaluate("window.first"));
}

/// Grants the permission to read a recent file: Chromium's own dialog would wait forever without a window.
fn grant_file_permission(page: &Page) {
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
fn dropped_files_are_listed_as_recent_and_reopen() {
    let page = open_empty_page();
    assert!(!is_shown(&page, "#recent"));
    page.drop_files(&[&halves()]);
    let link = set_view(&page);
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
    save_screenshot(&page, "recent-files");
    grant_file_permission(&page);
    page.click("#recent-list button");
    wait_for_halves(&page);
    // A link to the view offers the recent file, without a system dialog.
    page.navigate("about:blank");
    page.navigate(&(Site::shared().page() + &link));
    page.wait_until("the page asks for the file", || page.text("#link-choose") == "Choose halves.pickle…");
    page.wait_until("the recent file is offered", || page.text("#recent-list button") == "halves.pickle");
    grant_file_permission(&page);
    page.click("#link-choose");
    wait_for_halves(&page);
    page.wait_for(&link, || settled_fragment(&page));
    page.navigate("about:blank");
    page.navigate(&Site::shared().page());
    page.wait_until("the recent files are shown", || is_shown(&page, "#recent"));
    page.click("#recent-clear");
    page.wait_until("the recent files are hidden", || !is_shown(&page, "#recent"));
    page.wait_for(&json!([]), || page.evaluate(kept));
    assert_eq!(page.errors(), Vec::<String>::new());
}
