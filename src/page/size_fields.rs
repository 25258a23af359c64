//! Fields of sizes show the bytes that the typed text was understood as, in the element after the field.

use super::dom::{Dom, listen, set_text};
use ui::text::size_text::{DefaultUnit, understood};
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlInputElement};

/// Listens to all fields with the attribute `data-size`, whose value is the unit of a number without a unit.
pub(super) fn listen_to_all(dom: &Dom) {
    listen(&dom.body, "input", show_understood);
    listen(&dom.body, "focusin", show_understood);
}

fn show_understood(event: &Event) {
    let field = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
    let Some(field) = field else { return };
    if let (Some(unit), Some(place)) = (field.get_attribute("data-size"), field.next_element_sibling()) {
        let default = if unit == "B" { DefaultUnit::Byte } else { DefaultUnit::Gib };
        set_text(&place, &understood(&field.value(), default));
    }
}
