//! A page in Chromium: reading its state, and waiting. Mouse, keyboard and files are in `hands`.
//!
//! A page shows the effect of an input in its next frame, and answers of its worker a few frames later. Tests therefore
//! never read a value right after an input: they wait for it. `MEMSCAPE_SLOW=4` makes pages that many times slower,
//! which finds tests that do not wait. The few tests that measure time fail with it.

#[path = "frames.rs"]
mod frames;
#[path = "hands.rs"]
mod hands;

use crate::chromium::{Chromium, Event};
use crate::expressions;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Timeout of a wait. It is long because WebGPU in software shares the machine.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Errors of a command whose document was replaced by a navigation before it answered.
const NAVIGATION_ERRORS: [&str; 2] = ["Inspected target navigated or closed", "Execution context was destroyed"];

/// Script that marks the document that is about to be replaced: it may still answer for a while.
const MARK_DOCUMENT: &str = "window.isLeft = true";
/// Expression that is true in the document that [`MARK_DOCUMENT`] marked.
const IS_MARKED: &str = "window.isLeft === true";

/// Promise that resolves after two frames, when the page has shown the effect of all earlier input.
const TWO_FRAMES: &str = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";

/// Bit of the Alt key in the `modifiers` of DevTools input events.
pub(crate) const ALT: u32 = 1;
/// Bit of the Control key.
pub(crate) const CTRL: u32 = 2;
/// Bit of the Shift key.
pub(crate) const SHIFT: u32 = 8;

/// Browser tab with its own storage, closed on drop.
pub(crate) struct Page {
    chromium: &'static Chromium,
    /// Browser context of the tab. Empty for the browser's own profile.
    context: String,
    target: String,
    session: String,
    /// Number of waits in progress. During a wait, an expression that throws evaluates to null.
    waits: AtomicU32,
    /// Last exception thrown by an expression during a wait.
    thrown: Mutex<Option<String>>,
}

/// Bounding box of an element, in CSS pixels of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BoundingBox {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Ends a wait on drop.
struct Wait<'a>(&'a Page);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.0.waits.fetch_sub(1, SeqCst);
    }
}

impl Page {
    /// Opens an empty tab of 1280 × 800 CSS pixels.
    pub(crate) fn blank(chromium: &'static Chromium) -> Page {
        let context = text(&chromium.call("", "Target.createBrowserContext", json!({}))["browserContextId"]);
        Page::open_tab(chromium, context)
    }

    /// Opens an empty tab in the browser's own profile, which stores data on disk as a user's profile does.
    #[allow(dead_code, reason = "used by the benchmark `open`")]
    pub(crate) fn blank_in_profile(chromium: &'static Chromium) -> Page {
        Page::open_tab(chromium, String::new())
    }

    fn open_tab(chromium: &'static Chromium, context: String) -> Page {
        let mut target = json!({ "url": "about:blank" });
        if !context.is_empty() {
            target["browserContextId"] = context.as_str().into();
        }
        let target = text(&chromium.call("", "Target.createTarget", target)["targetId"]);
        let page = Page::attach(chromium, context, target);
        page.resize(1280, 800);
        page
    }

