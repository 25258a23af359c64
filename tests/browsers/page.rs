//! The page in Firefox or WebKitGTK: reading its state, user input, and waiting for conditions.

use crate::driver::{Browser, Driver, WebDriverCommand};
use crate::expressions;
use crate::fixtures;
use crate::site::Site;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Timeout of a wait.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Key of an element's id in WebDriver messages.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Control key in WebDriver actions.
pub(crate) const CTRL: char = '\u{e009}';

/// Minimum number of colours on a timeline with drawn blocks.
pub(crate) const MIN_COLOURS: u64 = 4;

/// Attributes of `#summary`, with the corresponding keys in `expected.json`.
pub(crate) const SUMMARY_KEYS: [(&str, &str); 5] = [
    ("data-peak-requested", "peak_requested"),
    ("data-peak-event", "peak_event"),
    ("data-peak-reserved", "peak_reserved"),
    ("data-events", "events"),
    ("data-allocations", "allocations"),
];

/// The only tab of a browser.
pub(crate) struct Page {
    driver: RefCell<Box<dyn Driver>>,
}

/// Runs a test in this browser, which is started on the first call and after a failed test. Does nothing if it is not
/// installed.
pub(crate) fn run_in(kind: Browser, test: fn(&Page)) {
    static PAGES: [Mutex<Option<Page>>; 3] = [Mutex::new(None), Mutex::new(None), Mutex::new(None)];
    let place = &PAGES[kind as usize];
    let mut page = place.lock().unwrap_or_else(PoisonError::into_inner);
    if place.is_poisoned() {
        *page = None;
        place.clear_poison();
    }
    if page.is_none() {
        *page = kind.start().map(|driver| Page { driver: RefCell::new(driver) });
    }
    if let Some(page) = &*page {
        test(page);
    }
}

impl Page {
    fn execute(&self, order: WebDriverCommand<'_>, body: Value) -> Result<Value, String> {
        self.driver.borrow_mut().execute(order, body)
    }

    /// Opens `url` in a new document.
    #[track_caller]
    pub(crate) fn open(&self, url: &str) {
        for url in ["about:blank", url] {
            self.execute(WebDriverCommand::Navigate, json!({ "url": url }))
                .unwrap_or_else(|why| panic!("{url}: {why}"));
        }
    }

    /// Opens the hosted page and waits until it has started.
    #[track_caller]
    pub(crate) fn open_empty(&self) {
        self.open(&Site::shared().page());
        self.wait_until_started();
    }

    /// Waits until the program runs. The state alone does not show it: it is "empty" before, too.
    #[track_caller]
    pub(crate) fn wait_until_started(&self) {
        self.wait_until("the page has started", || {
            assert_eq!(self.evaluate("document.querySelector('#dead').hidden"), true, "the program failed to start");
            !self.text("#snippet").is_empty()
        });
        self.wait_for(&"empty".to_owned(), || self.state());
    }

    /// Opens the hosted page and a file in it.
    #[track_caller]
    pub(crate) fn open_file(&self, file: &Path) {
        self.open_empty();
        self.choose_file(file);
        self.wait_until_ready();
    }

    /// Waits until a file is open and drawn.
    #[track_caller]
    pub(crate) fn wait_until_ready(&self) {
        self.wait_until("the file is open", || {
            let state = self.state();
            assert_ne!(state, "error", "the page shows {:?}", self.text("#error"));
            state == "ready"
        });
        self.wait_until("the timeline is drawn", || self.attribute("#timeline", "data-frames").is_some());
    }

