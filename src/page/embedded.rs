//! Snapshots that a page in one file brings along: the samples, or the one it was saved with.
//!
//! Each is base64 in a `<script type="application/octet-stream" data-name="…">`, which no browser runs. The worker reads it as it reads
//! the pages that PyTorch's `trace_plot` writes: so the decoder is one that is there anyway.

use super::dom::Dom;
use js_sys::{Array, Reflect};
use ui::html::ELEMENTS;
use wasm_bindgen::JsValue;
use web_sys::{Element, File};

/// The snapshot this page was saved with: its name, and the fragment of the link to what was seen.
pub(super) fn snapshot(dom: &Dom) -> Option<(String, String)> {
    let part = dom.document.get_element_by_id("part-snapshot")?;
    Some((part.get_attribute("data-name")?, part.get_attribute("data-view").unwrap_or_default()))
}

/// Whether the page brings something along under this name.
pub(super) fn has(dom: &Dom, name: &str) -> bool {
    part(dom, name).is_some()
}

fn part(dom: &Dom, name: &str) -> Option<Element> {
    let samples = ["part-sample-0", "part-sample-1", "part-sample-2", "part-sample-3"];
    let mut parts = ELEMENTS.into_iter().chain(samples).filter_map(|id| dom.document.get_element_by_id(id));
    parts.find(|part| part.get_attribute("data-name").as_deref() == Some(name))
}

/// What the page brings along under this name, as base64: a text of the browser's, which may be too long for another copy.
pub(super) fn text(dom: &Dom, name: &str) -> Option<JsValue> {
    let part = part(dom, name)?;
    Reflect::get(&part, &"textContent".into()).ok()
}

/// The same as a file.
pub(super) fn file(dom: &Dom, name: &str) -> Option<File> {
    let text = text(dom, name)?;
    let pieces = Array::of3(&"<html>{\"base64\": \"".into(), &text, &"\"}".into());
    File::new_with_str_sequence(&pieces, name).ok()
}
