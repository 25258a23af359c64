//! The list of keys.

use crate::app::{App, On, Part, Shown};
use crate::dom::set_open;
use crate::elements::elements;
use std::rc::Rc;
use ui::binding::{Scope, key_text};
use ui::keys::{BINDINGS, GESTURES};
use ui::stage::{Help, Letters};
use ui::{Action, Command, State};

elements! {
    HtmlButtonElement: help_close;
    HtmlDialogElement: help;
    HtmlElement: keys;
    HtmlInputElement: letters;
}

#[derive(Default)]
pub(super) struct Panel {
    help: Shown<Help>,
    letters: Shown<Letters>,
}

fn add_line(elements: &Elements, list: &web_sys::Element, keys: impl Iterator<Item = String>, label: &str) {
    let term = elements.add(list, "dt", "", "");
    for key in keys {
        elements.add(&term, "kbd", "", &key);
    }
    elements.add(list, "dd", "", label);
}

impl Part for Panel {
    type Elements = Elements;

    fn start(_: &Rc<App>, elements: &Rc<Elements>) -> Result<(), String> {
        for (scope, title) in Scope::ALL {
            elements.add(&elements.keys, "h3", "", title);
            let list = elements.add(&elements.keys, "dl", "", "");
            for binding in BINDINGS.iter().filter(|binding| binding.scope == scope) {
                add_line(elements, &list, binding.keys.iter().map(|key| key_text(key)), binding.label);
            }
            if scope == Scope::Timeline {
                for (gesture, label) in GESTURES {
                    add_line(elements, &list, std::iter::once((*gesture).to_owned()), label);
                }
            }
        }
        Ok(())
    }

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.help_close, "click", |app, _, _| app.dispatch(Action::HelpClosed));
        on(&elements.help, "close", |app, _, _| app.dispatch(Action::HelpClosed));
        on(&elements.letters, "change", |app, _, _| app.dispatch(Action::Command(Command::ToggleLetters)));
    }

    fn show(&mut self, _: &Rc<App>, elements: &Elements, state: &State) {
        if let Some(help) = self.help.changed(state.help) {
            set_open(&elements.help, *help == Help::Open);
        }
        if let Some(letters) = self.letters.changed(state.letters) {
            elements.letters.set_checked(*letters == Letters::On);
        }
    }
}