    /// Attaches to a tab.
    fn attach(chromium: &'static Chromium, context: String, target: String) -> Page {
        let attach = json!({ "targetId": target, "flatten": true });
        let session = text(&chromium.call("", "Target.attachToTarget", attach)["sessionId"]);
        let (waits, thrown) = (AtomicU32::new(0), Mutex::new(None));
        let page = Page { chromium, context, target, session, waits, thrown };
        for domain in ["Page", "Runtime", "Network", "Log", "DOM"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let workers = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        page.call("Target.setAutoAttach", workers);
        page.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        if let Some(rate) = std::env::var("MEMSCAPE_SLOW").ok().and_then(|rate| rate.parse::<f64>().ok()) {
            page.call("Emulation.setCPUThrottlingRate", json!({ "rate": rate }));
        }
        page
    }

    /// Opens a tab with `url` and waits until it is loaded.
    pub(crate) fn open(chromium: &'static Chromium, url: &str) -> Page {
        let page = Page::blank(chromium);
        page.navigate(url);
        page
    }

    /// Goes to `url` and waits until it is loaded.
    pub(crate) fn navigate(&self, url: &str) {
        self.evaluate(MARK_DOCUMENT);
        let started = self.call("Page.navigate", json!({ "url": url }));
        // A navigation that only changes the fragment loads nothing. The URL itself can't be waited for: it may be the
        // same as before.
        let is_new = started.get("loaderId").is_some();
        self.wait_until(&format!("{url} is loaded"), || {
            self.evaluate(&format!("document.readyState === 'complete' && !({is_new} && {IS_MARKED})")) == true
        });
    }

    /// Reloads the page, as the reload button does, and waits until it is loaded.
    pub(crate) fn reload(&self) {
        self.evaluate(MARK_DOCUMENT);
        self.call("Page.reload", json!({}));
        let loaded = format!("!({IS_MARKED}) && document.readyState === 'complete'");
        self.wait_until("the page is loaded again", || self.evaluate(&loaded) == true);
    }

    /// Goes to `url`, which may redirect, without waiting.
    pub(crate) fn navigate_without_wait(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Sets the window size in CSS pixels, with a device pixel ratio of 1.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Emulates the system's colour scheme: `light` or `dark`.
    pub(crate) fn prefer_color_scheme(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Saves downloads of the page in this folder without a prompt.
    pub(crate) fn save_downloads_in(&self, folder: &Path) {
        let wanted = json!({ "behavior": "allow", "downloadPath": folder, "browserContextId": self.context });
        self.chromium.call("", "Browser.setDownloadBehavior", wanted);
    }

    /// Runs `script` first in every document that is loaded from now on.
    pub(crate) fn run_before_load(&self, script: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
    }

    /// Evaluates an expression in the page; a promise is awaited.
    ///
    /// # Panics
    ///
    /// If the expression throws, except during a wait: the element it needs may not exist yet.
    #[track_caller]
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        self.evaluate_in(&self.session, expression)
    }

    /// Evaluates an expression in the page or in one of its [`Page::workers`].
    ///
    /// If a navigation replaces the document meanwhile, it is evaluated again in the new document.
    #[track_caller]
    pub(crate) fn evaluate_in(&self, session: &str, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let deadline = Instant::now() + TIMEOUT;
        let mut result = loop {
            match self.chromium.try_call(session, "Runtime.evaluate", params.clone()) {
                Ok(result) => break result,
                Err(why) if NAVIGATION_ERRORS.iter().any(|cut| why.contains(cut)) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(why) => panic!("{expression}: {why}"),
            }
        };
        if let Some(details) = result.get("exceptionDetails") {
            let exception = format!("{expression}: {details}");
            assert!(self.waits.load(SeqCst) > 0, "{exception}");
            *self.thrown.lock().unwrap() = Some(exception);
            return Value::Null;
        }
        expressions::with_plain_spaces(result["result"]["value"].take())
    }

    /// Attribute of the element that `selector` matches; `None` if the element or the attribute is missing.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.evaluate(&expressions::attribute(selector, name)).as_str().map(str::to_owned)
    }

    /// Returns whether an element exists without the `hidden` attribute.
    pub(crate) fn is_shown(&self, selector: &str) -> bool {
        self.evaluate(&format!("document.querySelector({})?.hidden === false", Value::from(selector))) == true
    }

    /// Rendered text of an element; empty if there is no such element. A hidden element returns its text too.
    pub(crate) fn text(&self, selector: &str) -> String {
        text(&self.evaluate(&expressions::text(selector)))
    }

    /// State of the page: `body[data-state]`.
    pub(crate) fn state(&self) -> String {
        self.attribute("body", "data-state").unwrap_or_default()
    }

    /// Waits for a `body[data-state]`. Fails early, with the error's text, if an error appears instead.
    #[track_caller]
    pub(crate) fn wait_for_state(&self, wanted: &str) {
        if wanted == "empty" {
            // The page's HTML says "empty" too, before the program runs.
            self.wait_until("the page has started", || !self.text("#snippet").is_empty());
        }
        let deadline = Instant::now() + TIMEOUT;
        let mut state = self.state();
        let mut before = state.clone();
        // An error from before is ignored; one that appears during the wait ends it.
        while state != wanted && !(state == "error" && before != "error") && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            before = std::mem::replace(&mut state, self.state());
        }
        let error = self.text("#error");
        let console = self.errors();
        assert_eq!(state, wanted, "the page shows {error:?}, console: {console:#?}");
    }

    /// Waits until `holds` returns true.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let wait = self.start_wait();
        let deadline = Instant::now() + TIMEOUT;
        while !holds() {
            assert!(Instant::now() < deadline, "timeout waiting until {what}; {}", self.circumstances());
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(wait);
    }

