//! Labels of the lanes, which are buttons that focus a lane, and the button that shows all lanes.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, attribute_at, clear, focus_element, set_attribute, set_flag, set_style, set_text};
use crate::elements::elements;
use ui::features::State;
use ui::plot::lane_labels::{LaneLabel, LanesToggle, lane_labels, lanes_toggle};
use ui::plot::marks::label_row_px;
use ui::shell::action::Action;

elements! {
    HtmlButtonElement: lanes;
    HtmlElement: lane_labels, lanes_note, stage;
}

#[derive(Default)]
pub(super) struct Panel {
    labels: LastShown<Vec<LaneLabel>>,
    toggle: LastShown<LanesToggle>,
    row: LastShown<f64>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.lane_labels, |event| {
            Some(Action::DeviceChosen(attribute_at(event, "data-lane")?.parse().ok()?))
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(toggle) = self.toggle.update(lanes_toggle(state)) {
            elements.lanes.set_hidden(!toggle.is_possible);
            set_flag(&elements.lanes, "aria-pressed", toggle.is_on);
            set_text(&elements.lanes_note, &toggle.note);
        }
        if let Some(row) = self.row.update(label_row_px(state)) {
            set_style(&elements.stage, "--label-row", &format!("{row}px"));
        }
        if let Some(labels) = self.labels.update(lane_labels(state)) {
            show_labels(elements, labels);
        }
    }
}

fn show_labels(elements: &Elements, labels: &[LaneLabel]) {
    // Rebuilding the list must not move the focus away from a label.
    let focused = elements.focused_element().and_then(|focus| focus.get_attribute("data-lane"));
    clear(&elements.lane_labels);
    for label in labels {
        let device = label.device.to_string();
        let button = elements.new_button("lane", "", ("data-lane", &device));
        if label.is_focused {
            set_attribute(&button, "aria-current", "true");
        }
        elements.append_new(&button, "span", "name", &label.name);
        elements.append_new(&button, "span", "note", &label.note);
        let strip = elements.new_element("div", if label.is_focused { "strip focused" } else { "strip" }, "");
        let [top, height] = label.top_and_height;
        set_style(&strip, "top", &format!("{top}px"));
        set_style(&strip, "height", &format!("{height}px"));
        append(&strip, &button);
        append(&elements.lane_labels, &strip);
        if focused.as_deref() == Some(device.as_str()) {
            focus_element(&button);
        }
    }
}
