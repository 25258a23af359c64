//! The labels at the lanes, each a button that gives its lane the focus; and the toggle of the lanes.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use ui::State;
use ui::lane_labels::{LaneLabel, Toggle, lane_labels, toggle};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

#[derive(Default)]
pub(super) struct Panel {
    labels: Shown<Vec<LaneLabel>>,
    toggle: Shown<Toggle>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(toggle) = self.toggle.changed(toggle(state)) {
            elements.lanes.set_disabled(!toggle.is_possible);
            set_attribute(&elements.lanes, "aria-pressed", if toggle.is_on { "true" } else { "false" });
            set_text(&elements.lanes_note, &toggle.note);
            elements.device_steps.set_hidden(!toggle.is_possible);
        }
        if let Some(labels) = self.labels.changed(lane_labels(state)) {
            show_labels(elements, labels);
        }
    }
}

fn show_labels(elements: &Elements, labels: &[LaneLabel]) {
    // A redrawn list must not take the focus away from who works in it.
    let focused = elements.document.active_element().and_then(|focus| focus.get_attribute("data-lane"));
    clear(&elements.lane_labels);
    for label in labels {
        let button = elements.new_element("button", "lane", "");
        set_attribute(&button, "type", "button");
        let device = label.device.to_string();
        set_attribute(&button, "data-lane", &device);
        if label.is_focused {
            set_attribute(&button, "aria-current", "true");
        }
        append(&button, &elements.new_element("span", "name", &label.name));
        append(&button, &elements.new_element("span", "note", &label.note));
        let strip = elements.new_element("div", if label.is_focused { "strip focused" } else { "strip" }, "");
        if let Some(strip) = strip.dyn_ref::<HtmlElement>() {
            let [top, height] = label.top_and_height;
            // They fail only for properties that are none.
            let _ = strip.style().set_property("top", &format!("{top}px"));
            let _ = strip.style().set_property("height", &format!("{height}px"));
        }
        append(&strip, &button);
        append(&elements.lane_labels, &strip);
        if focused.as_deref() == Some(device.as_str())
            && let Some(button) = button.dyn_ref::<HtmlElement>()
        {
            let _ = button.focus();
        }
    }
}
