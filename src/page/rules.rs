//! The dialog of category rules → actions; the files it reads and writes.

use super::App;
use super::dom::{cause, listen};
use super::{export, settings};
use gloo::events::EventListener;
use std::rc::Rc;
use ui::export::ExportAction;
use ui::rules::{Choice, Form, RulesAction};
use ui::settings::SettingsAction;
use ui::{Action, Command};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Element, Event, EventTarget, HtmlInputElement};

/// What they are stored under.
pub(super) const KEY: &str = "memscape.rules";

/// Takes what was kept.
pub(super) fn load(app: &Rc<App>) {
    if let Some(text) = settings::stored(app, KEY) {
        act(app, RulesAction::Loaded(text));
    }
}

/// Lets the browser save a set.
pub(super) fn save(app: &Rc<App>, name: &str, text: &str) {
    let saved = export::save_text(app, name, text).map(|()| name.to_owned());
    app.dispatch(Action::of(ExportAction::Saved(saved.map_err(|error| cause(&error)))));
}

/// Listens to the dialog.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let mut listeners = Vec::new();
    let mut on = |target: &EventTarget, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listeners.push(listen(target, event, move |event| then(&app, event)));
    };
    on(&elements.rules_close, "click", |app, _| act(app, RulesAction::Closed));
    on(&elements.rules, "close", |app, _| act(app, RulesAction::Closed));
    on(&elements.settings_rules, "click", |app, _| {
        app.dispatch(Action::Settings(SettingsAction::Closed));
        app.dispatch(Action::Command(Command::ToggleRules));
    });
    on(&elements.rules_choices, "change", |app, event| {
        let chosen = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(choice) = chosen.and_then(|chosen| Choice::named(&chosen.value())) {
            act(app, RulesAction::Chosen(choice));
        }
    });
    on(&elements.rules_text, "input", |app, _| act(app, RulesAction::Typed(app.elements.rules_text.value())));
    on(&elements.rules_copy_default, "click", |app, _| act(app, RulesAction::Copied(Choice::Standard)));
    on(&elements.rules_copy_mosaic, "click", |app, _| act(app, RulesAction::Copied(Choice::Mosaic)));
    on(&elements.rules_undo, "click", |app, _| act(app, RulesAction::Undone));
    on(&elements.rules_save, "click", |app, _| act(app, RulesAction::Saved(Form::Ours)));
    on(&elements.rules_save_mosaic, "click", |app, _| act(app, RulesAction::Saved(Form::Mosaic)));
    on(&elements.rules_import, "click", |app, _| app.elements.rules_file.click());
    on(&elements.rules_file, "change", |app, _| import(app));
    on(&elements.rules_errors, "click", to_line);
    listeners
}

fn act(app: &Rc<App>, action: RulesAction) {
    app.dispatch(Action::Rules(action));
}

fn import(app: &Rc<App>) {
    let field = &app.elements.rules_file;
    let Some(file) = field.files().and_then(|files| files.get(0)) else { return };
    let app = app.clone();
    spawn_local(async move {
        let read = match JsFuture::from(file.text()).await {
            Ok(text) => Ok(text.as_string().unwrap_or_default()),
            Err(error) => Err(file.name() + " could not be read: " + &cause(&error) + "."),
        };
        act(&app, RulesAction::Imported(read));
    });
    // Or picking the same file again would be no change.
    field.set_value("");
}

/// A click on an error marks its line.
fn to_line(app: &Rc<App>, event: &Event) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let line = target.and_then(|target| target.get_attribute("data-line")).and_then(|line| line.parse::<usize>().ok());
    let Some(before) = line.and_then(|line| line.checked_sub(1)) else { return };
    let field = &app.elements.rules_text;
    let text = field.value();
    let mut lines = text.split('\n');
    // The field counts UTF-16.
    let length = |line: &str| line.encode_utf16().count() as u32;
    let from: u32 = lines.by_ref().take(before).map(|line| length(line) + 1).sum();
    let to = from + lines.next().map_or(0, length);
    // They fail only for an element that is gone.
    let _ = field.focus();
    let _ = field.set_selection_range(from, to);
}
