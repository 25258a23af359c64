//! `memscape serve` in the browser: the printed address, the page, and the served snapshots.

use crate::chromium::{Adapter, Chromium};
use crate::generate::{Options, generate};
use crate::opening::{open_empty_page, summary_values};
use crate::page::Page;
use crate::served::Server;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::LazyLock;

/// Script that records when loading began and when the first frame was drawn, in ms since the navigation. A file chosen
/// in the input also begins a load.
const TIMING_SCRIPT: &str = "{ const seen = window.seen = {}; \
    addEventListener('change', event => { if (event.target.id === 'file') seen.begun = performance.now(); }, true); \
    new MutationObserver((changes, observer) => { const { state } = document.body?.dataset ?? {}; \
        if (state === 'loading') seen.begun ??= performance.now(); \
        if (state === 'ready' && changes.some(change => change.attributeName === 'data-frames')) { \
            seen.picture = performance.now(); observer.disconnect(); } }) \
    .observe(document, { subtree: true, attributes: true, attributeFilter: ['data-state', 'data-frames'] }); }";

fn single_file_page() -> PathBuf {
    let viewer = crate::site::dist().join("memscape.html");
    assert!(viewer.is_file(), "no page at {}: run ./run test or ./run build", viewer.display());
    viewer
}

/// Creates an empty folder of this name.
fn empty_folder(name: &str) -> PathBuf {
    let folder = crate::fixtures::folder().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

/// Generates a snapshot with these options of the generator.
fn generate_bytes(words: &str) -> Vec<u8> {
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    generate(&options, Vec::new()).expect("writing to a Vec succeeds").0
}

/// Opens the page at the address that the server prints.
fn open_served(server: &Server) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    // With WebGPU, which the content security policy of the served page must allow.
    page.run_before_load("history.replaceState(null, '', '?renderer=webgpu' + location.hash)");
    page.navigate_without_wait(&server.address());
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn served_file_shows_same_summary_as_dropped_file() {
    let path = crate::fixtures::write_file("served.pickle", &generate_bytes("--events 30000 --leak"));
    let dropped = open_empty_page();
    dropped.drop_files(&[&path]);
    dropped.wait_for_state("ready");
    let server = Server::start(&single_file_page(), &[path.to_str().expect("UTF-8")]);
    let page = open_served(&server);
    page.wait_for_state("ready");
    page.wait_for(&summary_values(&dropped), || summary_values(&page));
    assert_ne!(summary_values(&page)[3], "");
    page.wait_until("WebGPU draws", || page.attribute("#timeline", "data-renderer").as_deref() == Some("webgpu"));
    let asked = page.requests().into_iter().filter(|url| !url.starts_with("blob:") && !url.starts_with("data:"));
    let asked: Vec<String> = asked.collect();
    assert!(asked.iter().all(|url| url.starts_with(&server.address())), "requests to other servers: {asked:?}");
    assert_eq!(page.errors(), Vec::<String>::new());
    // DNS rebinding by another site, and requests without the secret path.
    for (path, host, status) in [
        (format!("{}/page", server.token), "evil.example", "403"),
        (format!("{}/0/served.pickle", server.token), "evil.example:80", "403"),
        ("0".repeat(32) + "/page", "localhost", "404"),
        ("page".to_owned(), "localhost", "404"),
    ] {
        let mut stream = server.connect();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("the server listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server responds");
        assert_eq!(answer.split(' ').nth(1), Some(status), "{path} of {host}: {answer}");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn served_folder_lists_files_with_special_characters() {
    let folder = empty_folder("served");
    let names = ["rank 0/100%.pickle", "rank 1/a#b?c&d.pickle", "it's \"q\" <b>.pickle", "ä+z.pickle"];
    for (place, name) in names.iter().enumerate() {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("target/tmp can be written");
        fs::write(path, generate_bytes(&format!("--events {}", 1000 * (place + 1))))
            .expect("target/tmp can be written");
    }
    let server = Server::start(&single_file_page(), &[folder.to_str().expect("UTF-8")]);
    let page = open_served(&server);
    page.wait_for_state("ready");
    let listed = "[...document.querySelectorAll('select#snapshot option')].map(option => option.textContent)";
    page.wait_until("all files are listed", || page.evaluate(listed).as_array().map(Vec::len) == Some(names.len()));
    let listed = page.evaluate(listed);
    let mut listed: Vec<&str> = listed.as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    listed.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    for (listed, expected) in listed.iter().zip(expected) {
        assert!(listed.contains(expected), "{listed} for {expected}");
    }
    // Each file is fetched when it is chosen.
    for place in 0..names.len() {
        let before = page.attribute("#summary", "data-events");
        page.evaluate(&format!(
            "{{ const list = document.querySelector('select#snapshot'); list.selectedIndex = {place}; \
             list.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
        ));
        if place > 0 {
            page.wait_until("the chosen file is open", || {
                page.state() == "ready" && page.attribute("#summary", "data-events") != before
            });
        }
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn server_scans_ranks_in_its_folder() {
    let folder = empty_folder("served-ranks");
    for rank in 0..4 {
        let more = if rank == 2 { " --leak" } else { "" };
        let bytes = generate_bytes(&format!("--events 3000{more}"));
        fs::write(folder.join(format!("rank{rank}.pickle")), bytes).expect("target/tmp can be written");
    }
    fs::write(folder.join("rank4.pickle"), b"\x80\x04broken").expect("target/tmp can be written");
    let server = Server::start(&single_file_page(), &[folder.to_str().expect("UTF-8")]);
    let page = open_served(&server);
    page.wait_until("the first file is loaded", || page.state() == "ready" || page.state() == "error");
    if page.state() == "error" {
        page.evaluate(
            "{ const list = document.querySelector('select#snapshot'); list.selectedIndex = 1; \
             list.dispatchEvent(new Event('change', { bubbles: true })); }",
        );
        page.wait_for_state("ready");
    }
    page.click("[data-topic='ranks']");
    page.wait_for(&"The server can survey these 5 files.".to_owned(), || page.text("#ranks-status"));
    assert_eq!(page.text("#ranks-toggle"), "Survey");
    page.click("#ranks-toggle");
    page.wait_for(&"5 files surveyed.".to_owned(), || page.text("#ranks-status"));
    page.wait_until("the ranks are listed", || page.text("#insights-statements").contains("1 file not readable (4)"));
    assert!(page.text("#insights-statements").contains("rank 2"), "{}", page.text("#insights-statements"));
    // The survey fetches no files.
    let requests = page.requests_without_head();
    let whole = requests.iter().filter(|url| url.contains("/rank") && !url.ends_with("?survey")).count();
    assert!(whole <= 2, "{requests:?}");
    // The browser logs the response for the unreadable file.
    let complaints = page.errors();
    assert!(complaints.iter().all(|it| it.contains("status of 422") && it.contains("/ran")), "{complaints:?}");
}

/// Prints times without limits, since the machine may be busy.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn time_to_first_frame_of_served_and_dropped_file_is_printed() {
    static FILE: LazyLock<PathBuf> = LazyLock::new(crate::large::large_file);
    let server = Server::start(&single_file_page(), &[FILE.to_str().expect("UTF-8")]);
    for run in 1..=2 {
        let [dropped, served] = [false, true].map(|is_served| {
            let page = Page::blank(Chromium::shared(Adapter::Missing));
            page.run_before_load(TIMING_SCRIPT);
            if is_served {
                page.navigate_without_wait(&server.address());
            } else {
                page.navigate(&crate::site::Site::shared().page());
                page.wait_for_state("empty");
                page.choose_files("input#file", &[&FILE]);
            }
            page.wait_for_state("ready");
            page.wait_until("the timeline is drawn", || page.evaluate("'picture' in seen") == true);
            let seen = page.evaluate("[seen.begun, seen.picture]");
            let at = |place: usize| seen[place].as_f64().expect("milliseconds") / 1000.0;
            [at(1) - at(0), at(1)]
        });
        let bytes = FILE.metadata().expect("just written").len();
        println!(
            "run {run}, {bytes} bytes: dropped {:.2} s to the picture; through serve on this machine {:.2} s ({:.2} times), {:.2} s \
             since the address was opened",
            dropped[0],
            served[0],
            served[0] / dropped[0],
            served[1]
        );
    }
}
