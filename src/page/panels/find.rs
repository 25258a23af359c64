//! What is said beside the field of the search, and about the stack of the selection.

use super::Shown;
use crate::dom::{Elements, set_attribute, set_text};
use ui::State;
use ui::find::{Capitals, FindStatus, SameStack, same_stack, status};

#[derive(Default)]
pub(super) struct Panel {
    status: Shown<FindStatus>,
    text: Shown<String>,
    capitals: Shown<Capitals>,
    same_stack: Shown<(SameStack, String)>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if self.text.0.as_ref() != Some(&state.find.text)
            && let Some(text) = self.text.changed(state.find.text.clone())
        {
            // Whoever types there is ahead of us.
            let focus = elements.document.active_element();
            if focus.is_none_or(|focus| !focus.is_same_node(Some(&elements.find))) {
                elements.find.set_value(text);
            }
            elements.find_clear.set_hidden(text.is_empty());
        }
        if let Some(capitals) = self.capitals.changed(state.find.capitals) {
            let pressed = if *capitals == Capitals::Matter { "true" } else { "false" };
            set_attribute(&elements.find_capitals, "aria-pressed", pressed);
        }
        if let Some(status) = self.status.changed(status(state)) {
            set_text(&elements.find_status, &status.text);
            set_attribute(&elements.find_status, "title", &status.exact);
            elements.find_status.set_class_name(if status.is_wrong { "wrong" } else { "" });
            set_attribute(&elements.find, "aria-invalid", if status.is_wrong { "true" } else { "false" });
            let tally =
                status.tally.map_or_else(Default::default, |it| [it.count.to_string(), it.requested.to_string()]);
            let [count, requested]: [String; 2] = tally;
            set_attribute(&elements.find_status, "data-count", &count);
            set_attribute(&elements.find_status, "data-requested", &requested);
            let is_empty = status.tally.is_none_or(|tally| tally.count == 0);
            elements.find_next.set_disabled(is_empty);
            elements.find_previous.set_disabled(is_empty);
        }
        if let Some((standing, text)) = self.same_stack.changed((state.same_stack, same_stack(state))) {
            set_attribute(
                &elements.same_stack,
                "aria-pressed",
                if *standing == SameStack::StandsOut { "true" } else { "false" },
            );
            set_text(&elements.same_stack_text, text);
        }
    }
}
