//! The page in one of the browsers: what a user sees of it and does to it. Everything is waited for, nothing for a time.

use crate::asking;
use crate::driver::{Driver, Kind, Order};
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

/// How long a state may take to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// What WebDriver calls an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// WebDriver's name of the control key.
pub(crate) const CTRL: char = '\u{e009}';

/// Fewer colours than this on the timeline, and the blocks are not drawn.
pub(crate) const LEAST_COLOURS: u64 = 4;

/// The attributes of `#summary`, and what `expected.json` calls them.
pub(crate) const SUMMARY: [(&str, &str); 5] = [
    ("data-peak-requested", "peak_requested"),
    ("data-peak-event", "peak_event"),
    ("data-peak-reserved", "peak_reserved"),
    ("data-events", "events"),
    ("data-allocations", "allocations"),
];

/// The one tab of a browser.
pub(crate) struct Page {
    driver: RefCell<Box<dyn Driver>>,
}

/// Runs a test in this browser, started when first asked for; a test that failed leaves none behind.
pub(crate) fn with(kind: Kind, test: fn(&Page)) {
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
    fn tell(&self, order: Order<'_>, body: Value) -> Result<Value, String> {
        self.driver.borrow_mut().tell(order, body)
    }

    /// Goes to `url`, in a document of its own.
    #[track_caller]
    pub(crate) fn open(&self, url: &str) {
        for url in ["about:blank", url] {
            self.tell(Order::Navigate, json!({ "url": url })).unwrap_or_else(|why| panic!("{url}: {why}"));
        }
    }

    /// Opens the hosted page, and waits until it has started.
    #[track_caller]
    pub(crate) fn open_empty(&self) {
        self.open(&Site::shared().page());
        self.wait_until_started();
    }

    /// Waits until the page has started: one that died says "empty" as well.
    #[track_caller]
    pub(crate) fn wait_until_started(&self) {
        self.wait_until("the page has started", || {
            assert_eq!(self.evaluate("document.querySelector('#dead').hidden"), true, "it died");
            !self.text("#snippet").is_empty()
        });
        self.wait_for(&"empty".to_owned(), || self.state());
    }

    /// Opens the hosted page with this file.
    #[track_caller]
    pub(crate) fn open_file(&self, file: &Path) {
        self.open_empty();
        self.choose(file);
        self.wait_until_ready();
    }

    /// Waits until a file is open and drawn.
    #[track_caller]
    pub(crate) fn wait_until_ready(&self) {
        self.wait_until("the file is open", || {
            let state = self.state();
            assert_ne!(state, "error", "the page says {:?}", self.text("#error"));
            state == "ready"
        });
        self.wait_until("it is drawn", || self.attribute("#timeline", "data-frames").is_some());
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let script = json!({ "script": format!("return ({expression})"), "args": [] });
        self.tell(Order::Execute, script).unwrap_or_else(|why| panic!("{expression}: {why}"))
    }

    /// Runs statements in the page, which see `value` as `arguments[0]`.
    #[track_caller]
    pub(crate) fn run(&self, statements: &str, value: &Value) {
        let script = json!({ "script": statements, "args": [value] });
        self.tell(Order::Execute, script).unwrap_or_else(|why| panic!("{statements}: {why}"));
    }

    /// An attribute of the one element that `selector` names; `None` where element or attribute is missing.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.evaluate(&asking::attribute(selector, name)).as_str().map(str::to_owned)
    }

    /// The text of the element as a reader sees it; empty where it is missing.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.evaluate(&asking::text(selector)).as_str().unwrap_or_default().to_owned()
    }

    /// `body[data-state]`.
    pub(crate) fn state(&self) -> String {
        self.attribute("body", "data-state").unwrap_or_default()
    }

    /// What `#summary` says now; empty where an attribute is missing.
    pub(crate) fn summary(&self) -> [String; 5] {
        SUMMARY.map(|(attribute, _)| self.attribute("#summary", attribute).unwrap_or_default())
    }

    /// Chooses a file in the page's file input, as the system's dialog would.
    #[track_caller]
    pub(crate) fn choose(&self, file: &Path) {
        let found = self.tell(Order::Find, json!({ "using": "css selector", "value": "#file" })).expect("an input");
        let element = found[ELEMENT].as_str().expect("an element");
        self.tell(Order::SendKeys(element), json!({ "text": file })).unwrap_or_else(|why| panic!("{why}"));
    }

    /// Clicks at this share (0..1) of an element's width and height, once it stands still and nothing lies over that.
    #[track_caller]
    pub(crate) fn click_at(&self, selector: &str, across: f64, down: f64) {
        if let Some(opener) = self.evaluate(&asking::opener(selector)).as_str() {
            self.click_at(opener, 0.5, 0.5);
            self.wait_until(&format!("{selector} is shown"), || self.evaluate(&asking::opener(selector)).is_null());
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
        self.act(&json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            { "type": "pointerMove", "x": point[0], "y": point[1], "duration": 0 },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerUp", "button": 0 },
        ] }));
    }

    /// Clicks in the middle of an element.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        self.click_at(selector, 0.5, 0.5);
    }

    /// Presses these keys, one after another, and releases them in the other order.
    #[track_caller]
    pub(crate) fn press(&self, keys: &[char]) {
        let event = |kind: &str, key: &char| json!({ "type": kind, "value": key });
        let mut actions: Vec<Value> = keys.iter().map(|key| event("keyDown", key)).collect();
        actions.extend(keys.iter().rev().map(|key| event("keyUp", key)));
        self.act(&json!({ "type": "key", "id": "keyboard", "actions": actions }));
    }

    #[track_caller]
    fn act(&self, source: &Value) {
        self.tell(Order::Act, json!({ "actions": [source] })).unwrap_or_else(|why| panic!("{source}: {why}"));
    }

    /// Gives an element the focus.
    #[track_caller]
    pub(crate) fn focus(&self, id: &str) {
        self.run("document.getElementById(arguments[0]).focus()", &id.into());
    }

    /// How many colours the part of the window has that an element covers. The page reads its own picture.
    #[track_caller]
    pub(crate) fn colours(&self, selector: &str) -> u64 {
        // The bar that WebKit shows beneath a page that saved a file may cover it.
        self.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", &selector.into());
        let picture = self.tell(Order::Screenshot, json!({})).unwrap_or_else(|why| panic!("{why}"));
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

    /// Waits until this file was saved whole, and says where it is.
    #[track_caller]
    pub(crate) fn wait_for_download(&self, name: &str, end: &[u8]) -> std::path::PathBuf {
        let path = self.driver.borrow().downloads().join(name);
        self.wait_until(&format!("{name} is saved"), || {
            std::fs::read(&path).is_ok_and(|bytes| bytes.trim_ascii_end().ends_with(end))
        });
        path
    }

    /// Removes a file that was saved before.
    pub(crate) fn forget_download(&self, name: &str) {
        let _ = std::fs::remove_file(self.driver.borrow().downloads().join(name));
    }

    /// Waits until `holds`.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            if Instant::now() >= deadline {
                self.keep("in-vain");
                panic!(
                    "waited in vain until {what}: target/screenshots/in-vain.png; it says {:?}",
                    self.text("#status")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Keeps what is seen as `target/screenshots/NAME.png`, for people to look at.
    fn keep(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
        std::fs::create_dir_all(&folder).expect("target can be written");
        let picture = self.tell(Order::Screenshot, json!({})).unwrap_or_default();
        let bytes = BASE64_STANDARD.decode(picture.as_str().unwrap_or_default()).unwrap_or_default();
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("target can be written");
    }

    /// Waits until `read` gives `wanted`, and shows what it gave last where it never does.
    #[track_caller]
    pub(crate) fn wait_for<T: PartialEq + Debug>(&self, wanted: &T, read: impl Fn() -> T) {
        let deadline = Instant::now() + PATIENCE;
        let mut found = read();
        while found != *wanted && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            found = read();
        }
        assert_eq!(found, *wanted, "the page says {:?}", self.text("#status"));
    }

    /// Waits until the open file is [`fixtures::halves`].
    #[track_caller]
    pub(crate) fn shows_halves(&self) {
        self.wait_until_ready();
        self.wait_for(&fixtures::halves_summary(), || self.summary());
    }
}
