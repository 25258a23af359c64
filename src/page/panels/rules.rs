//! The dialog of category rules: the chosen set, what is wrong with it, and what it tells of the open snapshot.

use super::{Shown, why};
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use ui::State;
use ui::rules::{Choice, Rules, RulesView, view};
use ui::settings::Dialog;
use ui::why::view::{SheetView, categories};
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

#[derive(Default)]
pub(super) struct Panel {
    dialog: Shown<Dialog>,
    rules: Shown<Rules>,
    view: Shown<RulesView>,
    result: Shown<Option<SheetView>>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(dialog) = self.dialog.changed(state.rules.dialog) {
            match dialog {
                // It fails only when it is open already.
                Dialog::Open => drop(elements.rules.show_modal()),
                Dialog::Closed => elements.rules.close(),
            }
        }
        if state.rules.dialog == Dialog::Closed {
            return;
        }
        if self.rules.changed(state.rules.clone()).is_some()
            && let Some(view) = self.view.changed(view(state))
        {
            show_rules(elements, view);
        }
        if let Some(result) = self.result.changed(categories(&state.why)) {
            clear(&elements.rules_result);
            match result {
                Some(sheet) => append(&elements.rules_result, &why::table(elements, sheet, "rules-title")),
                None => {
                    let text = if state.file().is_some() { "" } else { "Open a snapshot to see what they tell of it." };
                    append(&elements.rules_result, &elements.new_element("p", "quiet", text));
                }
            }
        }
    }
}

fn show_rules(elements: &Elements, view: &RulesView) {
    for choice in Choice::ALL {
        let selector = ["[value=\"", choice.name(), "\"]"].concat();
        let button = elements.rules_choices.query_selector(&selector).ok().flatten();
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlInputElement>().ok()) {
            button.set_checked(choice == view.choice);
        }
    }
    let field = &elements.rules_text;
    // Setting what stands there already would move the caret of who types.
    if field.value() != view.text {
        field.set_value(&view.text);
    }
    field.set_read_only(view.choice != Choice::Own);
    let is_wrong = view.errors.iter().any(|(line, _)| *line > 0);
    set_attribute(field, "aria-invalid", if is_wrong { "true" } else { "false" });
    set_text(&elements.rules_count, &view.note);
    elements.rules_undo.set_hidden(!view.can_undo);
    clear(&elements.rules_errors);
    for (line, text) in &view.errors {
        let item = elements.new_element("li", "", "");
        let button = elements.new_element("button", "", text);
        set_attribute(&button, "type", "button");
        set_attribute(&button, "data-line", &line.to_string());
        append(&item, &button);
        append(&elements.rules_errors, &item);
    }
}
