//! Regression tests for bugs that appeared only in Firefox or WebKitGTK: drag events with less data, drops without
//! files, keys and wheels with other meanings, a program fetched twice, and modified canvas pixels.

use crate::driver::Browser;
use crate::fixtures::halves;
use crate::page::{self, Page};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Dispatches a drag event at an element, with a `dataTransfer` filled by the script `fill`. Returns whether the page
/// accepted it.
fn dispatch_drag(page: &Page, kind: &str, at: &str, fill: &str) -> bool {
    let script = format!(
        "(() => {{ const dataTransfer = new DataTransfer(); {fill}; \
         const event = new DragEvent('{kind}', {{ dataTransfer, bubbles: true, cancelable: true }}); \
         return !document.querySelector('{at}').dispatchEvent(event); }})()"
    );
    page.evaluate(&script) == true
}

pub(crate) fn drop_overlay_stays_while_dragging(page: &Page) {
    const FILE: &str = "dataTransfer.items.add(new File(['x'], 'x.pickle'))";
    page.open_empty();
    let sign = || page.attribute("body", "data-drop").unwrap_or_default();
    dispatch_drag(page, "dragenter", "#bar", FILE);
    assert!(dispatch_drag(page, "dragover", "#bar", FILE), "files may be dropped");
    page.wait_for(&"over".to_owned(), sign);
    // Moving to another element sends dragenter before dragleave, without `relatedTarget` in WebKit.
    dispatch_drag(page, "dragenter", "#welcome", FILE);
    dispatch_drag(page, "dragleave", "#bar", FILE);
    page.run(
        "window.rests = false; requestAnimationFrame(() => requestAnimationFrame(() => window.rests = true))",
        &Value::Null,
    );
    page.wait_for(&json!(true), || page.evaluate("window.rests"));
    assert_eq!(sign(), "over", "the overlay flickers");
    dispatch_drag(page, "dragleave", "#welcome", FILE);
    page.wait_for(&String::new(), sign);
}

pub(crate) fn drop_without_files_shows_hint(page: &Page) {
    // WebKitGTK passes the URL of a dropped file, but no file.
    const ADDRESS: &str = "dataTransfer.setData('text/uri-list', 'file:///tmp/x.pickle')";
    page.open_empty();
    assert!(dispatch_drag(page, "dragover", "#welcome", ADDRESS), "otherwise there is no drop event");
    assert!(dispatch_drag(page, "drop", "#welcome", ADDRESS), "otherwise the browser opens the URL");
    page.wait_until("the hint is shown", || page.text("#status").contains("Use Open…"));
    assert_eq!(page.state(), "empty");
}

/// Returns whether the page prevents the browser's default action of a key.
fn prevents_default(page: &Page, key: &str) -> bool {
    let script = "(() => { const event = new KeyboardEvent('keydown', { key: KEY, bubbles: true, cancelable: true }); \
                  return !(document.activeElement ?? document.body).dispatchEvent(event); })()";
    page.evaluate(&script.replace("KEY", &Value::from(key).to_string())) == true
}

pub(crate) fn page_keys_do_not_open_quick_find(page: &Page) {
    page.open_file(&halves());
    page.focus("timeline");
    assert!(prevents_default(page, "'"), "Firefox would search in links");
    page.press(&['?']);
    page.wait_until("the help is open", || page.evaluate("document.querySelector('#help').open") == true);
    page.focus("help-close");
    assert!(prevents_default(page, "/"), "Firefox would search in text");
    page.run("document.querySelector('#help').close()", &Value::Null);
    page.focus("find");
    assert!(!prevents_default(page, "'") && !prevents_default(page, "/"), "keys in fields are typed");
}

pub(crate) fn wheel_deltas_are_read_in_pixels(page: &Page) {
    page.open_file(&halves());
    // Firefox returns deltas in pixels if they are read before `deltaMode`, and in lines otherwise.
    let watch = "window.asked = []; for (const name of ['deltaX', 'deltaY', 'deltaMode']) { \
                 const { get } = Object.getOwnPropertyDescriptor(WheelEvent.prototype, name); \
                 Object.defineProperty(WheelEvent.prototype, name, { get() { asked.push(name); return get.call(this); } }); } \
                 document.querySelector('#timeline').dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: 300, \
                 clientY: 300, bubbles: true, cancelable: true }))";
    page.run(watch, &Value::Null);
    assert_eq!(page.evaluate("asked.slice(0, 3)"), json!(["deltaX", "deltaY", "deltaMode"]));
}

pub(crate) fn wasm_is_fetched_once(page: &Page) {
    page.open_empty();
    let fetched = "performance.getEntriesByType('resource').map(it => it.name).filter(it => it.endsWith('.wasm'))";
    let fetched: Vec<String> = serde_json::from_value(page.evaluate(fetched)).expect("addresses");
    // The page's own code, and the code that it needs later.
    assert!((1..=2).contains(&fetched.len()), "{fetched:?}");
    let different: BTreeSet<&String> = fetched.iter().collect();
    assert_eq!(different.len(), fetched.len(), "WebKit fetches preloaded files again: {fetched:?}");
}

/// Saves a picture with this key of the export dialog and returns the status text.
fn status_after_export(page: &Page, key: char) -> String {
    page.focus("timeline");
    page.press(&['i']);
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    page.press(&[key]);
    page.wait_until("the result is reported", || {
        let status = page.text("#status");
        status.starts_with("Saved") || status.contains("could not")
    });
    page.text("#status")
}

/// With `resistFingerprinting`, saving a PNG fails and saving an SVG succeeds.
#[test]
#[ignore = "needs dist/ and Firefox: ./run test"]
fn png_export_fails_if_browser_modifies_pixels() {
    page::run_in(Browser::FirefoxResistingFingerprinting, |page| {
        page.open_file(&halves());
        let status_text = status_after_export(page, '1');
        assert!(status_text.contains("could not") && status_text.contains("SVG"), "{status_text}");
        page.open_file(&halves());
        let status_text = status_after_export(page, 's');
        assert!(status_text.starts_with("Saved halves") && status_text.ends_with(".svg."), "{status_text}");
    });
    page::run_in(Browser::Firefox, |page| {
        page.open_file(&halves());
        let status_text = status_after_export(page, '1');
        assert!(status_text.starts_with("Saved halves") && status_text.ends_with(".png."), "{status_text}");
    });
}
