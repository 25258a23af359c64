//! One page in a browser: what a user does to it, and what a user sees of it.

use crate::chromium::{Chromium, Event};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a state may take to come; generous, because software WebGPU shares the machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// What the browser answers where the document that was asked is replaced by the next one.
const CUT_OFF: [&str; 2] = ["Inspected target navigated or closed", "Execution context was destroyed"];

/// Keys that can be held beside others, as the browser counts them.
pub(crate) const ALT: u32 = 1;
/// See [`ALT`].
pub(crate) const CTRL: u32 = 2;
/// See [`ALT`].
pub(crate) const SHIFT: u32 = 8;

/// A tab of its own, with storage of its own; closed on drop.
pub(crate) struct Page {
    chromium: &'static Chromium,
    context: String,
    session: String,
}

/// The corners of an element, in CSS pixels of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corners {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Page {
    /// An empty tab of 1280 × 800 CSS pixels.
    pub(crate) fn blank(chromium: &'static Chromium) -> Page {
        let context = text(&chromium.call("", "Target.createBrowserContext", json!({}))["browserContextId"]);
        let target = json!({ "url": "about:blank", "browserContextId": context });
        let target = text(&chromium.call("", "Target.createTarget", target)["targetId"]);
        let attach = json!({ "targetId": target, "flatten": true });
        let session = text(&chromium.call("", "Target.attachToTarget", attach)["sessionId"]);
        let page = Page { chromium, context, session };
        for domain in ["Page", "Runtime", "Network", "Log", "DOM"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let workers = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        page.call("Target.setAutoAttach", workers);
        page.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
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
        self.call("Page.navigate", json!({ "url": url }));
        // A page that only changes its fragment does not load again, so the address is what is waited for; and what is seen of an open
        // file stands in the fragment soon.
        let address = Value::from(url.split('#').next().unwrap_or(url));
        let loaded = format!("location.href.split('#')[0] === {address} && document.readyState === 'complete'");
        self.wait_until(&format!("{url} is loaded"), || self.evaluate(&loaded) == true);
    }

    /// Loads the page again, as the reload button does, and waits until it is loaded.
    pub(crate) fn reload(&self) {
        // The order is answered before the old document is gone, so that one is marked.
        self.evaluate("window.beforeReload = true");
        self.call("Page.reload", json!({}));
        let loaded = "window.beforeReload === undefined && document.readyState === 'complete'";
        self.wait_until("the page is loaded again", || self.evaluate(loaded) == true);
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
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// An attribute of the one element that `selector` names; `None` where element or attribute is missing.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        let (selector, name) = (Value::from(selector), Value::from(name));
        let value = self.evaluate(&format!("document.querySelector({selector})?.getAttribute({name}) ?? null"));
        value.as_str().map(str::to_owned)
    }

    /// The text of the element as a reader sees it; empty where it is missing. One that is hidden has its text all the same.
    pub(crate) fn text(&self, selector: &str) -> String {
        let selector = Value::from(selector);
        text(&self.evaluate(&format!("document.querySelector({selector})?.innerText ?? ''")))
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
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < deadline, "waited in vain until {what}; console: {:#?}", self.complaints());
            std::thread::sleep(Duration::from_millis(20));
        }
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
        assert_eq!(found, *wanted, "console: {:#?}", self.complaints());
    }

    /// Chooses files in a file input, as the system's dialog would.
    pub(crate) fn choose(&self, selector: &str, files: &[&Path]) {
        let document = self.call("DOM.getDocument", json!({}));
        let query = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let node = &self.call("DOM.querySelector", query)["nodeId"];
        self.call("DOM.setFileInputFiles", json!({ "nodeId": node, "files": files }));
    }

    /// Drags files from outside over the window and lets go of them in its middle.
    pub(crate) fn drop_files(&self, files: &[&Path]) {
        let (x, y) = self.corners("body").middle();
        for kind in ["dragEnter", "dragOver", "drop"] {
            let data = json!({ "items": [], "files": files, "dragOperationsMask": 1 });
            self.call("Input.dispatchDragEvent", json!({ "type": kind, "x": x, "y": y.min(400.0), "data": data }));
        }
    }

    /// Where an element stands; 0 × 0 where it is not seen, or not there.
    #[track_caller]
    pub(crate) fn corners(&self, selector: &str) -> Corners {
        let rectangle = self.evaluate(&format!(
            "(it => {{ if (!it) return []; const {{left, top, width, height}} = it.getBoundingClientRect(); \
             return [left, top, width, height]; }})(document.querySelector({}))",
            Value::from(selector)
        ));
        let side = |at: usize| rectangle[at].as_f64().unwrap_or_default();
        Corners { left: side(0), top: side(1), width: side(2), height: side(3) }
    }

    /// Presses and releases the left button in the middle of an element, once it is seen.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let is_seen = || matches!(self.corners(selector), Corners { width, height, .. } if width > 0.0 && height > 0.0);
        self.wait_until(&format!("{selector} is seen"), is_seen);
        let (x, y) = self.corners(selector).middle();
        self.click_at(x, y);
    }

    /// Moves to a point of the window, presses and releases the left button there.
    pub(crate) fn click_at(&self, x: f64, y: f64) {
        self.move_to(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Moves the pointer.
    pub(crate) fn move_to(&self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Presses the left button at `from`, moves to `to` in a few steps and releases it there, with these keys held.
    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64), held: u32) {
        self.begin_drag(from, to, held);
        self.mouse("mouseReleased", to, "left", held);
    }

    /// The same, and holds the button.
    pub(crate) fn begin_drag(&self, from: (f64, f64), to: (f64, f64), held: u32) {
        self.move_to(from.0, from.1);
        self.mouse("mousePressed", from, "left", held);
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse("mouseMoved", at, "left", held);
        }
    }

    /// Clicks with the right button.
    pub(crate) fn right_click(&self, at: (f64, f64)) {
        self.move_to(at.0, at.1);
        self.mouse("mousePressed", at, "right", 0);
        self.mouse("mouseReleased", at, "right", 0);
    }

    /// One event of the mouse.
    pub(crate) fn mouse(&self, kind: &str, (x, y): (f64, f64), button: &str, held: u32) {
        let buttons = i32::from(kind == "mouseMoved");
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1, "modifiers": held });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// The second press or release of a double click with the left button.
    pub(crate) fn double(&self, kind: &str, (x, y): (f64, f64)) {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 2 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses and releases a key, by its `KeyboardEvent.key`.
    pub(crate) fn press(&self, key: &str) {
        self.press_held(key, 0);
    }

    /// The same, with other keys held: [`ALT`], [`CTRL`], [`SHIFT`].
    pub(crate) fn press_held(&self, key: &str, held: u32) {
        let printed = if key.chars().count() == 1 { key } else { "" };
        // What the browser itself does on Esc and Tab goes by the number.
        let code = match key {
            "Escape" => 27,
            "Tab" => 9,
            _ => 0,
        };
        let down =
            json!({ "type": "keyDown", "key": key, "text": printed, "modifiers": held, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "modifiers": held }));
    }

    /// Presses Enter with all that the browser itself goes by: it clicks a button, and ends what was typed in a field.
    pub(crate) fn press_enter(&self) {
        let down =
            json!({ "type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13 });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": "Enter", "windowsVirtualKeyCode": 13 }));
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
        let is_error = |event: &Event| match event.method.as_str() {
            "Runtime.exceptionThrown" => true,
            "Runtime.consoleAPICalled" => event.params["type"] == "error",
            "Log.entryAdded" => event.params["entry"]["level"] == "error",
            _ => false,
        };
        let sessions = self.sessions();
        let of_this_page = |event: &Event| sessions.contains(&event.session) && is_error(event);
        self.chromium.events(of_this_page).iter().map(|event| event.params.to_string()).collect()
    }

    /// The address of every request so far, of the page and of its workers.
    pub(crate) fn requests(&self) -> Vec<String> {
        let sessions = self.sessions();
        let is_request =
            |event: &Event| event.method == "Network.requestWillBeSent" && sessions.contains(&event.session);
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
        let context = json!({ "browserContextId": self.context });
        // A test that already failed must not fail a second time here.
        let _ = self.chromium.try_call("", "Target.disposeBrowserContext", context);
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