    /// Waits until `read` returns `wanted`. On a timeout the failure shows the last value.
    #[track_caller]
    pub(crate) fn wait_for<T: PartialEq + Debug>(&self, wanted: &T, read: impl Fn() -> T) {
        let wait = self.start_wait();
        let deadline = Instant::now() + TIMEOUT;
        let mut found = read();
        while found != *wanted && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            found = read();
        }
        drop(wait);
        assert_eq!(found, *wanted, "{}", self.circumstances());
    }

    /// Describes the page after a wait that has failed.
    fn circumstances(&self) -> String {
        let thrown = self.thrown.lock().unwrap().take();
        let state = "new Promise(resolve => { \
            const frame = frame => resolve({ frame, body: document.body.outerHTML.split('>')[0], \
                statuses: [...document.querySelectorAll('[id$=status]')].map(it => it.textContent), focus: document.activeElement?.id, keys: globalThis.receivedKeys, \
                has_focus: document.hasFocus(), visibility: document.visibilityState, address: location.href }); \
            requestAnimationFrame(() => frame('shown')); setTimeout(() => frame('none for 2 s'), 2000); })";
        format!("last exception: {thrown:?}, console: {:#?}, page: {}", self.errors(), self.evaluate(state))
    }

    fn start_wait(&self) -> Wait<'_> {
        if self.waits.fetch_add(1, SeqCst) == 0 {
            self.thrown.lock().unwrap().take();
        }
        Wait(self)
    }

    /// Value of `read` once the page is idle before and after reading it.
    #[track_caller]
    pub(crate) fn wait_until_settled<T: PartialEq>(&self, what: &str, read: impl Fn() -> T) -> T {
        let last = RefCell::new(None);
        self.wait_until(&format!("{what} stays as it is"), || {
            self.wait_until_idle();
            let now = Some(read());
            let is_same = *last.borrow() == now;
            last.replace(now);
            is_same && self.is_idle()
        });
        last.take().expect("a value was read")
    }

    /// Value of `read` once it has not changed for 20 frames. Works also while a file loads, when the page is not idle.
    #[track_caller]
    pub(crate) fn wait_until_stable<T: PartialEq>(&self, what: &str, read: impl Fn() -> T) -> T {
        let (last, times) = (RefCell::new(read()), Cell::new(0));
        self.wait_until(&format!("{what} stays as it is"), || {
            self.wait_for_frames();
            let now = read();
            times.set(if *last.borrow() == now { times.get() + 1 } else { 0 });
            last.replace(now);
            times.get() == 10
        });
        last.into_inner()
    }

    /// Waits until the page has nothing left to show (`body[data-idle]`) and no transition runs.
    #[track_caller]
    pub(crate) fn wait_until_idle(&self) {
        self.wait_until("the page is idle", || self.is_idle());
        self.wait_for_frames();
    }

    fn is_idle(&self) -> bool {
        self.evaluate(
            "'idle' in document.body.dataset && document.getAnimations().every(it => it.playState !== 'running')",
        ) == true
    }

    /// Waits for two frames, after which the effect of earlier input is shown.
    #[track_caller]
    pub(crate) fn wait_for_frames(&self) {
        self.evaluate(TWO_FRAMES);
    }

    /// Bounding box of an element once it no longer moves; 0 × 0 if it is hidden or missing.
    #[track_caller]
    pub(crate) fn bounding_box(&self, selector: &str) -> BoundingBox {
        let found = Cell::new(self.bounding_box_now(selector));
        self.wait_until(&format!("{selector} stands still"), || {
            self.wait_for_frames();
            let now = self.bounding_box_now(selector);
            found.replace(now) == now
        });
        found.get()
    }

    /// Current bounding box of an element, without waiting; for use inside waits.
    #[track_caller]
    pub(crate) fn bounding_box_now(&self, selector: &str) -> BoundingBox {
        let rectangle = self.evaluate(&format!(
            "(it => {{ if (!it) return []; const {{left, top, width, height}} = it.getBoundingClientRect(); \
             return [left, top, width, height]; }})(document.querySelector({}))",
            Value::from(selector)
        ));
        let side = |at: usize| rectangle[at].as_f64().unwrap_or_default();
        BoundingBox { left: side(0), top: side(1), width: side(2), height: side(3) }
    }

    /// Performance metrics that the browser has counted for this page.
    #[allow(dead_code, reason = "used by the benchmark `picture`")]
    pub(crate) fn metrics(&self) -> Value {
        self.call("Performance.enable", json!({}));
        self.call("Performance.getMetrics", json!({}))
    }

    /// Screenshot of the window: a PNG in base64.
    pub(crate) fn screenshot(&self) -> String {
        text(&self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"])
    }

    /// Screenshot of the window as WebP, small and with losses that are hard to see.
    pub(crate) fn compressed_screenshot(&self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "webp", "quality": 55 }));
        BASE64_STANDARD.decode(text(&shot["data"])).expect("the screenshot is base64")
    }

    /// Errors so far: uncaught exceptions, `console.error`, policy violations and failed loads, including those of
    /// workers.
    pub(crate) fn errors(&self) -> Vec<String> {
        self.console_messages(&["error"])
    }

    /// Errors as in [`Page::complaints`], and warnings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.console_messages(&["error", "warning"])
    }

    fn console_messages(&self, levels: &[&str]) -> Vec<String> {
        let is_one = |level: &Value| level.as_str().is_some_and(|level| levels.contains(&level));
        let is_error = |event: &Event| match event.method.as_str() {
            "Runtime.exceptionThrown" => true,
            "Runtime.consoleAPICalled" => is_one(&event.params["type"]),
            "Log.entryAdded" => is_one(&event.params["entry"]["level"]),
            _ => false,
        };
        let sessions = self.sessions();
        let of_this_page = |event: &Event| sessions.contains(&event.session) && is_error(event);
        self.chromium.events(of_this_page).iter().map(|event| event.params.to_string()).collect()
    }

    /// URLs of all requests so far, of the page and its workers.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests_by_method(|_| true)
    }

    /// URLs of all requests except `HEAD`, which only checks whether a linked file has changed.
    pub(crate) fn requests_without_head(&self) -> Vec<String> {
        self.requests_by_method(|method| method != "HEAD")
    }

    fn requests_by_method(&self, is_one: fn(&str) -> bool) -> Vec<String> {
        let sessions = self.sessions();
        let is_request = |event: &Event| {
            event.method == "Network.requestWillBeSent"
                && sessions.contains(&event.session)
                && is_one(event.params["request"]["method"].as_str().unwrap_or_default())
        };
        self.chromium.events(is_request).iter().map(|event| text(&event.params["request"]["url"])).collect()
    }

    /// Sessions of the page's workers, oldest first, including those that have ended.
    pub(crate) fn workers(&self) -> Vec<String> {
        self.workers_with(|_| true)
    }

    /// The [`Page::workers`] that read snapshots. The others run the simulator, SQL, YAML and rank scans. The simulator
    /// starts in the background at any time after a file is open.
    pub(crate) fn engine_workers(&self) -> Vec<String> {
        self.workers_with(|target| target["title"] == "engine")
    }

    fn workers_with(&self, is_wanted: impl Fn(&Value) -> bool) -> Vec<String> {
        let is_worker = |event: &Event| {
            let target = &event.params["targetInfo"];
            event.method == "Target.attachedToTarget"
                && event.session == self.session
                && target["type"] == "worker"
                && is_wanted(target)
        };
        self.chromium.events(is_worker).iter().map(|event| text(&event.params["sessionId"])).collect()
    }

    /// Number of [`Page::workers`] that have ended.
    pub(crate) fn ended_worker_count(&self) -> usize {
        // The service worker is not counted: it ends when it is idle.
        let workers: Vec<Value> = self.workers().into_iter().map(Value::from).collect();
        let is_end = |event: &Event| {
            event.method == "Target.detachedFromTarget"
                && event.session == self.session
                && workers.contains(&event.params["sessionId"])
        };
        self.chromium.events(is_end).len()
    }

    fn sessions(&self) -> Vec<String> {
        let mut sessions = self.workers();
        sessions.push(self.session.clone());
        sessions
    }

    #[track_caller]
    fn call(&self, method: &str, params: Value) -> Value {
        self.chromium.call(&self.session, method, params)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let (method, what) = if self.context.is_empty() {
            ("Target.closeTarget", json!({ "targetId": self.target }))
        } else {
            ("Target.disposeBrowserContext", json!({ "browserContextId": self.context }))
        };
        // A failed test must not panic again here.
        let _ = self.chromium.try_call("", method, what);
    }
}

impl BoundingBox {
    /// Point at these fractions (0..1) of width and height, from the top left.
    pub(crate) fn at(self, across: f64, down: f64) -> (f64, f64) {
        (self.left + self.width * across, self.top + self.height * down)
    }

    pub(crate) fn middle(self) -> (f64, f64) {
        self.at(0.5, 0.5)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
