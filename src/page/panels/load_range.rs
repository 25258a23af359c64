//! Form to choose which events of a large file are loaded, and a notice about the loaded range.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{set_flag, set_text, show_text};
use crate::elements::elements;
use ui::features::State;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::shell::load_dialog::loaded_text;
use ui::state::load_dialog::LoadDialog;
use ui::state::stage::Stage;
use wasm_bindgen::JsCast;
use web_sys::KeyboardEvent;

elements! {
    HtmlButtonElement: choosing_all, choosing_cancel;
    HtmlElement: choosing, choosing_form, choosing_name, choosing_text, choosing_wrong, loaded, loaded_text;
    HtmlInputElement: choosing_events;
}

#[derive(Default)]
pub(super) struct Panel {
    choosing: LastShown<Option<LoadDialog>>,
    loaded: LastShown<Option<String>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.choosing_all, |_| Some(Action::Command(commands::OPEN_ALL)));
        on.click(&elements.choosing_cancel, |_| Some(Action::Command(commands::CANCEL_LOADING)));
        // Shortcuts of the page do not work in text fields.
        on.event(&elements.choosing_events, "keydown", |app, _, event| {
            if event.dyn_ref::<KeyboardEvent>().is_some_and(|event| event.key() == "Escape") {
                app.dispatch(Action::Command(commands::CANCEL_LOADING));
            }
        });
        on.event(&elements.choosing_form, "submit", |app, elements, event| {
            event.prevent_default();
            app.dispatch(Action::LoadRangeEntered(elements.choosing_events.value()));
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let choosing = if let Stage::Choosing(choosing) = &state.stage { Some(&**choosing) } else { None };
        let was_seen = !elements.choosing.hidden();
        if let Some(choosing) = self.choosing.update(choosing.cloned()) {
            elements.choosing.set_hidden(choosing.is_none());
            if let Some(choosing) = choosing {
                set_text(&elements.choosing_name, &choosing.name);
                set_text(&elements.choosing_text, &choosing.text);
                show_text(&elements.choosing_wrong, Some(choosing.error).filter(|wrong| !wrong.is_empty()));
                set_flag(&elements.choosing_events, "aria-invalid", !choosing.error.is_empty());
                if !was_seen {
                    elements.choosing_events.set_value(&choosing.initial_range);
                    elements.focus_on(if choosing.may_not_fit { "choosing-events" } else { "choosing-all" });
                }
            }
        }
        if let Some(text) = self.loaded.update(loaded_text(state)) {
            elements.loaded.set_hidden(text.is_none());
            set_text(&elements.loaded_text, text.as_deref().unwrap_or_default());
        }
    }
}
