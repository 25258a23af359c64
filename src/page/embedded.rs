//! Files embedded in a single-file page: the samples, or the snapshot that the page was saved with.
//!
//! Each file is base64 in a `<script type="application/octet-stream" data-name="…">`, which browsers do not run. The
//! worker reads it like a page written by PyTorch's `trace_plot`, so no extra decoder is needed.

use super::dom::Dom;
use js_sys::{Array, Reflect};
use ui::features::save_page::ELEMENTS;
use wasm_bindgen::JsValue;
use web_sys::{Element, File};

/// Returns the name of the snapshot that this page was saved with, and the link fragment of the saved view.
pub(super) fn snapshot(dom: &Dom) -> Option<(String, String)> {
    Some((attribute(dom, "data-name")?, attribute(dom, "data-view").unwrap_or_default()))
}

/// Returns the rules that this page was saved with, as stored text.
pub(super) fn rules(dom: &Dom) -> Option<String> {
    attribute(dom, "data-rules")
}

fn attribute(dom: &Dom, name: &str) -> Option<String> {
    dom.document.get_element_by_id("part-snapshot")?.get_attribute(name)
}

/// Returns whether the page embeds a file with this name.
pub(super) fn is_embedded(dom: &Dom, name: &str) -> bool {
    element(dom, name).is_some()
}

fn element(dom: &Dom, name: &str) -> Option<Element> {
    let samples = ["part-sample-0", "part-sample-1", "part-sample-2", "part-sample-3"];
    let mut parts = ELEMENTS.into_iter().chain(samples).filter_map(|id| dom.document.get_element_by_id(id));
    parts.find(|part| part.get_attribute("data-name").as_deref() == Some(name))
}

/// Returns the embedded file with this name as base64. It stays a JavaScript string, because it may be too large to be
/// copied.
pub(super) fn base64(dom: &Dom, name: &str) -> Option<JsValue> {
    let part = element(dom, name)?;
    Reflect::get(&part, &"textContent".into()).ok()
}

/// Returns the embedded file with this name in a form that the worker reads.
pub(super) fn file(dom: &Dom, name: &str) -> Option<File> {
    let text = base64(dom, name)?;
    let pieces = Array::of3(&"<html>{\"base64\": \"".into(), &text, &"\"}".into());
    File::new_with_str_sequence(&pieces, name).ok()
}
