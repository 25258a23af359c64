//! The list of keys.

use super::Shown;
use crate::dom::{Elements, append};
use ui::State;
use ui::binding::{Scope, key_text};
use ui::keys::{BINDINGS, GESTURES};
use ui::stage::{Help, Letters};

#[derive(Default)]
pub(super) struct Panel {
    help: Shown<Help>,
    letters: Shown<Letters>,
}

pub(super) fn prepare(elements: &Elements) {
    for (scope, title) in [
        (Scope::Timeline, "Timeline"),
        (Scope::Why, "Why"),
        (Scope::Tree, "Call tree"),
        (Scope::Table, "Table of allocations, list of events"),
        (Scope::Events, "List of events"),
        (Scope::Memory, "Memory"),
        (Scope::Histograms, "Histograms"),
        (Scope::Flame, "Flame graph"),
        (Scope::Page, "Everywhere"),
        (Scope::Export, "In “Save the picture”"),
    ] {
        append(&elements.keys, &elements.new_element("h3", "", title));
        let list = elements.new_element("dl", "", "");
        for binding in BINDINGS.iter().filter(|binding| binding.scope == scope) {
            add_line(elements, &list, binding.keys.iter().map(|key| key_text(key)), binding.label);
        }
        if scope == Scope::Timeline {
            for (gesture, label) in GESTURES {
                add_line(elements, &list, std::iter::once((*gesture).to_owned()), label);
            }
        }
        append(&elements.keys, &list);
    }
}

fn add_line(elements: &Elements, list: &web_sys::Element, keys: impl Iterator<Item = String>, label: &str) {
    let term = elements.new_element("dt", "", "");
    for key in keys {
        append(&term, &elements.new_element("kbd", "", &key));
    }
    append(list, &term);
    append(list, &elements.new_element("dd", "", label));
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(help) = self.help.changed(state.help) {
            match help {
                // It fails only when it is open already.
                Help::Open => drop(elements.help.show_modal()),
                Help::Closed => elements.help.close(),
            }
        }
        if let Some(letters) = self.letters.changed(state.letters) {
            elements.letters.set_checked(*letters == Letters::On);
        }
    }
}
