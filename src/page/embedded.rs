//! Files embedded in a single-file page: the samples, or the snapshot that the page was saved with.
//!
//! Each file is base64 in a `<script type="application/octet-stream" data-name="…">`, which browsers do not run. The
//! worker reads it like a page written by PyTorch's `trace_plot`, so no extra decoder is needed.

use super::dom::Dom;
use js_sys::{Array, Reflect};
use ui::features::save_page::ELEMENTS;
use ui::state::saved_page::SavedPage;
use wasm_bindgen::JsValue;
use web_sys::{Element, File};

/// Returns the name of the snapshot that this page was saved with, and what the page opens with.
pub(super) fn saved_page(dom: &Dom) -> Option<(String, SavedPage)> {
    let part = dom.document.get_element_by_id(ELEMENTS[0])?;
    Some((part.get_attribute("data-name")?, SavedPage::from_attributes(|name| part.get_attribute(name))))
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
