//! User input to a [`Page`]: files, mouse and keyboard.

use super::{Page, SHIFT};
use crate::expressions;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;

impl Page {
    /// Chooses files in a file input, as the system's dialog would.
    pub(crate) fn choose_files(&self, selector: &str, files: &[&Path]) {
        let document = self.call("DOM.getDocument", json!({}));
        let query = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let node = &self.call("DOM.querySelector", query)["nodeId"];
        self.call("DOM.setFileInputFiles", json!({ "nodeId": node, "files": files }));
        self.wait_for_frames();
    }

    /// Drops files from outside on the window and waits for two frames, after which a file that was open is no longer
    /// shown.
    pub(crate) fn drop_files(&self, files: &[&Path]) {
        self.drop_files_without_wait(files);
        self.wait_for_frames();
    }

    /// Drops files without waiting, so that a file that was open may still be shown.
    pub(crate) fn drop_files_without_wait(&self, files: &[&Path]) {
        let (x, y) = self.bounding_box_now("body").middle();
        for kind in ["dragEnter", "dragOver", "dragOver", "drop"] {
            let data = json!({ "items": [], "files": files, "dragOperationsMask": 1 });
            self.call("Input.dispatchDragEvent", json!({ "type": kind, "x": x, "y": y.min(400.0), "data": data }));
            if kind == "dragOver" {
                // Chromium drops nothing if the element under the pointer has changed since the last event, and the
                // overlay "Drop to open" appears in the next frame. A user keeps dragging for longer.
                self.wait_for_frames();
            }
        }
    }

    /// Clicks the middle of an element once it is visible, does not move, and is not covered. Opens its tab or menu
    /// first if needed.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        if let Some(opener) = self.evaluate(&expressions::opener_of(selector)).as_str() {
            self.click(opener);
            self.wait_until(&format!("{selector} is shown"), || {
                self.evaluate(&expressions::opener_of(selector)).is_null()
            });
        }
        // The page may move or replace the element just before the click. Then another element receives it.
        while !self.click_once(selector) {}
    }

    /// Clicks an element. Returns false if another element received the click.
    #[track_caller]
    fn click_once(&self, selector: &str) -> bool {
        let middle = Cell::new((0.0, 0.0));
        let into_view =
            format!("document.querySelector({})?.scrollIntoView({{ block: 'nearest' }})", Value::from(selector));
        self.wait_until(&format!("{selector} can be clicked"), || {
            self.evaluate(&into_view);
            let corners = self.bounding_box(selector);
            middle.set(corners.middle());
            let (x, y) = middle.get();
            corners.width > 0.0 && corners.height > 0.0 && self.evaluate(&is_free(selector, x, y)) == true
        });
        let (x, y) = middle.get();
        self.click_at(x, y);
        self.evaluate("globalThis.missed") != true
    }

    /// Moves the pointer to a point of the window and clicks with the left button.
    pub(crate) fn click_at(&self, x: f64, y: f64) {
        self.move_to(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    pub(crate) fn move_to(&self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Drags with the left button from `from` to `to` in a few steps, with these modifier keys held.
    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64), held: u32) {
        self.start_drag(from, to, held);
        self.mouse_event("mouseReleased", to, "left", held);
    }

    /// Drags like [`Page::drag`] without releasing the button.
    pub(crate) fn start_drag(&self, from: (f64, f64), to: (f64, f64), held: u32) {
        self.move_to(from.0, from.1);
        self.mouse_event("mousePressed", from, "left", held);
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse_event("mouseMoved", at, "left", held);
        }
    }

    pub(crate) fn right_click(&self, at: (f64, f64)) {
        self.move_to(at.0, at.1);
        self.mouse_event("mousePressed", at, "right", 0);
        self.mouse_event("mouseReleased", at, "right", 0);
    }

    /// Sends a single mouse event, such as `mousePressed`.
    pub(crate) fn mouse_event(&self, kind: &str, (x, y): (f64, f64), button: &str, held: u32) {
        let buttons = i32::from(kind == "mouseMoved");
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1, "modifiers": held });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Sends the second press or release of a double click.
    pub(crate) fn double_click_event(&self, kind: &str, (x, y): (f64, f64)) {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 2 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses and releases a key, named by its `KeyboardEvent.key`.
    pub(crate) fn press(&self, key: &str) {
        self.press_with(key, 0);
    }

    /// Presses and releases a key with the modifiers `ALT`, `CTRL` or [`SHIFT`].
    pub(crate) fn press_with(&self, key: &str, held: u32) {
        let printed = if key.chars().count() == 1 { key } else { "" };
        // The browser's own handling of Esc and Tab depends on the key code.
        let code = match key {
            "Escape" => 27,
            "Tab" => 9,
            _ => 0,
        };
        let down =
            json!({ "type": "keyDown", "key": key, "text": printed, "modifiers": held, "windowsVirtualKeyCode": code });
        let received = self.received_keys();
        self.call("Input.dispatchKeyEvent", down.clone());
        // Rarely, a key does not reach the page.
        if !received.is_null() && self.received_keys() == received {
            println!("key {key} did not reach the page, and is pressed again");
            self.call("Input.dispatchKeyEvent", down);
        }
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "modifiers": held }));
    }

    /// Returns the keys that the document has received since the first call, and the time of its origin. `null` if
    /// keys go to a frame in it.
    pub(super) fn received_keys(&self) -> Value {
        self.evaluate(
            "globalThis.receivedKeys ??= (keys => (addEventListener('keydown', event => keys.push(event.key), true), keys))([]); \
             document.activeElement?.tagName === 'IFRAME' ? null : [performance.timeOrigin, receivedKeys]",
        )
    }

    /// Replaces the text of the focused field.
    pub(crate) fn replace_text(&self, text: &str) {
        self.evaluate("document.activeElement.select()");
        self.evaluate(&format!("document.execCommand('insertText', false, {})", Value::from(text)));
    }

    /// Presses Enter so that the browser performs its default action, such as clicking the focused button.
    pub(crate) fn press_enter(&self) {
        self.press_enter_with(0);
    }

    /// Presses Shift+Enter like [`Page::press_enter`].
    pub(crate) fn press_shift_enter(&self) {
        self.press_enter_with(SHIFT);
    }

    fn press_enter_with(&self, held: u32) {
        let down = json!({
            "type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13, "modifiers": held
        });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": "Enter", "windowsVirtualKeyCode": 13 }));
    }

    /// Presses Esc and waits for the `close` event of the dialog.
    #[track_caller]
    pub(crate) fn press_escape_in(&self, dialog: &str) {
        let closed = "window.escaped = new Promise(done => document.querySelector(DIALOG).addEventListener('close', done, { once: true })); 0";
        self.evaluate(&closed.replace("DIALOG", &Value::from(dialog).to_string()));
        self.press("Escape");
        self.evaluate("window.escaped.then(() => 0)");
    }
}

/// JavaScript that checks that a click at `x` and `y` hits the element that `selector` matches. The next click sets
/// `missed`: true if it has hit another element.
fn is_free(selector: &str, x: f64, y: f64) -> String {
    format!(
        "(it => {{ const hit = document.elementFromPoint({x}, {y}); \
         const accepts = target => it.contains(target) || target === hit && hit.contains(it); \
         if (!hit || it.disabled || !accepts(hit)) return false; \
         globalThis.missed = false; \
         addEventListener('click', ({{ target }}) => {{ missed = !accepts(target) }}, {{ capture: true, once: true }}); \
         return true; }})(document.querySelector({}))",
        Value::from(selector)
    )
}
