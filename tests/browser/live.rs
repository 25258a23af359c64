//! Files that change while they are open: with `memscape serve`, which notifies the page, and on other servers, which
//! the page polls.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::folder as fixtures;
use crate::generate::{Options, generate};
use crate::opening::summary_values;
use crate::page::Page;
use crate::screenshots::{save_drawn_screenshot, save_screenshot};
use crate::served::Server;
use server::Response;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Script that records every error state and toast, even if shown for one frame only.
const RECORD_ERRORS: &str = "{ window.flashed = []; new MutationObserver(() => { \
    const { state } = document.body?.dataset ?? {}; const toast = document.getElementById('toast'); \
    if (state === 'error' || (toast && !toast.hidden)) flashed.push(state); }) \
    .observe(document, { subtree: true, attributes: true, attributeFilter: ['data-state', 'hidden'] }); }";

/// Generates a snapshot with this many events.
fn snapshot(events: usize) -> Vec<u8> {
    let words = ["--events".to_owned(), events.to_string()];
    let (options, _) = Options::parse(words.into_iter()).expect("known options");
    generate(&options, Vec::new()).expect("writing to a Vec succeeds").0
}

fn empty_folder(name: &str) -> PathBuf {
    let folder = fixtures().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

/// Writes a served file atomically, as memscape's recorder does.
fn write_atomically(path: &Path, bytes: &[u8]) {
    let partial = path.with_extension("part");
    fs::write(&partial, bytes).expect("target/tmp can be written");
    fs::rename(&partial, path).expect("just written");
}

fn serve_folder(folder: &Path) -> (Server, Page) {
    let server = Server::start(&crate::site::dist().join("memscape.html"), &[folder.to_str().expect("UTF-8")]);
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(RECORD_ERRORS);
    page.navigate_without_wait(&server.address());
    (server, page)
}

fn is_shown(page: &Page, selector: &str) -> bool {
    page.is_shown(selector)
}

/// Waits until the page offers to reload, with this text.
#[track_caller]
fn wait_for_offer(page: &Page, text: &str) {
    page.wait_until(&format!("{text} is offered"), || is_shown(page, "#live") && page.text("#live-text") == text);
}

fn event_count(page: &Page) -> String {
    summary_values(page)[3].clone()
}

/// Waits until a file is open and its number of events is shown.
fn wait_for_event_count(page: &Page) -> String {
    page.wait_for_state("ready");
    page.wait_until("the number of events is shown", || !event_count(page).is_empty());
    event_count(page)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn changed_served_file_shows_reload_button_and_keeps_view() {
    let folder = empty_folder("live-changed");
    let path = folder.join("train.pickle");
    write_atomically(&path, &snapshot(2000));
    let (server, page) = serve_folder(&folder);
    let before = wait_for_event_count(&page);
    page.click("#tab-events");
    page.wait_until("its tab is in the link", || page.evaluate("location.hash.includes('tab=events')") == true);
    page.wait_until("files can be followed", || is_shown(&page, "#live-follow"));
    assert!(!is_shown(&page, "#live"), "a reload is offered too early");
    write_atomically(&path, &snapshot(4000));
    wait_for_offer(&page, "train.pickle changed");
    page.wait_until("the age of the change is shown", || page.text("#live-ago").ends_with(" s ago"));
    assert_eq!(event_count(&page), before, "the file was reloaded without a click");
    save_drawn_screenshot(&page, "live-changed");
    page.prefer_color_scheme("dark");
    save_drawn_screenshot(&page, "live-changed-dark");
    page.click("#live-reload");
    page.wait_until("the new snapshot is open", || page.state() == "ready" && event_count(&page) != before);
    page.wait_until("the offer is gone", || !is_shown(&page, "#live"));
    assert_eq!(page.attribute("#tab-events", "aria-selected").as_deref(), Some("true"));
    assert!(!is_shown(&page, "#link-notice"), "{}", page.text("#link-notice-text"));
    assert_eq!((page.errors(), page.evaluate("flashed.length")), (Vec::new(), 0.into()));
    drop(server);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn following_rank_opens_each_new_snapshot() {
    let folder = empty_folder("live-followed");
    write_atomically(&folder.join("rank00000_step000001.pickle"), &snapshot(2000));
    write_atomically(&folder.join("rank00001_step000001.pickle"), &snapshot(2000));
    let (server, page) = serve_folder(&folder);
    wait_for_event_count(&page);
    let is_first = page.text("#file-name").contains("rank00000")
        || page.evaluate("document.querySelector('select#snapshot').selectedIndex") == 0;
    assert!(is_first);
    let rank = page.evaluate("document.querySelector('select#snapshot').selectedOptions[0].textContent.slice(0, 9)");
    let rank = rank.as_str().expect("the option has a label").to_owned();
    page.click("#live-follow");
    page.wait_until("the page follows the rank", || {
        is_shown(&page, "#live") && page.text("#live-text").starts_with("Following ")
    });
    let before = event_count(&page);
    // Another program writes the file in two parts with a pause.
    let (path, bytes) = (folder.join(format!("{rank}_step000002.pickle")), snapshot(4000));
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("target/tmp can be written");
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(event_count(&page), before, "an incomplete file was opened");
    fs::write(&path, &bytes).expect("target/tmp can be written");
    page.wait_until("the new snapshot is open", || page.state() == "ready" && event_count(&page) != before);
    let second = event_count(&page);
    write_atomically(&folder.join(format!("{rank}_step000003.pickle")), &snapshot(6000));
    page.wait_until("the next snapshot is open", || page.state() == "ready" && event_count(&page) != second);
    // Files of the other rank are listed but not followed.
    let other = if rank == "rank00000" { "rank00001" } else { "rank00000" };
    let third = event_count(&page);
    write_atomically(&folder.join(format!("{other}_step000002.pickle")), &snapshot(8000));
    let listed = "document.querySelector('select#snapshot').options.length";
    page.wait_for(&5.into(), || page.evaluate(listed));
    assert_eq!(event_count(&page), third);
    let compared = "[...document.querySelectorAll('#live-compare option')].map(option => option.textContent).join()";
    let expected = format!("Compare with…,{rank}_step000002.pickle,{rank}_step000001.pickle");
    page.wait_for(&expected.into(), || page.evaluate(compared));
    save_drawn_screenshot(&page, "live-followed");
    page.evaluate(
        "{ const list = document.getElementById('live-compare'); list.selectedIndex = 1; \
         list.dispatchEvent(new Event('change', { bubbles: true })); }",
    );
    page.wait_until("both are compared", || {
        is_shown(&page, "#compare-swap") && page.bounding_box_now("#compare-swap").width > 0.0
    });
    page.press("'");
    page.wait_until("following has ended", || !is_shown(&page, "#live"));
    assert_eq!((page.errors(), page.evaluate("flashed.length")), (Vec::new(), 0.into()));
    drop(server);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn first_snapshot_of_followed_run_opens() {
    let folder = empty_folder("live-first");
    let (server, page) = serve_folder(&folder);
    page.wait_until("files can be followed", || is_shown(&page, "#live-follow"));
    page.press("'");
    page.wait_for(&"Waiting for a snapshot".to_owned(), || page.text("#live-text"));
    save_screenshot(&page, "live-waiting");
    write_atomically(&folder.join("a.pickle"), &snapshot(2000));
    page.wait_for_state("ready");
    drop(server);
}

/// A plain static host that sends `ETag` headers.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn changed_hosted_file_shows_reload_button() {
    let (first, second) = (snapshot(2000), snapshot(4000));
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let address = server::start(std::iter::once(0), move |path| match path {
        "run/train.pickle" => {
            let at = now.load(Ordering::SeqCst);
            let body = if at == 0 { first.clone() } else { second.clone() };
            Response {
                status: "200 OK",
                content_type: "application/octet-stream",
                headers: vec![["ETag: \"one\"", "ETag: \"two\""][at]],
                length: body.len() as u64,
                body: Box::new(std::io::Cursor::new(body)),
            }
        }
        path => Response::file(&crate::site::dist(), path),
    })
    .expect("a free port");
    let page = Page::open(Chromium::shared(Adapter::Missing), &format!("http://{address}/#url=run/train.pickle"));
    let before = wait_for_event_count(&page);
    page.wait_until("the file can be followed", || is_shown(&page, "#live-follow"));
    version.store(1, Ordering::SeqCst);
    wait_for_offer(&page, "train.pickle changed");
    page.press("!");
    page.wait_until("the new snapshot is open", || page.state() == "ready" && event_count(&page) != before);
    page.wait_until("the offer is gone", || !is_shown(&page, "#live"));
    assert_eq!(page.errors(), Vec::<String>::new());
    // Samples ship with the page, so they can't be followed.
    page.press("e");
    page.wait_until("the sample can't be followed", || page.state() == "ready" && !is_shown(&page, "#live-follow"));
}