    /// Evaluates an expression in the page.
    #[track_caller]
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let script = json!({ "script": format!("return ({expression})"), "args": [] });
        let value = self.execute(WebDriverCommand::Execute, script);
        expressions::with_plain_spaces(value.unwrap_or_else(|why| panic!("{expression}: {why}")))
    }

    /// Runs statements in the page, with `value` as `arguments[0]`.
    #[track_caller]
    pub(crate) fn run(&self, statements: &str, value: &Value) {
        let script = json!({ "script": statements, "args": [value] });
        self.execute(WebDriverCommand::Execute, script).unwrap_or_else(|why| panic!("{statements}: {why}"));
    }

    /// Attribute of the element that `selector` matches; `None` if the element or the attribute is missing.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.evaluate(&expressions::attribute(selector, name)).as_str().map(str::to_owned)
    }

    /// Rendered text of an element; empty if there is no such element.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.evaluate(&expressions::text(selector)).as_str().unwrap_or_default().to_owned()
    }

    /// State of the page: `body[data-state]`.
    pub(crate) fn state(&self) -> String {
        self.attribute("body", "data-state").unwrap_or_default()
    }

    /// Current values of the [`SUMMARY`] attributes; empty if missing.
    pub(crate) fn summary(&self) -> [String; 5] {
        SUMMARY_KEYS.map(|(attribute, _)| self.attribute("#summary", attribute).unwrap_or_default())
    }

    /// Chooses a file in the page's file input, as the system's dialog would.
    #[track_caller]
    pub(crate) fn choose_file(&self, file: &Path) {
        let found = self
            .execute(WebDriverCommand::Find, json!({ "using": "css selector", "value": "#file" }))
            .expect("the file input exists");
        let element = found[ELEMENT].as_str().expect("the response has an element");
        self.execute(WebDriverCommand::SendKeys(element), json!({ "text": file }))
            .unwrap_or_else(|why| panic!("{why}"));
    }

    /// Clicks at these fractions (0..1) of an element's width and height, once it does not move and is not covered
    /// there.
    #[track_caller]
    pub(crate) fn click_at(&self, selector: &str, across: f64, down: f64) {
        if let Some(opener) = self.evaluate(&expressions::opener_of(selector)).as_str() {
            self.click_at(opener, 0.5, 0.5);
            self.wait_until(&format!("{selector} is shown"), || {
                self.evaluate(&expressions::opener_of(selector)).is_null()
            });
        }
        let point = RefCell::new(Value::Null);
        let place = format!(
            "(it => {{ if (!it) return null; it.scrollIntoView({{ block: 'nearest' }}); const box = it.getBoundingClientRect(); \
             const [x, y] = [Math.round(box.left + box.width * {across}), Math.round(box.top + box.height * {down})]; \
             const hit = document.elementFromPoint(x, y); \
             return hit && !it.disabled && (it.contains(hit) || hit.contains(it)) ? [x, y] : null; }})(document.querySelector({}))",
            Value::from(selector)
        );
        self.wait_until(&format!("{selector} can be clicked"), || {
            let now = self.evaluate(&place);
            let before = point.replace(now.clone());
            !now.is_null() && now == before
        });
        let point = point.into_inner();
        self.perform_actions(
            &json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            { "type": "pointerMove", "x": point[0], "y": point[1], "duration": 0 },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerUp", "button": 0 },
        ] }),
        );
    }

    /// Clicks the middle of an element.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        self.click_at(selector, 0.5, 0.5);
    }

    /// Presses these keys in order, and releases them in reverse order.
    #[track_caller]
    pub(crate) fn press(&self, keys: &[char]) {
        let event = |kind: &str, key: &char| json!({ "type": kind, "value": key });
        let mut actions: Vec<Value> = keys.iter().map(|key| event("keyDown", key)).collect();
        actions.extend(keys.iter().rev().map(|key| event("keyUp", key)));
        self.perform_actions(&json!({ "type": "key", "id": "keyboard", "actions": actions }));
    }

    #[track_caller]
    fn perform_actions(&self, source: &Value) {
        self.execute(WebDriverCommand::Act, json!({ "actions": [source] }))
            .unwrap_or_else(|why| panic!("{source}: {why}"));
    }

    /// Focuses the element with this id.
    #[track_caller]
    pub(crate) fn focus(&self, id: &str) {
        self.run("document.getElementById(arguments[0]).focus()", &id.into());
    }

    /// Number of distinct colours of an element on a screenshot, which the page itself decodes.
    #[track_caller]
    pub(crate) fn colour_count(&self, selector: &str) -> u64 {
        // WebKit shows a bar at the bottom after a download, which may cover the element.
        self.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", &selector.into());
        let picture = self.execute(WebDriverCommand::Screenshot, json!({})).unwrap_or_else(|why| panic!("{why}"));
        let count = format!(
            "window.seenColours = null; const image = new Image(); image.onload = () => {{ \
             const scale = image.naturalWidth / innerWidth; \
             const box = document.querySelector({}).getBoundingClientRect(); \
             const [width, height] = [Math.floor(box.width * scale), Math.floor(box.height * scale)]; \
             const canvas = document.createElement('canvas'); [canvas.width, canvas.height] = [width, height]; \
             const context = canvas.getContext('2d'); \
             context.drawImage(image, -Math.round(box.left * scale), -Math.round(box.top * scale)); \
             window.seenColours = new Set(new Uint32Array(context.getImageData(0, 0, width, height).data.buffer)).size; }}; \
             image.src = 'data:image/png;base64,' + arguments[0];",
            Value::from(selector)
        );
        self.run(&count, &picture);
        self.wait_until("the picture is read", || !self.evaluate("window.seenColours").is_null());
        self.evaluate("window.seenColours").as_u64().expect("a number")
    }

    /// Waits until a download ends with these bytes, and returns its path.
    #[track_caller]
    pub(crate) fn wait_for_download(&self, name: &str, end: &[u8]) -> std::path::PathBuf {
        let path = self.driver.borrow().downloads().join(name);
        self.wait_until(&format!("{name} is saved"), || {
            std::fs::read(&path).is_ok_and(|bytes| bytes.trim_ascii_end().ends_with(end))
        });
        path
    }

    /// Removes an earlier download of this name.
    pub(crate) fn remove_download(&self, name: &str) {
        let _ = std::fs::remove_file(self.driver.borrow().downloads().join(name));
    }

    /// Waits until `holds` returns true.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !holds() {
            if Instant::now() >= deadline {
                self.save_screenshot("timeout");
                panic!(
                    "timeout waiting until {what}: target/screenshots/timeout.png; the page shows {:?}",
                    self.text("#status")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Saves a screenshot as `target/screenshots/NAME.png`.
    fn save_screenshot(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
        std::fs::create_dir_all(&folder).expect("target can be written");
        let picture = self.execute(WebDriverCommand::Screenshot, json!({})).unwrap_or_default();
        let bytes = BASE64_STANDARD.decode(picture.as_str().unwrap_or_default()).unwrap_or_default();
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("target can be written");
    }

    /// Waits until `read` returns `wanted`. On a timeout the failure shows the last value.
    #[track_caller]
    pub(crate) fn wait_for<T: PartialEq + Debug>(&self, wanted: &T, read: impl Fn() -> T) {
        let deadline = Instant::now() + TIMEOUT;
        let mut found = read();
        while found != *wanted && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            found = read();
        }
        assert_eq!(found, *wanted, "the page shows {:?}", self.text("#status"));
    }

    /// Waits until [`fixtures::halves`] is open and its numbers are shown.
    #[track_caller]
    pub(crate) fn wait_for_halves(&self) {
        self.wait_until_ready();
        self.wait_for(&fixtures::halves_summary(), || self.summary());
    }
}
