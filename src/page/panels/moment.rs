//! The cursor's moment, what was measured, the markers; and what a screen reader is told of the cursor.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use gloo::timers::callback::Timeout;
use ui::State;
use ui::markers::Line;
use ui::moment::{MomentView, spoken, view};
use ui::ruler::{Measured, Mode};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// A cursor that stood still for so many ms is told of.
const QUIET_MS: u32 = 350;

#[derive(Default)]
pub(super) struct Panel {
    moment: Shown<MomentView>,
    measured: Shown<Option<Measured>>,
    mode: Shown<(Mode, usize, usize)>,
    hint: Shown<String>,
    markers: Shown<Vec<Line>>,
    spoken: Shown<String>,
    /// What is about to be spoken; dropped, it never is.
    speaking: Option<Timeout>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(view) = self.moment.changed(view(state)) {
            let lines = view.lines.iter().map(|(label, value)| (*label, value.as_str()));
            elements.fill_definitions(&elements.moment_facts, lines);
            set_text(&elements.moment_title, view.title);
            let facts = &view.facts;
            let exact = |number: u64| view.event.map(|_| number.to_string());
            let exact = [
                ("data-event", view.event.map(|event| event.to_string())),
                ("data-live-requested", exact(facts.requested)),
                ("data-live-count", exact(facts.count.into())),
                ("data-allocated", exact(facts.requested.saturating_sub(facts.pending))),
                ("data-pending", exact(facts.pending)),
                ("data-reserved", exact(facts.reserved)),
            ];
            set_or_remove(&elements.moment, &exact);
        }
        if let Some(measured) = self.measured.changed(state.measured()) {
            elements.measured.set_hidden(measured.is_none());
            let text = measured.map_or_else(String::new, |it| format!("{}\n{}", it.text(), it.exact_bytes()));
            set_text(&elements.measured_text, &text);
            let exact = [
                ("data-events", measured.and_then(|it| it.events).map(|events| events.to_string())),
                ("data-time-us", measured.and_then(|it| it.time_us).map(|us| us.to_string())),
                ("data-bytes", measured.map(|it| it.bytes.to_string())),
            ];
            set_or_remove(&elements.measured, &exact);
        }
        if let Some(hint) = self.hint.changed(state.capacity_hint()) {
            set_attribute(&elements.capacity, "placeholder", hint);
        }
        let trail = &state.tools.trail;
        let mode = (state.tools.ruler.mode, trail.back.len(), trail.forward.len());
        if let Some((mode, back, forward)) = self.mode.changed(mode) {
            set_attribute(&elements.ruler, "aria-pressed", if *mode == Mode::On { "true" } else { "false" });
            elements.window_back.set_disabled(*back == 0);
            elements.window_forward.set_disabled(*forward == 0);
        }
        if let Some(lines) = self.markers.changed(state.marker_lines()) {
            elements.marker_box.set_hidden(lines.is_empty());
            show_markers(elements, lines);
        }
        if let Some(text) = self.spoken.changed(spoken(state)) {
            let (element, text) = (elements.spoken.clone(), text.clone());
            self.speaking = Some(Timeout::new(QUIET_MS, move || set_text(&element, &text)));
        }
    }
}

pub(super) fn set_or_remove(element: &HtmlElement, attributes: &[(&str, Option<String>)]) {
    for (name, value) in attributes {
        match value {
            Some(value) => set_attribute(element, name, value),
            // It fails for no name of ours.
            None => drop(element.remove_attribute(name)),
        }
    }
}

fn show_markers(elements: &Elements, lines: &[Line]) {
    // A redrawn list must not take the focus away from who works in it.
    let focused = elements.document.active_element();
    let focused = focused.and_then(|focus| Some((focus.get_attribute("data-marker")?, focus.class_name())));
    clear(&elements.markers);
    for line in lines {
        let number = line.number.to_string();
        let item = elements.new_element("li", "", "");
        let event = line.event.map(|event| event.to_string());
        let requested = line.requested.map(|bytes| bytes.to_string());
        if let Some(item) = item.dyn_ref::<HtmlElement>() {
            set_or_remove(item, &[("data-event", event), ("data-live-requested", requested)]);
        }
        let go = elements.new_element("button", "go", "");
        append(&go, &elements.new_element("b", "", &number));
        append(&go, &elements.new_element("span", "", &line.text));
        let remove = elements.new_element("button", "remove", "×");
        set_attribute(&remove, "aria-label", &format!("Remove marker {number}"));
        for button in [&go, &remove] {
            set_attribute(button, "type", "button");
            set_attribute(button, "data-marker", &number);
            append(&item, button);
        }
        append(&elements.markers, &item);
        for button in [&go, &remove] {
            if focused.as_ref().is_some_and(|(of, class)| *of == number && *class == button.class_name())
                && let Some(button) = button.dyn_ref::<HtmlElement>()
            {
                let _ = button.focus();
            }
        }
    }
}
