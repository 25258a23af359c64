//! One page in a browser: what a user sees of it, and in `hands` what a user does to it.
//!
//! A page shows at its next frame what it heard, and what it asked its worker some frames later. So nothing is read right after
//! something was done: it is waited for. `MEMSCAPE_SLOW=4` makes the pages that much slower, to find where a test does not; the
//! few that measure time fail then.

#[path = "hands.rs"]
mod hands;

use crate::asking;
use crate::chromium::{Chromium, Event};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// How long a state may take to come; generous, because software WebGPU shares the machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the browser answers where the document that was asked is replaced by the next one.
const CUT_OFF: [&str; 2] = ["Inspected target navigated or closed", "Execution context was destroyed"];

/// Marks the document that is about to be replaced: it may answer for a while yet.
const LEAVE: &str = "window.isLeft = true";
/// Whether it is that one.
const IS_LEFT: &str = "window.isLeft === true";

/// A promise for the end of the next frame but one: whatever the page has heard by now is shown then.
const TWO_FRAMES: &str = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";

/// Keys that can be held beside others, as the browser counts them.
pub(crate) const ALT: u32 = 1;
/// See [`ALT`].
pub(crate) const CTRL: u32 = 2;
/// See [`ALT`].
pub(crate) const SHIFT: u32 = 8;

/// A tab of its own, with storage of its own; closed on drop.
pub(crate) struct Page {
    chromium: &'static Chromium,
    /// Empty for the browser's own profile.
    context: String,
    target: String,
    session: String,
    /// Number of waits in progress: while there is one, an expression that throws has the value null.
    waits: AtomicU32,
    /// The last exception that an expression threw during a wait.
    thrown: Mutex<Option<String>>,
}

