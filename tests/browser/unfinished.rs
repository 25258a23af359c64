//! The picture of a file while it loads: it grows, can be panned, and gives way to the final one; an error leaves none of it.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{halves, halves_summary};
use crate::generate::{Options, generate};
use crate::opening::summary;
use crate::page::Page;
use crate::pictures::keep;
use server::Response;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex};

/// How many bytes of a file may be sent.
#[derive(Default)]
struct Gate {
    open: Mutex<usize>,
    opened: Condvar,
}

/// A file that comes as far as its gate is open.
struct Gated {
    bytes: Arc<Vec<u8>>,
    sent: usize,
    gate: Arc<Gate>,
}

impl Read for Gated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut open = self.gate.open.lock().expect("no writer panics");
        while *open <= self.sent && self.sent < self.bytes.len() {
            open = self.gate.opened.wait(open).expect("no writer panics");
        }
        let end = self.bytes.len().min(*open).min(self.sent + buffer.len());
        let part = &self.bytes[self.sent..end];
        buffer[..part.len()].copy_from_slice(part);
        self.sent = end;
        Ok(part.len())
    }
}

/// A file behind a link that brings as much of it as a test lets through.
struct Trickle {
    page: Page,
    gate: Arc<Gate>,
    length: usize,
}

impl Trickle {
    /// The page, opened with a link to such a file.
    fn new(bytes: Vec<u8>) -> Trickle {
        let (bytes, gate) = (Arc::new(bytes), Arc::new(Gate::default()));
        let (length, its) = (bytes.len(), gate.clone());
        let answer = move |path: &str| match path.split_once('/') {
            Some(("memscape", path)) => Response::file(&crate::site::dist(), path),
            _ if path == "train.pickle" => Response {
                status: "200 OK",
                content_type: "application/octet-stream",
                headers: Vec::new(),
                length: bytes.len() as u64,
                body: Box::new(Gated { bytes: bytes.clone(), sent: 0, gate: its.clone() }),
            },
            _ => Response::not_found(),
        };
        let address = server::start(std::iter::once(0), answer).expect("a free port");
        let link = format!("http://{address}/memscape/#url=../train.pickle");
        Trickle { page: Page::open(Chromium::with(Adapter::Software), &link), gate, length }
    }

    /// Lets through what is missing to this many thousandths of the file.
    fn let_through(&self, thousandths: usize) {
        let mut open = self.gate.open.lock().expect("no writer panics");
        *open = (*open).max(self.length * thousandths / 1000);
        self.gate.opened.notify_all();
    }

    /// Lets through more and more, from one to at most another many thousandths, until it holds.
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

    /// How many events the page says it has read.
    fn events(&self) -> u64 {
        let text = self.page.text("#progress-text");
        let events = text.split(" · ").find_map(|part| part.strip_suffix(" events"));
        events.and_then(|events| events.replace(',', "").parse().ok()).unwrap_or(0)
    }
}

fn generated(words: &str) -> Vec<u8> {
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    generate(&options, Vec::new()).expect("a Vec takes all").0
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_file_is_drawn_while_it_loads() {
    let trickle = Trickle::new(generated("--events 400000 --frames 20"));
    let page = &trickle.page;
    trickle.until("what is decoded is drawn", [50, 300], || trickle.is_drawn() && trickle.events() > 0);
    assert_eq!(page.state(), "loading");
    let before = trickle.events();
    trickle.until("more is", [300, 400], || trickle.events() > before);
    for (name, width, scheme) in
        [("", 1280, "light"), ("-dark", 1280, "dark"), ("-narrow-dark", 600, "dark"), ("-narrow", 600, "light")]
    {
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.corners("canvas#timeline");
        keep(page, &["unfinished", name].concat());
    }
    page.resize(1280, 800);
    for part in ["Peak so far", "Live", "Allocations"] {
        assert!(page.text("#headlines").contains(part), "{part}");
    }
    assert_eq!(summary(page), [const { String::new() }; 5], "no number is the file's yet");

    // Zoomed in, and moved: drawn anew by the page itself, as nothing more comes.
    let drawn = page.still("the picture", || trickle.frames());
    page.press(".");
    page.press(".");
    page.wait_until("the window is another", || trickle.frames() > drawn);
    let zoomed = page.still("the picture", || trickle.frames());
    page.press("ArrowRight");
    page.wait_until("the window has moved", || trickle.frames() > zoomed);
    keep(page, "unfinished-zoomed");

    let place = |selector| {
        let corners = page.corners(selector);
        [corners.left, corners.top, corners.width]
    };
    let before = place("canvas#timeline");
    trickle.let_through(1000);
    page.wait_for_state("ready");
    page.wait_until("the file is summed up", || summary(page)[3].parse::<u64>().is_ok_and(|events| events > 0));
    assert_eq!(page.attribute("body", "data-unfinished"), None);
    assert_eq!(place("canvas#timeline"), before, "the picture has not moved");
    page.wait_until("the window is the one before", || {
        let hash = page.evaluate("location.hash");
        hash.as_str().is_some_and(|hash| hash.contains("x="))
    });
    keep(page, "unfinished-finished");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn an_error_half_way_leaves_no_picture() {
    let mut bytes = generated("--events 200000 --frames 20");
    let from = bytes.len() * 8 / 10;
    bytes[from..].fill(0xff);
    let trickle = Trickle::new(bytes);
    let page = &trickle.page;
    trickle.until("what is decoded is drawn", [50, 700], || trickle.is_drawn());
    trickle.let_through(1000);
    page.wait_for_state("error");
    assert!(page.text("#error").contains("train.pickle"), "{}", page.text("#error"));
    assert_eq!(page.attribute("body", "data-unfinished"), None);
    assert_eq!(page.evaluate("document.querySelector('#workspace').hidden"), true);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn what_is_drawn_goes_when_it_is_cancelled() {
    let trickle = Trickle::new(generated("--events 200000 --frames 20"));
    let page = &trickle.page;
    trickle.until("what is decoded is drawn", [50, 700], || trickle.is_drawn());
    page.click("#cancel");
    page.wait_for_state("empty");
    assert_eq!(page.attribute("body", "data-unfinished"), None);
    assert_eq!(page.evaluate("document.querySelector('#workspace').hidden"), true);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_small_file_is_not_drawn_before_it_is_open() {
    let page = crate::opening::empty_page();
    page.evaluate(
        "window.seen = []; new MutationObserver(() => window.seen.push(document.body.dataset.unfinished ?? 'none')) \
         .observe(document.body, { attributes: true, attributeFilter: ['data-unfinished'] }); 0",
    );
    page.drop_files(&[&halves()]);
    page.wait_for(&halves_summary(), || summary(&page));
    assert_eq!(page.evaluate("window.seen"), serde_json::json!([]));
}
