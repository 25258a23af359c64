//! The range: what happened in it, what the views show of it; and what is wrong with a moment that was typed.

use super::Shown;
use super::moment::set_or_remove;
use crate::dom::{Elements, set_attribute, set_text};
use base::units::Moment;
use ui::State;
use ui::range::{About, RangeView, view};

#[derive(Default)]
pub(super) struct Panel {
    range: Shown<Option<RangeView>>,
    about: Shown<About>,
    wrong: Shown<Option<String>>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(view) = self.range.changed(view(state)) {
            elements.range.set_hidden(view.is_none());
            elements.scope_field.set_hidden(view.is_none());
            let lines = view.iter().flat_map(|view| &view.lines);
            elements.fill_definitions(&elements.range_facts, lines.map(|(label, value)| (*label, value.as_str())));
            let pressed = view.as_ref().is_some_and(|view| view.is_extended);
            set_attribute(&elements.range_begin, "aria-pressed", if pressed { "true" } else { "false" });
            let facts = view.as_ref().and_then(|view| view.facts);
            let exact = |number: fn(&engine::protocol::RangeFacts) -> i128| {
                facts.as_ref().map(|facts| number(facts).to_string())
            };
            set_or_remove(
                &elements.range,
                &[
                    ("data-from", exact(|facts| facts.span.from.into())),
                    ("data-to", exact(|facts| facts.span.to.into())),
                    ("data-allocated", exact(|facts| facts.born.bytes.into())),
                    ("data-freed", exact(|facts| facts.freed.bytes.into())),
                    ("data-kept", exact(|facts| facts.kept.bytes.into())),
                    ("data-peak", exact(|facts| facts.peak.into())),
                    ("data-peak-event", exact(|facts| Moment(facts.peak_moment).event_or_minus_one().into())),
                ],
            );
        }
        if let Some(about) = self.about.changed(state.pinned.about) {
            elements.scope.set_selected_index(i32::try_from(about.place()).unwrap_or(0));
        }
        if let Some(wrong) = self.wrong.changed(state.pinned.wrong.clone()) {
            elements.at_note.set_hidden(wrong.is_none());
            set_text(&elements.at_note, wrong.as_deref().unwrap_or_default());
            set_attribute(&elements.at, "aria-invalid", if wrong.is_some() { "true" } else { "false" });
        }
    }
}
