//! Cursor, measurement and markers in the side panel. Also announces the crosshair to screen readers.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{
    append, clear, focus_element, hit_element, number_at, set_attribute, set_flag, set_or_remove, set_text,
};
use crate::elements::elements;
use gloo::timers::callback::Timeout;
use ui::features::State;
use ui::plot::markers::Line;
use ui::plot::moment::{MomentView, screen_reader_text, view};
use ui::plot::ruler::Measured;
use ui::shell::action::Action;
use ui::state::ruler::Mode;
use web_sys::Event;

elements! {
    HtmlButtonElement: ruler, window_back, window_forward;
    HtmlElement: marker_box, markers, measured, measured_text, moment, moment_facts, moment_title, spoken;
    HtmlInputElement: capacity;
}

/// Time, in milliseconds, that the crosshair must be still before it is announced.
const ANNOUNCE_DELAY_MS: u32 = 350;

#[derive(Default)]
pub(super) struct Panel {
    moment: LastShown<MomentView>,
    measured: LastShown<Option<Measured>>,
    mode: LastShown<(Mode, usize, usize)>,
    hint: LastShown<String>,
    markers: LastShown<Vec<Line>>,
    spoken: LastShown<String>,
    /// Pending announcement. Dropping it cancels it.
    speaking: Option<Timeout>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.markers, "click", on_marker_click);
        on.text(&elements.capacity, "input", Action::CapacityTyped);
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(view) = self.moment.update(view(state)) {
            let lines = view.lines.iter().map(|(label, value)| (*label, value.as_str()));
            elements.fill_definitions(&elements.moment_facts, lines);
            set_text(&elements.moment_title, view.title);
            let facts = &view.facts;
            let exact = |number: u64| view.event.map(|_| number.to_string());
            let exact = [
                ("data-event", view.event.map(|event| event.to_string())),
                ("data-live-requested", exact(facts.requested)),
                ("data-live-count", exact(facts.count.into())),
                ("data-allocated", exact(facts.requested.saturating_sub(facts.awaiting_free))),
                ("data-pending", exact(facts.awaiting_free)),
                ("data-reserved", exact(facts.reserved)),
            ];
            set_or_remove(&elements.moment, &exact);
        }
        if let Some(measured) = self.measured.update(ui::plot::ruler::measured(state)) {
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
        if let Some(hint) = self.hint.update(ui::plot::capacity::hint(state)) {
            set_attribute(&elements.capacity, "placeholder", hint);
        }
        let trail = &state.tools.history;
        let mode = (state.tools.ruler.mode, trail.back.len(), trail.forward.len());
        if let Some((mode, back, forward)) = self.mode.update(mode) {
            set_flag(&elements.ruler, "aria-pressed", *mode == Mode::On);
            elements.window_back.set_hidden(*back == 0 && *forward == 0);
            elements.window_forward.set_hidden(*back == 0 && *forward == 0);
            elements.window_back.set_disabled(*back == 0);
            elements.window_forward.set_disabled(*forward == 0);
        }
        if let Some(lines) = self.markers.update(ui::plot::markers::lines(state)) {
            elements.marker_box.set_hidden(lines.is_empty());
            show_markers(elements, lines);
        }
        if let Some(text) = self.spoken.update(screen_reader_text(state)) {
            let (element, text) = (elements.spoken.clone(), text.clone());
            self.speaking = Some(Timeout::new(ANNOUNCE_DELAY_MS, move || set_text(&element, &text)));
        }
    }
}

/// Handles clicks in the list of markers: goes to a marker, or removes it.
fn on_marker_click(app: &'static App, _: &'static Elements, event: &Event) {
    let (Some(button), Some(number)) = (hit_element(event, "button"), number_at(event, "data-marker")) else { return };
    app.dispatch(if button.class_name() == "remove" {
        Action::MarkerRemoved(number)
    } else {
        Action::MarkerVisited(number)
    });
}

fn show_markers(elements: &Elements, lines: &[Line]) {
    // Rebuilding the list must not move the focus away from a button.
    let focused = elements.focused_element();
    let focused = focused.and_then(|focus| Some((focus.get_attribute("data-marker")?, focus.class_name())));
    clear(&elements.markers);
    for line in lines {
        let number = line.number.to_string();
        let item = elements.append_new(&elements.markers, "li", "", "");
        let event = line.event.map(|event| event.to_string());
        let requested = line.requested.map(|bytes| bytes.to_string());
        set_or_remove(&item, &[("data-event", event), ("data-live-requested", requested)]);
        let go = elements.new_button("go", "", ("data-marker", &number));
        elements.append_new(&go, "b", "", &number);
        elements.append_new(&go, "span", "", &line.text);
        let remove = elements.new_button("remove", "×", ("data-marker", &number));
        set_attribute(&remove, "aria-label", &format!("Remove marker {number}"));
        [&go, &remove].into_iter().for_each(|button| append(&item, button));
        for button in [&go, &remove] {
            if focused.as_ref().is_some_and(|(of, class)| *of == number && *class == button.class_name()) {
                focus_element(button);
            }
        }
    }
}
