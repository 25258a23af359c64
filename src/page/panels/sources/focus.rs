//! Focus of the table of source files, and of the lines beside a source text.

use crate::dom::{Dom, focus_element, set_attribute};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent};

/// Moves the focus between rows on arrow up, arrow down, Home and End. Arrow right unfolds a file, arrow left folds it.
pub(super) fn move_focus(dom: &Dom, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    if event.alt_key() || event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let Some(focus) = dom.focused_element() else { return };
    let row = focus.closest("tr, [data-line]").ok().flatten();
    let list = row.as_ref().and_then(|row| row.parent_element());
    let (down, up) = (Element::next_element_sibling, Element::previous_element_sibling);
    let expanded = focus.get_attribute("aria-expanded");
    // Row to start at, and the direction to search from there.
    let (mut at, further) = match (event.key().as_str(), expanded.as_deref()) {
        ("ArrowDown", _) => (row.as_ref().and_then(down), down as fn(&Element) -> Option<Element>),
        ("ArrowUp", _) => (row.as_ref().and_then(up), up as fn(&Element) -> Option<Element>),
        ("Home", _) => (list.and_then(|list| list.first_element_child()), down as _),
        ("End", _) => (list.and_then(|list| list.last_element_child()), up as _),
        ("ArrowRight", Some("false")) | ("ArrowLeft", Some("true")) => {
            let _ = focus.dyn_ref::<HtmlElement>().map(HtmlElement::click);
            (None, down as _)
        }
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    while let Some(row) = at {
        if let Ok(Some(button)) = row.query_selector("button") {
            set_attribute(&focus, "tabindex", "-1");
            set_attribute(&button, "tabindex", "0");
            return focus_element(&button);
        }
        at = further(&row);
    }
}
