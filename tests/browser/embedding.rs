//! Snapshots that a page of another origin sends with `postMessage`, to a frame and to a window. The sender runs the
//! script of `www/docs/embedding.md`.

use crate::chromium::{Adapter, Chromium};
use crate::comparing::two_runs;
use crate::fixtures::{halves, halves_summary};
use crate::generate::{Options, generate};
use crate::opening::{SUMMARY_KEYS, open_empty_page, summary_values, wait_for_halves};
use crate::page::Page;
use crate::site::Site;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the JavaScript of the manual with the address of the tested page: the functions `send` and `openRun`.
fn manual_script() -> String {
    let manual = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("www/docs/embedding.md"));
    let manual = manual.expect("the manual");
    let script = manual.split("```js\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    script.replace("https://example.org/memscape/", &Site::shared().page())
}

/// Script that loads the page in a frame, records its events in `received`, and defines `give`, which sends a message,
/// and `bytes`, which fetches a fixture.
fn frame_script(query: &str) -> String {
    let script = manual_script();
    format!(
        "{script}
        var received = [], latest = 0, frame = document.createElement('iframe');
        frame.src = viewer + '{query}';
        frame.style = 'width: 1200px; height: 700px';
        document.body.append(frame);
        // Each call of `send` listens, so only the latest one records.
        var give = message => {{
            const number = ++latest;
            send(frame.contentWindow, message, event => number === latest && received.push(event));
        }};
        var post = message => frame.contentWindow.postMessage(message, new URL(viewer).origin);
        var bytes = async name => (await fetch('/snapshots/' + name)).arrayBuffer();
        null"
    )
}

/// Opens a page of another origin with memscape in a frame.
fn open_host(query: &str) -> Page {
    halves();
    let host = Page::open(Chromium::shared(Adapter::Missing), &format!("{}/no/such/file", Site::shared().other_origin));
    host.evaluate(&frame_script(query));
    host
}

/// Sends `fields` of a message with the bytes of `halves`.
fn give_halves(host: &Page, fields: &str) {
    host.evaluate(&format!("bytes('halves.pickle').then(buffer => give({{ buffer, {fields} }}))"));
}

fn text_in_frame(host: &Page, selector: &str) -> String {
    let text = host.evaluate_in_frame(&format!("document.querySelector('{selector}').textContent"));
    text.as_str().unwrap_or_default().replace('\u{a0}', " ")
}

fn state_in_frame(host: &Page) -> String {
    host.evaluate_in_frame("document.body.dataset.state").as_str().unwrap_or_default().to_owned()
}

fn is_asked(host: &Page) -> bool {
    host.evaluate_in_frame("document.querySelector('#sender').open") == true
}

#[track_caller]
fn answer(host: &Page, answer: &str) {
    host.wait_until("the question is shown", || is_asked(host));
    host.evaluate_in_frame(&format!("document.querySelector('#sender [value={answer}]').click()"));
}

