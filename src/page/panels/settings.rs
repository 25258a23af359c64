//! The settings dialog: its fields, and what is wrong with what stands there.

use super::Shown;
use crate::dom::{Elements, set_attribute, set_text};
use ui::State;
use ui::settings::{Dialog, Settings};
use web_sys::Element;

#[derive(Default)]
pub(super) struct Panel {
    shown: Shown<Settings>,
    dialog: Shown<Dialog>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if self.shown.0.as_ref() == Some(&state.settings) {
            return;
        }
        if let Some(dialog) = self.dialog.changed(state.settings.dialog) {
            match dialog {
                // It fails only when it is open already.
                Dialog::Open => drop(elements.settings.show_modal()),
                Dialog::Closed => elements.settings.close(),
            }
        }
        let Some(settings) = self.shown.changed(state.settings.clone()) else { return };
        let typing = elements.document.active_element();
        let is_typed = |field: &Element| typing.as_ref().is_some_and(|focus| focus.is_same_node(Some(field)));
        // Whoever types there is ahead of us.
        for (field, value) in [
            (&elements.setting_template, &settings.template),
            (&elements.setting_folder, &settings.folder),
            (&elements.setting_local, &settings.local),
        ] {
            if !is_typed(field) {
                field.set_value(value);
            }
        }
        if !is_typed(&elements.setting_rules) {
            elements.setting_rules.set_value(&settings.rules_text());
        }
        let wrong = settings.wrong_template();
        let sample = settings.sample();
        let note = match (wrong.is_empty(), sample.is_empty()) {
            (false, _) => wrong.clone(),
            (true, true) => "Empty: places are text, not links.".to_owned(),
            (true, false) => ["For example ", &sample].concat(),
        };
        say(&elements.template_note, &elements.setting_template, &note, &wrong);
        let wrong = settings.wrong_rules();
        say(&elements.rules_note, &elements.setting_rules, &wrong, &wrong);
    }
}

fn say(element: &Element, field: &Element, text: &str, wrong: &str) {
    set_text(element, text);
    element.set_class_name(if wrong.is_empty() { "note" } else { "note wrong" });
    set_attribute(field, "aria-invalid", if wrong.is_empty() { "false" } else { "true" });
}
