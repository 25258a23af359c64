//! Partial picture of a file that is still loading: it grows, can be panned, is replaced by the final one, and
//! disappears on errors.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{halves, halves_summary};
use crate::generate::{Options, generate};
use crate::opening::summary_values;
use crate::page::Page;
use crate::screenshots::save_screenshot;
use memscape::engine::{Engine, Request};
use memscape::protocol::Access;
use server::Response;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex};

/// Number of bytes of a file that may be sent so far.
#[derive(Default)]
struct Gate {
    open: Mutex<usize>,
    opened: Condvar,
}

/// Reader that blocks after as many bytes as its gate allows.
struct GatedReader {
    bytes: Arc<Vec<u8>>,
    sent: usize,
    gate: Arc<Gate>,
}

impl Read for GatedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut open = self.gate.open.lock().expect("the mutex is not poisoned");
        while *open <= self.sent && self.sent < self.bytes.len() {
            open = self.gate.opened.wait(open).expect("the mutex is not poisoned");
        }
        let end = self.bytes.len().min(*open).min(self.sent + buffer.len());
        let part = &self.bytes[self.sent..end];
        buffer[..part.len()].copy_from_slice(part);
        self.sent = end;
        Ok(part.len())
    }
}

/// Page that loads a linked file. The server sends only as much of the file as the test allows.
struct SlowLoad {
    page: Page,
    gate: Arc<Gate>,
    length: usize,
}

impl SlowLoad {
    /// Opens the page with a link to a file with these bytes.
    fn new(bytes: Vec<u8>) -> SlowLoad {
        let (bytes, gate) = (Arc::new(bytes), Arc::new(Gate::default()));
        let (length, its) = (bytes.len(), gate.clone());
        let answer = move |path: &str| match path.split_once('/') {
            Some(("memscape", path)) => Response::file(&crate::site::dist(), path),
            _ if path == "train.pickle" => Response {
                status: "200 OK",
                content_type: "application/octet-stream",
                headers: Vec::new(),
                length: bytes.len() as u64,
                body: Box::new(GatedReader { bytes: bytes.clone(), sent: 0, gate: its.clone() }),
            },
            _ => Response::not_found(),
        };
        let address = server::start(std::iter::once(0), answer).expect("a free port");
        let link = format!("http://{address}/memscape/#url=../train.pickle");
        SlowLoad { page: Page::open(Chromium::shared(Adapter::Missing), &link), gate, length }
    }

    /// Allows the server to send this many thousandths of the file.
    fn let_through(&self, thousandths: usize) {
        let mut open = self.gate.open.lock().expect("the mutex is not poisoned");
        *open = (*open).max(self.length * thousandths / 1000);
        self.gate.opened.notify_all();
    }

    /// Sends more of the file, from the first to at most the second number of thousandths, until `holds` returns true.
    #[track_caller]
    fn until(&self, what: &str, thousandths: [usize; 2], holds: impl Fn() -> bool) {
        let next = std::cell::Cell::new(thousandths[0]);
        self.page.wait_until(what, || {
            self.let_through(next.get());
            next.set(thousandths[1].min(next.get() + 2));
            holds()
        });
    }

    fn is_drawn(&self) -> bool {
        self.page.attribute("body", "data-unfinished").is_some() && self.frames() > 0
    }

    fn frames(&self) -> u64 {
        let frames = self.page.attribute("canvas#timeline", "data-frames");
        frames.and_then(|frames| frames.parse().ok()).unwrap_or(0)
    }

    /// Number of events that the page's progress text shows.
    fn events(&self) -> u64 {
        let text = self.page.text("#progress-text");
        let events = text.split(" · ").find_map(|part| part.strip_suffix(" events"));
        events.and_then(|events| events.replace(',', "").parse().ok()).unwrap_or(0)
    }
}