/// Texts of all received events of this kind, in order.
fn events_at_host(host: &Page, event: &str) -> Vec<String> {
    let texts = format!("received.filter(it => it.event === '{event}').map(it => it.message ?? it.view)");
    let texts = host.evaluate(&texts);
    texts.as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn wait_for_ready(host: &Page, count: usize) {
    host.wait_until("the page reports that it is ready", || events_at_host(host, "ready").len() == count);
}

fn summary_in_frame(host: &Page) -> [String; 5] {
    SUMMARY_KEYS.map(|(attribute, _)| {
        let value = host.evaluate_in_frame(&format!("document.querySelector('#summary').getAttribute('{attribute}')"));
        value.as_str().unwrap_or_default().to_owned()
    })
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_of_unknown_origin_opens_after_question() {
    let host = open_host("?embed");
    give_halves(&host, "title: 'run <b>7', fileName: 'halves.pickle'");
    host.wait_until("the question is shown", || is_asked(&host));
    let origin = &Site::shared().other_origin;
    let size = std::fs::metadata(halves()).expect("just written").len();
    let size = memscape::units::Bytes(size);
    assert_eq!(text_in_frame(&host, "#sender-text"), format!("{origin} sends “run <b>7” (1 file, {size})."));
    assert_eq!(state_in_frame(&host), "empty");
    answer(&host, "open");
    wait_for_ready(&host, 1);
    host.wait_for(&halves_summary(), || summary_in_frame(&host));
    assert_eq!(text_in_frame(&host, "#file-name"), "halves.pickle");
    assert_eq!(host.evaluate_in_frame("localStorage['memscape.trusted'] ?? null"), Value::Null);
    // The next file is asked about again.
    give_halves(&host, "title: 'run 8'");
    host.wait_until("the question is shown", || is_asked(&host));
    assert_eq!(events_at_host(&host, "error"), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn trusted_origin_is_asked_about_once() {
    let host = open_host("?embed");
    give_halves(&host, "title: 'run 7'");
    answer(&host, "trust");
    wait_for_ready(&host, 1);
    let origin = &Site::shared().other_origin;
    assert_eq!(host.evaluate_in_frame("localStorage['memscape.trusted']"), origin.as_str());
    host.evaluate("frame.src = viewer + '?embed&again'");
    host.wait_until("the page is loaded again", || {
        host.evaluate_in_frame("location.search") == "?embed&again" && state_in_frame(&host) == "empty"
    });
    give_halves(&host, "title: 'run 7'");
    wait_for_ready(&host, 2);
    assert!(!is_asked(&host));
    // The settings list the origin, and forget it.
    let click = |id: &str| host.evaluate_in_frame(&format!("document.getElementById('{id}').click()"));
    click("settings-open");
    host.wait_for(origin, || text_in_frame(&host, "#trusted-note"));
    click("trusted-clear");
    let none = "No page may open snapshots here without a question.".to_owned();
    host.wait_for(&none, || text_in_frame(&host, "#trusted-note"));
    click("settings-close");
    give_halves(&host, "title: 'run 7'");
    host.wait_until("the question is shown", || is_asked(&host));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn rejected_file_is_not_opened() {
    let host = open_host("");
    give_halves(&host, "title: 'run 7'");
    answer(&host, "reject");
    let rejected = "The user did not allow this page to open a snapshot.";
    host.wait_for(&vec![rejected.to_owned()], || events_at_host(&host, "error"));
    give_halves(&host, "title: 'run 8'");
    host.wait_until("the question is shown", || is_asked(&host));
    // While the question is open, other messages are rejected.
    give_halves(&host, "title: 'run 9'");
    host.wait_until("the second message is rejected", || events_at_host(&host, "error").len() == 2);
    assert_eq!(events_at_host(&host, "error")[1], "The user is being asked about another message.");
    assert!(text_in_frame(&host, "#sender-text").contains("run 8"));
    assert_eq!((state_in_frame(&host).as_str(), events_at_host(&host, "ready").len()), ("empty", 0));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn two_buffers_are_compared() {
    two_runs();
    let host = open_host("?embed");
    host.evaluate(
        "Promise.all(['compared-a.pickle', 'compared-b.pickle'].map(bytes)).then(([a, b]) => give({ title: 'two runs', \
         buffers: [{ buffer: a, fileName: 'a.pickle' }, { buffer: new Uint8Array(b), fileName: 'b.pickle' }] }))",
    );
    host.wait_until("the question is shown", || text_in_frame(&host, "#sender-text").contains("(2 files, "));
    answer(&host, "open");
    wait_for_ready(&host, 1);
    host.wait_until("both files are compared", || {
        host.evaluate_in_frame("document.querySelector('#compare').hidden === false") == true
    });
    assert_eq!(text_in_frame(&host, "#file-name"), "a.pickle");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn view_is_reported_and_restored() {
    let host = open_host("?embed&tab=segments");
    let tab = || host.evaluate_in_frame("document.querySelector('#tabs [aria-selected=true]').id");
    give_halves(&host, "title: 'run 7'");
    answer(&host, "trust");
    wait_for_ready(&host, 1);
    host.wait_for(&json!("tab-segments"), tab);
    host.evaluate_in_frame("document.getElementById('tab-events').click()");
    host.wait_until("the view is reported", || {
        events_at_host(&host, "view").last().is_some_and(|view| view.contains("tab=events"))
    });
    let view = events_at_host(&host, "view").pop().expect("a view");
    // The view names neither the file nor its fingerprint.
    assert!(!view.contains("name=") && !view.contains("print="), "{view}");
    assert_eq!(host.evaluate_in_frame("location.hash"), "");
    host.evaluate("frame.src = viewer + '?embed&again'");
    host.wait_until("the page is loaded again", || host.evaluate_in_frame("location.search") == "?embed&again");
    give_halves(&host, &format!("title: 'run 7', view: {}", Value::from(view)));
    wait_for_ready(&host, 2);
    host.wait_for(&json!("tab-events"), tab);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn embedded_page_has_no_header_and_no_start_page() {
    let host = open_host("?embed");
    let is_visible =
        |selector: &str| host.evaluate_in_frame(&format!("document.querySelector('{selector}').checkVisibility()"));
    host.wait_until("the page has started", || !text_in_frame(&host, "#snippet").is_empty());
    assert_eq!((is_visible("#bar"), is_visible("#welcome")), (json!(false), json!(false)));
    give_halves(&host, "title: 'run 7'");
    answer(&host, "open");
    wait_for_ready(&host, 1);
    host.wait_for(&json!(true), || is_visible("#workspace"));
    assert_eq!(is_visible("#bar"), false);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_that_cannot_be_opened_is_reported() {
    let host = open_host("?embed");
    host.evaluate(
        "give({ buffer: new TextEncoder().encode('no snapshot'), title: 'broken', fileName: 'broken.pickle' })",
    );
    answer(&host, "open");
    host.wait_until("the error is reported", || events_at_host(&host, "error").len() == 1);
    // The message is sent before the next frame shows it.
    host.wait_for(&events_at_host(&host, "error")[0], || text_in_frame(&host, "#error"));
    give_halves(&host, "title: 'run 7'");
    answer(&host, "open");
    wait_for_ready(&host, 1);
    // The open file stays open, and the reason is reported.
    host.evaluate(
        "give({ buffer: new TextEncoder().encode('no snapshot'), title: 'broken', fileName: 'broken.pickle' })",
    );
    answer(&host, "open");
    host.wait_until("the error is reported", || events_at_host(&host, "error").len() == 2);
    assert!(
        events_at_host(&host, "error")[1].starts_with("Could not open broken.pickle: "),
        "{:?}",
        events_at_host(&host, "error")
    );
    host.wait_for(&halves_summary(), || summary_in_frame(&host));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn window_opened_by_another_page_receives_its_file() {
    halves();
    let host = Page::open(Chromium::shared(Adapter::Missing), &format!("{}/no/such/file", Site::shared().other_origin));
    let script = manual_script().replace("runs/${name}", "/snapshots/${name}");
    host.evaluate(&format!(
        "{script}
        var received = [], button = document.createElement('button');
        button.textContent = 'open';
        button.onclick = () => openRun('halves', event => received.push(event));
        document.body.append(button);
        null"
    ));
    host.click("button");
    let page = host.opened_window();
    page.wait_until("the question is shown", || page.evaluate("document.querySelector('#sender')?.open") == true);
    page.click("#sender [value=open]");
    wait_for_halves(&page);
    wait_for_ready(&host, 1);
    assert_eq!(page.text("#file-name"), "halves.pickle");
    // A file that the user opens is not reported.
    page.choose_files("input#file", &[&two_runs()[0]]);
    page.wait_for(&"compared-a.pickle".to_owned(), || page.text("#file-name"));
    page.wait_for_state("ready");
    page.wait_until("the address holds the view", || {
        page.evaluate("location.hash").as_str().is_some_and(|hash| hash.contains("name=compared-a.pickle"))
    });
    assert_eq!(events_at_host(&host, "ready").len(), 1);
    assert!(
        events_at_host(&host, "view").iter().all(|view| !view.contains("compared")),
        "{:?}",
        events_at_host(&host, "view")
    );
}

/// Messages that are rejected, and the sentences that are sent back. Without a sentence, the message is ignored.
const HOSTILE: [(&str, &str); 16] = [
    ("{ memscape: {} }", "The message has neither a buffer nor an array of buffers."),
    ("{ memscape: [] }", "The message has neither a buffer nor an array of buffers."),
    ("{ memscape: { buffers: { length: 2 } } }", "The message has neither a buffer nor an array of buffers."),
    ("{ memscape: { buffers: [] } }", "The message has no buffer, or too many."),
    ("{ memscape: { buffers: new Array(2 ** 32 - 1) } }", "The message has no buffer, or too many."),
    ("{ memscape: { buffers: [[], {}, null] } }", "A buffer must be an ArrayBuffer, a Uint8Array or a Blob."),
    ("{ memscape: { buffers: new Array(3) } }", "A buffer must be an ArrayBuffer, a Uint8Array or a Blob."),
    ("{ memscape: { buffer: 'text' } }", "A buffer must be an ArrayBuffer, a Uint8Array or a Blob."),
    ("{ memscape: { buffer: null } }", "A buffer must be an ArrayBuffer, a Uint8Array or a Blob."),
    ("{ memscape: { buffer: new Float64Array(9) } }", "A buffer must be an ArrayBuffer, a Uint8Array or a Blob."),
    ("{ memscape: { buffer: new ArrayBuffer(0) } }", "A buffer is empty. Was it transferred before?"),
    (
        "{ memscape: { buffer: new ArrayBuffer(9), url: 'javascript:alert(1)' } }",
        "The url must start with https:// or http://.",
    ),
    ("{ memscape: { event: 'ready' } }", ""),
    ("{ memscape: 5 }", ""),
    ("null", ""),
    ("'PING '.repeat(2 ** 24)", ""),
];

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn hostile_messages_are_rejected_with_a_sentence() {
    let host = open_host("?embed");
    // The browser does not send a detached buffer.
    host.evaluate("var detached = new ArrayBuffer(8); structuredClone(detached, { transfer: [detached] }); null");
    let refused = host.evaluate(
        "{ let why; try { post({ memscape: { buffer: detached } }) } catch (error) { why = error.name } why }",
    );
    assert_eq!(refused, "DataCloneError");
    // The first message waits for the page.
    host.evaluate("give({ buffers: [] })");
    host.wait_until("the page answers", || events_at_host(&host, "error").len() == 1);
    let mut expected = events_at_host(&host, "error");
    for (message, sentence) in HOSTILE {
        host.evaluate(&format!("post({message})"));
        expected.extend((!sentence.is_empty()).then(|| sentence.to_owned()));
        host.evaluate("post({ memscape: { buffers: [] } })");
        expected.push("The message has no buffer, or too many.".to_owned());
        host.wait_until(&format!("{message} is handled"), || events_at_host(&host, "error").len() >= expected.len());
        assert_eq!(events_at_host(&host, "error"), expected, "{message}");
    }
    // Many messages, and long texts.
    host.evaluate("for (let number = 0; number < 2000; number++) post({ memscape: { buffers: [number] } })");
    host.wait_until("all are answered", || events_at_host(&host, "error").len() == expected.len() + 2000);
    host.evaluate(
        "bytes('halves.pickle').then(buffer => post({ memscape: { buffer, title: 't'.repeat(60000), \
         fileName: '/'.repeat(2 ** 24), view: 'x='.repeat(2 ** 24), url: 7 } }))",
    );
    host.wait_until("the question is shown", || is_asked(&host));
    let question = text_in_frame(&host, "#sender-text");
    assert_eq!(question.matches('t').count(), "http".matches('t').count() + 200, "{question}");
    answer(&host, "open");
    wait_for_ready(&host, 1);
    host.wait_for(&halves_summary(), || summary_in_frame(&host));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn sandboxed_frame_is_asked_about_and_not_remembered() {
    halves();
    let page = open_empty_page();
    // The sender has the origin `null`, and this page is the window around it.
    page.evaluate(
        "fetch('/snapshots/halves.pickle').then(it => it.arrayBuffer()).then(buffer => dispatchEvent(new MessageEvent( \
         'message', { data: { memscape: { buffer, title: 'run 7' } }, origin: 'null', source: window })))",
    );
    page.wait_until("the question is shown", || page.evaluate("document.querySelector('#sender').open") == true);
    assert!(page.text("#sender-text").starts_with("A page without an address of its own sends “run 7” ("));
    assert!(!page.is_shown("#sender-trust"));
    page.press("Escape");
    page.wait_until("the question is closed", || page.evaluate("document.querySelector('#sender').open") == false);
    assert_eq!(page.state(), "empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
}

/// Script that records the delays of all timers in `delays`.
const RECORD_TIMERS: &str = "{ window.delays = []; const set = window.setTimeout; \
    window.setTimeout = (then, delay, ...rest) => { delays.push(delay); return set(then, delay, ...rest); }; }";
/// Delay of the timer that writes an open file to the cache, in milliseconds.
const CACHE_DELAY: &str = "delays.includes(1000)";
/// Everything that the page has stored: keys, databases and files.
const STORED: &str = "(async () => ({ keys: Object.keys(localStorage).filter(key => localStorage[key] !== ''), \
    databases: (await indexedDB.databases()).map(it => it.name), \
    files: await Array.fromAsync((await navigator.storage.getDirectory()).keys()), address: location.hash }))()";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn nothing_of_a_sent_file_is_stored() {
    let (options, _) =
        Options::parse("--events 80000 --frames 60 --seed 5".split(' ').map(str::to_owned)).expect("options");
    let bytes = generate(&options, Vec::new()).expect("writing to a Vec succeeds").0;
    assert!(bytes.len() > 8 << 20, "large enough for the cache: {}", bytes.len());
    let path = crate::fixtures::write_file("sent.pickle", &bytes);
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(RECORD_TIMERS);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    let before = page.evaluate(STORED);
    // A page of the same origin, here the page itself, needs no question.
    page.evaluate(
        "{ window.received = []; addEventListener('message', event => received.push(event.data.memscape)); \
         fetch('/snapshots/sent.pickle').then(it => it.arrayBuffer()) \
         .then(buffer => postMessage({ memscape: { buffer, fileName: 'sent.pickle' } }, origin)); }",
    );
    page.wait_for_state("ready");
    page.wait_until("the view is reported", || page.evaluate("received.some(it => it.event === 'view')") == true);
    page.wait_until_idle();
    assert_eq!(page.evaluate(CACHE_DELAY), false, "the sent file would be cached");
    assert_eq!(page.evaluate(STORED), before);
    // The same file, opened by the user, is cached.
    let sent = summary_values(&page);
    page.choose_files("input#file", &[&path]);
    page.wait_for_state("ready");
    page.wait_until("the file is cached", || page.evaluate("localStorage['memscape.kept'] ?? ''") != "");
    assert_eq!(page.evaluate(CACHE_DELAY), true);
    assert_eq!(summary_values(&page), sent);
}