/// The corners of an element, in CSS pixels of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Corners {
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
    /// An empty tab of 1280 × 800 CSS pixels.
    pub(crate) fn blank(chromium: &'static Chromium) -> Page {
        let context = text(&chromium.call("", "Target.createBrowserContext", json!({}))["browserContextId"]);
        Page::tab(chromium, context)
    }

    /// The same in the browser's own profile, which keeps on the disk what a user's would.
    #[allow(dead_code, reason = "the bench of opening uses it")]
    pub(crate) fn in_profile(chromium: &'static Chromium) -> Page {
        Page::tab(chromium, String::new())
    }

    fn tab(chromium: &'static Chromium, context: String) -> Page {
        let mut target = json!({ "url": "about:blank" });
        if !context.is_empty() {
            target["browserContextId"] = context.as_str().into();
        }
        let target = text(&chromium.call("", "Target.createTarget", target)["targetId"]);
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
        page.resize(1280, 800);
        page
    }

    /// A tab that shows `url`.
    pub(crate) fn open(chromium: &'static Chromium, url: &str) -> Page {
        let page = Page::blank(chromium);
        page.navigate(url);
        page
    }

    /// Goes to `url` and waits until it is loaded.
    pub(crate) fn navigate(&self, url: &str) {
        self.evaluate(LEAVE);
        let begun = self.call("Page.navigate", json!({ "url": url }));
        // A page that only changes its fragment does not load again; nor is it the address that is waited for, which may be as before.
        let is_new = begun.get("loaderId").is_some();
        self.wait_until(&format!("{url} is loaded"), || {
            self.evaluate(&format!("document.readyState === 'complete' && !({is_new} && {IS_LEFT})")) == true
        });
    }

    /// Loads the page again, as the reload button does, and waits until it is loaded.
    pub(crate) fn reload(&self) {
        self.evaluate(LEAVE);
        self.call("Page.reload", json!({}));
        let loaded = format!("!({IS_LEFT}) && document.readyState === 'complete'");
        self.wait_until("the page is loaded again", || self.evaluate(&loaded) == true);
    }

    /// Goes to `url`, which may lead on to another address.
    pub(crate) fn follow(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// The window's size in CSS pixels, at one device pixel each.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// What the system asks for: `light` or `dark`.
    pub(crate) fn prefer_color_scheme(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Lets the page save files in this folder, without asking anybody.
    pub(crate) fn save_downloads_in(&self, folder: &Path) {
        let wanted = json!({ "behavior": "allow", "downloadPath": folder, "browserContextId": self.context });
        self.chromium.call("", "Browser.setDownloadBehavior", wanted);
    }

    /// Runs `script` before anything else in every document that is loaded from now on.
    pub(crate) fn run_before_load(&self, script: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
    }

    /// The value of an expression in the page; a promise is awaited.
    ///
    /// # Panics
    ///
    /// If it throws, except during a wait: an element that has not been drawn yet is then looked for again.
    #[track_caller]
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        self.evaluate_in(&self.session, expression)
    }

    /// The value of an expression in the page or in one of its [`Page::workers`].
    ///
    /// A question that a navigation cut off is asked again of the document that came.
    #[track_caller]
    pub(crate) fn evaluate_in(&self, session: &str, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let deadline = Instant::now() + PATIENCE;
        let mut result = loop {
            match self.chromium.try_call(session, "Runtime.evaluate", params.clone()) {
                Ok(result) => break result,
                Err(why) if CUT_OFF.iter().any(|cut| why.contains(cut)) && Instant::now() < deadline => {
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
        result["result"]["value"].take()
    }

    /// An attribute of the one element that `selector` names; `None` where element or attribute is missing.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.evaluate(&asking::attribute(selector, name)).as_str().map(str::to_owned)
    }

    /// Whether an element is there and is not hidden itself.
    pub(crate) fn shows(&self, selector: &str) -> bool {
        self.evaluate(&format!("document.querySelector({})?.hidden === false", Value::from(selector))) == true
    }

    /// The text of the element as a reader sees it; empty where it is missing. One that is hidden has its text all the same.
    pub(crate) fn text(&self, selector: &str) -> String {
        text(&self.evaluate(&asking::text(selector)))
    }

    /// `body[data-state]`.
    pub(crate) fn state(&self) -> String {
        self.attribute("body", "data-state").unwrap_or_default()
    }

    /// Waits for `body[data-state]`; fails early, with its text, when an error comes instead.
    #[track_caller]
    pub(crate) fn wait_for_state(&self, wanted: &str) {
        if wanted == "empty" {
            // What the file of the page says before it listens is "empty" as well.
            self.wait_until("the page has started", || !self.text("#snippet").is_empty());
        }
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state();
        let mut before = state.clone();
        // An error that stood there before is not yet an answer; one that comes while we wait is.
        while state != wanted && !(state == "error" && before != "error") && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            before = std::mem::replace(&mut state, self.state());
        }
        let error = self.text("#error");
        let console = self.complaints();
        assert_eq!(state, wanted, "the page says {error:?}, its console {console:#?}");
    }

    /// Waits until `holds`.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let wait = self.start_wait();
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            assert!(
                Instant::now() < deadline,
                "waited in vain until {what}; last exception: {:?}, console: {:#?}",
                self.thrown.lock().unwrap().take(),
                self.complaints()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(wait);
    }

    /// Waits until `read` gives `wanted`, and shows what it gave last where it never does.
    #[track_caller]
    pub(crate) fn wait_for<T: PartialEq + Debug>(&self, wanted: &T, read: impl Fn() -> T) {
        let wait = self.start_wait();
        let deadline = Instant::now() + PATIENCE;
        let mut found = read();
        while found != *wanted && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            found = read();
        }
        drop(wait);
        assert_eq!(
            found,
            *wanted,
            "last exception: {:?}, console: {:#?}",
            self.thrown.lock().unwrap().take(),
            self.complaints()
        );
    }

    fn start_wait(&self) -> Wait<'_> {
        if self.waits.fetch_add(1, SeqCst) == 0 {
            self.thrown.lock().unwrap().take();
        }
        Wait(self)
    }

    /// The value of `read` once the page is idle, before and after reading.
    #[track_caller]
    pub(crate) fn settled<T: PartialEq>(&self, what: &str, read: impl Fn() -> T) -> T {
        let last = RefCell::new(None);
        self.wait_until(&format!("{what} stays as it is"), || {
            self.wait_until_idle();
            let now = Some(read());
            let is_same = *last.borrow() == now;
            last.replace(now);
            is_same && self.is_idle()
        });
        last.take().expect("it was read")
    }

    /// The value of `read` once 20 frames in a row have not changed it, also while a file loads and the page is not idle.
    #[track_caller]
    pub(crate) fn still<T: PartialEq>(&self, what: &str, read: impl Fn() -> T) -> T {
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

    /// Waits until the page has shown all that it was asked for (`body[data-idle]`) and no transition runs.
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

    /// Waits until the page has shown what it has heard.
    #[track_caller]
    pub(crate) fn wait_for_frames(&self) {
        self.evaluate(TWO_FRAMES);
    }

    /// Where an element stands, once it stands still; 0 × 0 where it is not seen, or not there.
    #[track_caller]
    pub(crate) fn corners(&self, selector: &str) -> Corners {
        let found = Cell::new(self.corners_now(selector));
        self.wait_until(&format!("{selector} stands still"), || {
            self.wait_for_frames();
            let now = self.corners_now(selector);
            found.replace(now) == now
        });
        found.get()
    }

    /// Where it stands now, for what is asked again and again.
    #[track_caller]
    pub(crate) fn corners_now(&self, selector: &str) -> Corners {
        let rectangle = self.evaluate(&format!(
            "(it => {{ if (!it) return []; const {{left, top, width, height}} = it.getBoundingClientRect(); \
             return [left, top, width, height]; }})(document.querySelector({}))",
            Value::from(selector)
        ));
        let side = |at: usize| rectangle[at].as_f64().unwrap_or_default();
        Corners { left: side(0), top: side(1), width: side(2), height: side(3) }
    }

    /// What the browser has counted for this page so far.
    #[allow(dead_code, reason = "the bench of pictures asks")]
    pub(crate) fn metrics(&self) -> Value {
        self.call("Performance.enable", json!({}));
        self.call("Performance.getMetrics", json!({}))
    }

    /// A PNG of the window, base64 as the browser sends it.
    pub(crate) fn screenshot(&self) -> String {
        text(&self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"])
    }

    /// Errors so far: uncaught exceptions, `console.error`, violations of the policy, failed loads; workers included.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.said(&["error"])
    }

    /// The same, and warnings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.said(&["error", "warning"])
    }

    fn said(&self, levels: &[&str]) -> Vec<String> {
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

    /// The address of every request so far, of the page and of its workers.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests_of(|_| true)
    }

    /// Those of them that fetch something: not the question whether a file behind a link changed.
    pub(crate) fn fetched(&self) -> Vec<String> {
        self.requests_of(|method| method != "HEAD")
    }

    fn requests_of(&self, is_one: fn(&str) -> bool) -> Vec<String> {
        let sessions = self.sessions();
        let is_request = |event: &Event| {
            event.method == "Network.requestWillBeSent"
                && sessions.contains(&event.session)
                && is_one(event.params["request"]["method"].as_str().unwrap_or_default())
        };
        self.chromium.events(is_request).iter().map(|event| text(&event.params["request"]["url"])).collect()
    }

    /// The sessions of the page's workers, dead ones included, oldest first.
    pub(crate) fn workers(&self) -> Vec<String> {
        let is_worker = |event: &Event| {
            event.method == "Target.attachedToTarget"
                && event.session == self.session
                && event.params["targetInfo"]["type"] == "worker"
        };
        self.chromium.events(is_worker).iter().map(|event| text(&event.params["sessionId"])).collect()
    }

    /// How many of them are dead.
    pub(crate) fn dead_workers(&self) -> usize {
        // What answers without a network ends when it has nothing to do.
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
        // A test that already failed must not fail a second time here.
        let _ = self.chromium.try_call("", method, what);
    }
}

impl Corners {
    /// The point at these shares (0..1) of width and height, from the top left.
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