fn generate_bytes(words: &str) -> Vec<u8> {
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    generate(&options, Vec::new()).expect("writing to a Vec succeeds").0
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn loading_file_is_drawn_and_navigable() {
    let trickle = SlowLoad::new(generate_bytes("--events 400000 --frames 20"));
    let page = &trickle.page;
    trickle.until("decoded events are drawn", [50, 300], || trickle.is_drawn() && trickle.events() > 0);
    assert_eq!(page.state(), "loading");
    let before = trickle.events();
    trickle.until("more events are decoded", [300, 400], || trickle.events() > before);
    for (name, width, scheme) in
        [("", 1280, "light"), ("-dark", 1280, "dark"), ("-narrow-dark", 600, "dark"), ("-narrow", 600, "light")]
    {
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.bounding_box("canvas#timeline");
        save_screenshot(page, &["unfinished", name].concat());
    }
    page.resize(1280, 800);
    for part in ["Peak so far", "Live", "Allocations"] {
        assert!(page.text("#headlines").contains(part), "{part}");
    }
    assert_eq!(summary_values(page), [const { String::new() }; 5], "no number is final yet");

    // Zooming and panning redraw the picture although no more bytes arrive.
    let drawn = page.wait_until_stable("the picture", || trickle.frames());
    page.press(".");
    page.press(".");
    page.wait_until("the window has changed", || trickle.frames() > drawn);
    let zoomed = page.wait_until_stable("the picture", || trickle.frames());
    page.press("ArrowRight");
    page.wait_until("the window has moved", || trickle.frames() > zoomed);
    save_screenshot(page, "unfinished-zoomed");

    let place = |selector| {
        let corners = page.bounding_box(selector);
        [corners.left, corners.top, corners.width]
    };
    let before = place("canvas#timeline");
    trickle.let_through(1000);
    page.wait_for_state("ready");
    page.wait_until("the summary is shown", || summary_values(page)[3].parse::<u64>().is_ok_and(|events| events > 0));
    assert_eq!(page.attribute("body", "data-unfinished"), None);
    assert_eq!(place("canvas#timeline"), before, "the picture has not moved");
    page.wait_until("the window is still the zoomed one", || {
        let hash = page.evaluate("location.hash");
        hash.as_str().is_some_and(|hash| hash.contains("x="))
    });
    save_screenshot(page, "unfinished-finished");
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Partial results are limited in frequency, but nothing that was decoded is held back while no bytes arrive.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn stalled_download_shows_all_decoded_events() {
    let bytes = generate_bytes("--events 400000 --frames 20");
    let sent = bytes.len() * 400 / 1000;
    let mut engine = Engine::new();
    let access = Access::Sequential;
    engine.request(Request::Open { name: String::new(), total_bytes: Some(bytes.len() as u64), access, member: None });
    engine.feed(bytes[..sent].to_vec());
    while engine.wants().is_none() {
        engine.step(&mut || true);
    }
    let expected = engine.partial().expect("events are decoded").devices[0].events;
    let trickle = SlowLoad::new(bytes);
    trickle.let_through(400);
    trickle.page.wait_for(&expected, || trickle.events());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn error_while_loading_removes_picture() {
    let mut bytes = generate_bytes("--events 200000 --frames 20");
    let from = bytes.len() * 8 / 10;
    bytes[from..].fill(0xff);
    let trickle = SlowLoad::new(bytes);
    let page = &trickle.page;
    trickle.until("decoded events are drawn", [50, 700], || trickle.is_drawn());
    trickle.let_through(1000);
    page.wait_for_state("error");
    assert!(page.text("#error").contains("train.pickle"), "{}", page.text("#error"));
    assert_eq!(page.attribute("body", "data-unfinished"), None);
    assert_eq!(page.evaluate("document.querySelector('#workspace').hidden"), true);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cancelled_loading_removes_picture() {
    let trickle = SlowLoad::new(generate_bytes("--events 200000 --frames 20"));
    let page = &trickle.page;
    trickle.until("decoded events are drawn", [50, 700], || trickle.is_drawn());
    page.click("#cancel");
    page.wait_for_state("empty");
    assert_eq!(page.attribute("body", "data-unfinished"), None);
    assert_eq!(page.evaluate("document.querySelector('#workspace').hidden"), true);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn small_file_has_no_partial_picture() {
    let page = crate::opening::open_empty_page();
    page.evaluate(
        "window.seen = []; new MutationObserver(() => window.seen.push(document.body.dataset.unfinished ?? 'none')) \
         .observe(document.body, { attributes: true, attributeFilter: ['data-unfinished'] }); 0",
    );
    page.drop_files(&[&halves()]);
    page.wait_for(&halves_summary(), || summary_values(&page));
    assert_eq!(page.evaluate("window.seen"), serde_json::json!([]));
}
