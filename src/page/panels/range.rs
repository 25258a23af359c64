//! Time axis below the timeline, "Go to" field and selected range: pointer events, facts about the range, and the scope
//! of the views.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{set_flag, set_or_remove, show_text};
use crate::elements::elements;
use crate::gestures::position;
use base::units::Moment;
use ui::features::State;
use ui::scope::range::{RangeView, view};
use ui::shell::action::Action;
use ui::state::axis_press::AxisPress;
use ui::state::range::{RangeScope, ViewScope};
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent, PointerEvent};

elements! {
    HtmlElement: at_note, axis_strip, plot, scope_change, scope_cursor, scope_range, scope_trace, range, range_end, range_facts, scope_field;
    HtmlInputElement: at;
    HtmlSelectElement: scope;
}

#[derive(Default)]
pub(super) struct Panel {
    range: LastShown<Option<RangeView>>,
    scope: LastShown<(ViewScope, RangeScope)>,
    wrong: LastShown<Option<String>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        let strip = &elements.axis_strip;
        on.event(strip, "pointerdown", |app, elements, event| {
            if let Some(event) = event.dyn_ref::<PointerEvent>().filter(|event| event.button() == 0) {
                // Fails only for a pointer that is gone already.
                let _ = elements.axis_strip.set_pointer_capture(event.pointer_id());
                // A finger does not hover before it touches.
                on_hover(app, elements, event);
                press(app, elements, event, AxisPress::Down);
            }
        });
        on.action(strip, "pointerleave", |_, _, _| Some(Action::AxisPressed(AxisPress::Leave)));
        on.action(strip, "dblclick", |_, _, _| Some(Action::AxisPressed(AxisPress::DoubleClick)));
        on.event(strip, "pointermove", |app, elements, event| {
            let Some(event) = event.dyn_ref::<PointerEvent>() else { return };
            if elements.axis_strip.has_pointer_capture(event.pointer_id()) {
                press(app, elements, event, AxisPress::Move);
            } else {
                on_hover(app, elements, event);
            }
        });
        on.action(strip, "pointerup", |_, _, _| Some(Action::AxisPressed(AxisPress::Up)));
        on.event(&elements.at, "keydown", on_field_key);
        on.event(&elements.at, "change", |app, elements, _| go_to(app, elements));
        on.choice(&elements.scope, |index| RangeScope::OF_RANGE.get(index).copied().map(Action::RangeFilterChosen));
        on.click(&elements.scope_cursor, |_| Some(Action::ScopeChosen(ViewScope::Cursor)));
        on.click(&elements.scope_range, |_| Some(Action::ScopeChosen(ViewScope::Range)));
        on.click(&elements.scope_change, |_| Some(Action::ScopeChosen(ViewScope::Change)));
        on.click(&elements.scope_trace, |_| Some(Action::ScopeChosen(ViewScope::WholeTrace)));
        on.click(&elements.range_end, |_| Some(Action::RangeRemoved));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(view) = self.range.update(view(state)) {
            elements.range.set_hidden(view.is_none());
            let lines = view.iter().flat_map(|view| &view.lines);
            elements.fill_definitions(&elements.range_facts, lines.map(|(label, value)| (*label, value.as_str())));
            let facts = view.as_ref().and_then(|view| view.facts);
            let exact =
                |number: fn(&protocol::RangeFacts) -> i128| facts.as_ref().map(|facts| number(facts).to_string());
            set_or_remove(
                &elements.range,
                &[
                    ("data-from", exact(|facts| facts.span.from.into())),
                    ("data-to", exact(|facts| facts.span.to.into())),
                    ("data-allocated", exact(|facts| facts.allocated.bytes.into())),
                    ("data-freed", exact(|facts| facts.freed.bytes.into())),
                    ("data-kept", exact(|facts| facts.still_live.bytes.into())),
                    ("data-peak", exact(|facts| facts.peak.into())),
                    ("data-peak-event", exact(|facts| Moment(facts.peak_moment).event_or_minus_one().into())),
                ],
            );
        }
        if let Some((scope, about)) =
            self.scope.update((ui::scope::cursor::view_scope(state), state.cursor.range_scope))
        {
            elements.scope_field.set_hidden(*scope != ViewScope::Range);
            let place = RangeScope::OF_RANGE.iter().position(|of_range| of_range == about);
            elements.scope.set_selected_index(place.and_then(|place| i32::try_from(place).ok()).unwrap_or(0));
            let buttons = [
                (&elements.scope_cursor, ViewScope::Cursor),
                (&elements.scope_range, ViewScope::Range),
                (&elements.scope_trace, ViewScope::WholeTrace),
                (&elements.scope_change, ViewScope::Change),
            ];
            for (button, of) in buttons {
                set_flag(button, "aria-pressed", of == *scope);
            }
        }
        if let Some(wrong) = self.wrong.update(state.cursor.error.clone()) {
            show_text(&elements.at_note, wrong.as_deref());
            set_flag(&elements.at, "aria-invalid", wrong.is_some());
        }
    }
}

fn press(app: &App, elements: &Elements, event: &PointerEvent, what: fn(f64) -> AxisPress) {
    if let Some(at) = position(app, &elements.plot, event) {
        app.dispatch(Action::AxisPressed(what(at.x)));
    }
}

/// Handles pointer movement over the axis or the annotations below it.
fn on_hover(app: &App, elements: &Elements, event: &PointerEvent) {
    // Positions count upwards from the lower edge of the plot.
    if let Some(at) = position(app, &elements.plot, event) {
        app.dispatch(Action::AxisPressed(AxisPress::Hover([at.x, -at.y])));
    }
}

/// Handles keys of the "Go to" field. Enter moves the cursor and selects the text, Esc returns to the timeline.
fn on_field_key(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>().filter(|event| !event.is_composing()) else { return };
    match event.key().as_str() {
        "Enter" => {
            go_to(app, elements);
            elements.at.select();
        }
        "Escape" => {
            elements.at.set_value("");
            elements.focus_timeline();
        }
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}

fn go_to(app: &App, elements: &Elements) {
    let text = elements.at.value();
    if !text.is_empty() {
        app.dispatch(Action::GoToEntered(text));
    }
}
