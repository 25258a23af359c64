//! Search field with its status, and the button that highlights allocations with the same stack.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{listen, set_attribute, set_flag, set_text};
use crate::elements::elements;
use gloo::timers::callback::Timeout;
use std::cell::Cell;
use ui::features::State;
use ui::features::table::TableAction;
use ui::scope::find::{FindStatus, same_stack_text, status};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::find::{MatchCase, SameStack};
use ui::state::range::ViewScope;
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent};

elements! {
    HtmlButtonElement: find_capitals, find_clear, find_list, find_next, find_previous, same_stack;
    HtmlElement: find_status, same_stack_text;
    HtmlInputElement: find;
}

/// Delay, in milliseconds, between the last keystroke and the search.
const DEBOUNCE_MS: u32 = 120;

#[derive(Default)]
pub(super) struct Panel {
    status: LastShown<FindStatus>,
    text: LastShown<String>,
    capitals: LastShown<MatchCase>,
    same_stack: LastShown<(SameStack, String)>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        let pause = Cell::new(None);
        listen(&elements.find, "input", move |_| {
            let reason = app.busy.guard();
            // Replacing the previous timer cancels it.
            let later = Timeout::new(DEBOUNCE_MS, move || {
                search(app, elements);
                drop(reason);
            });
            drop(pause.replace(Some(later)));
        });
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.find, "keydown", on_key);
        // Leaving the field searches immediately.
        on.event(&elements.find, "change", |app, elements, _| search(app, elements));
        on.event(&elements.find_clear, "click", |app, elements, _| {
            elements.find.set_value("");
            search(app, elements);
            elements.focus_and_select("find");
        });
        on.event(&elements.find_list, "click", |app, _, _| {
            let text = app.state.borrow().find.text.clone();
            app.dispatch(Action::feature(TableAction::FilterTyped(text)));
            app.dispatch(Action::ScopeChosen(ViewScope::WholeTrace));
            app.dispatch(Action::Command(commands::show(Tab::Allocations)));
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if self.text.0.as_ref() != Some(&state.find.text)
            && let Some(text) = self.text.update(state.find.text.clone())
        {
            elements.set_value(&elements.find, text);
            elements.find_clear.set_hidden(text.is_empty());
        }
        if let Some(capitals) = self.capitals.update(state.find.match_case) {
            set_flag(&elements.find_capitals, "aria-pressed", *capitals == MatchCase::On);
        }
        if let Some(status) = self.status.update(status(state)) {
            set_text(&elements.find_status, &status.text);
            set_attribute(&elements.find_status, "title", &status.exact);
            elements.find_status.set_class_name(if status.is_error { "wrong" } else { "" });
            set_flag(&elements.find, "aria-invalid", status.is_error);
            let tally =
                status.tally.map_or_else(Default::default, |it| [it.count.to_string(), it.requested.to_string()]);
            let [count, requested]: [String; 2] = tally;
            set_attribute(&elements.find_status, "data-count", &count);
            set_attribute(&elements.find_status, "data-requested", &requested);
            let is_empty = status.tally.is_none_or(|tally| tally.count == 0);
            elements.find_next.set_disabled(is_empty);
            elements.find_list.set_disabled(is_empty);
            elements.find_previous.set_disabled(is_empty);
        }
        if let Some((same_stack, text)) = self.same_stack.update((state.same_stack, same_stack_text(state))) {
            set_flag(&elements.same_stack, "aria-pressed", *same_stack == SameStack::Highlighted);
            set_text(&elements.same_stack_text, text);
        }
    }
}

fn search(app: &'static App, elements: &Elements) {
    app.dispatch(Action::FindTyped(elements.find.value()));
}

fn on_key(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>().filter(|event| !event.is_composing()) else { return };
    match event.key().as_str() {
        "c" | "C" if event.alt_key() => {
            search(app, elements);
            app.dispatch(Action::Command(commands::TOGGLE_MATCH_CASE));
        }
        "Enter" => {
            // Enter searches immediately.
            search(app, elements);
            app.dispatch(Action::Command(if event.shift_key() {
                commands::FIND_PREVIOUS
            } else {
                commands::FIND_NEXT
            }));
        }
        "Escape" => {
            search(app, elements);
            elements.focus_timeline();
        }
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}
