//! The settings dialog → actions, and the browser's own storage. Where there is none, settings last as long as the page.

use super::App;
use super::dom::listen;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::Action;
use ui::settings::{Field, SettingsAction};
use web_sys::{EventTarget, Storage};

/// What they are stored under.
pub(super) const KEY: &str = "memscape.settings";

fn storage(app: &App) -> Option<Storage> {
    app.elements.window.local_storage().ok().flatten()
}

/// What is stored under this name.
pub(super) fn stored(app: &App, key: &str) -> Option<String> {
    storage(app).and_then(|storage| storage.get_item(key).ok().flatten())
}

/// Keeps a text under this name.
pub(super) fn store(app: &App, key: &str, text: &str) {
    if let Some(storage) = storage(app) {
        // A full or forbidden storage is no error: nothing that is seen depends on it.
        let _ = storage.set_item(key, text);
    }
}

/// Takes what was kept.
pub(super) fn load(app: &Rc<App>) {
    if let Some(text) = stored(app, KEY) {
        app.dispatch(Action::Settings(SettingsAction::Loaded(text)));
    }
}

/// Listens to the dialog.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let mut listeners = Vec::new();
    let mut on = |target: &EventTarget, event: &'static str, then: fn(&App) -> SettingsAction| {
        let app = app.clone();
        listeners.push(listen(target, event, move |_| {
            let action = then(&app);
            app.dispatch(Action::Settings(action));
        }));
    };
    on(&elements.settings_close, "click", |_| SettingsAction::Closed);
    on(&elements.settings, "close", |_| SettingsAction::Closed);
    on(&elements.default_rules, "click", |_| SettingsAction::DefaultRules);
    on(&elements.setting_rules, "change", |_| SettingsAction::RulesDone);
    on(&elements.setting_rules, "input", |app| SettingsAction::Typed(Field::Rules, app.elements.setting_rules.value()));
    on(&elements.setting_template, "input", |app| {
        SettingsAction::Typed(Field::Template, app.elements.setting_template.value())
    });
    on(&elements.setting_folder, "input", |app| {
        SettingsAction::Typed(Field::Folder, app.elements.setting_folder.value())
    });
    on(&elements.setting_local, "input", |app| SettingsAction::Typed(Field::Local, app.elements.setting_local.value()));
    listeners
}
