//! Help dialog: keys and gestures in groups, with a filter.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dialog::{set_open, was_closed_by_browser};
use crate::dom::clear;
use crate::elements::elements;
use ui::features::State;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::shell::help::{Group, START_TITLE, SYNTAX_TITLE, groups};
use ui::state::stage::{Help, Letters};
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

elements! {
    HtmlButtonElement: help_close;
    HtmlDialogElement: help;
    HtmlElement: forms, forms_group, help_none, keys;
    HtmlInputElement: help_filter, letters;
}

#[derive(Default)]
pub(super) struct Panel {
    letters: LastShown<Letters>,
    filter: LastShown<String>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.help_close, |_| Some(Action::HelpClosed));
        on.event(&elements.help, "close", |app, elements, _| {
            if was_closed_by_browser(&elements.help) {
                app.dispatch(Action::HelpClosed);
            }
        });
        on.action(&elements.letters, "change", |_, _, _| Some(Action::Command(commands::TOGGLE_LETTERS)));
        on.text(&elements.help_filter, "input", Action::HelpFiltered);
        // The key that opens the dialog closes it while the filter is empty. A dialog that was closed keeps the focus
        // until the next frame.
        on.event(&elements.help_filter, "keydown", |app, elements, event| {
            let is_key = event.dyn_ref::<KeyboardEvent>().is_some_and(|event| event.key() == "?");
            if is_key && elements.help.open() && elements.help_filter.value().is_empty() {
                event.prevent_default();
                app.dispatch(Action::HelpClosed);
            }
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if set_open(&elements.help, state.help == Help::Open) {
            elements.help_filter.set_value(&state.help_filter);
        }
        if state.help == Help::Open
            && let Some(filter) = self.filter.update(state.help_filter.clone())
        {
            show_groups(elements, &groups(filter));
        }
        if let Some(letters) = self.letters.update(state.letters) {
            elements.letters.set_checked(*letters == Letters::On);
        }
    }
}

fn show_groups(elements: &Elements, groups: &[Group]) {
    clear(&elements.keys);
    clear(&elements.forms);
    elements.help_none.set_hidden(!groups.is_empty());
    elements.forms_group.set_hidden(groups.iter().all(|group| group.title != SYNTAX_TITLE));
    for group in groups {
        let list: Element = if group.title == SYNTAX_TITLE {
            elements.forms.clone().into()
        } else {
            let section = elements.append_new(
                &elements.keys,
                "section",
                if group.title == START_TITLE { "start" } else { "" },
                "",
            );
            elements.append_new(&section, "h3", "", group.title);
            elements.append_new(&section, "dl", "", "")
        };
        for row in &group.rows {
            let line = elements.append_new(&list, "div", "", "");
            let term = elements.append_new(&line, "dt", "", "");
            for key in &row.keys {
                elements.append_new(&term, "kbd", "", key);
            }
            elements.append_new(&line, "dd", "", row.text);
        }
    }
}
