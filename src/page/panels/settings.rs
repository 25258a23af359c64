//! Settings dialog: its fields and their error messages.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dialog::{set_open, was_closed_by_browser};
use crate::dom::{Dom, listen, set_flag, set_text};
use crate::elements::elements;
use crate::storage::load_value;
use crate::{file_cache, theme};
use ui::features::State;
use ui::shell::action::Action;
use ui::state::settings::{Dialog, SETTINGS, Setting, Settings, SettingsAction, Theme};
use web_sys::{Element, HtmlInputElement};

elements! {
    HtmlButtonElement: default_rules, kept_clear, settings_close;
    HtmlDialogElement: settings;
    HtmlElement: kept_note, rules_note, template_note;
    HtmlInputElement: setting_keep, setting_template;
    HtmlTextAreaElement: setting_rules;
}

/// Storage key of the settings.
pub(crate) const KEY: &str = "memscape.settings";

/// Loads the stored settings.
pub(crate) fn load(app: &App) {
    if let Some(text) = load_value(&app.dom, KEY) {
        handle_action(app, SettingsAction::Loaded(text));
    }
}

#[derive(Default)]
pub(super) struct Panel {
    shown: LastShown<Settings>,
    theme: LastShown<Theme>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.settings_close, |_| Some(Action::Settings(SettingsAction::Closed)));
        on.event(&elements.settings, "close", |app, elements, _| {
            if was_closed_by_browser(&elements.settings) {
                handle_action(app, SettingsAction::Closed);
            }
        });
        on.click(&elements.default_rules, |_| Some(Action::Settings(SettingsAction::DefaultRules)));
        on.event(&elements.kept_clear, "click", |app, _, _| file_cache::clear(app));
        on.event(&elements.setting_keep, "change", |app, elements, _| {
            if !elements.setting_keep.checked() {
                file_cache::clear(app);
            }
        });
        on.action(&elements.setting_rules, "change", |_, _, _| Some(Action::Settings(SettingsAction::RulesFinished)));
        on.action(&elements.setting_rules, "input", |_, elements, _| {
            Some(Action::Settings(SettingsAction::Changed("rule", elements.setting_rules.value())))
        });
    }

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        for (setting, input) in inputs(elements) {
            let field = input.clone();
            let event = if setting.unchecked.is_some() { "change" } else { "input" };
            listen(&input, event, move |_| {
                let text = match setting.unchecked {
                    Some(unchecked) => if field.checked() { "" } else { unchecked }.to_owned(),
                    None => field.value(),
                };
                handle_action(app, SettingsAction::Changed(setting.name, text));
            });
        }
        Ok(())
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let is_open = state.settings.dialog == Dialog::Open;
        set_open(&elements.settings, is_open);
        if is_open {
            set_text(&elements.kept_note, &file_cache::summary(app));
        }
        if self.shown.0.as_ref() == Some(&state.settings) {
            return;
        }
        if let Some(theme) = self.theme.update(state.settings.theme) {
            theme::apply(elements, &app.theme, *theme);
            // Panels earlier in the order were already rendered with the old theme.
            app.frame.request();
            for one in Theme::ALL {
                if let Some(button) = elements.by_id::<Element>(one.control()) {
                    set_flag(&button, "aria-pressed", one == *theme);
                }
            }
        }
        let Some(settings) = self.shown.update(state.settings.clone()) else { return };
        for (setting, input) in inputs(elements) {
            let text = (setting.get)(settings);
            match setting.unchecked {
                Some(unchecked) => input.set_checked(text != unchecked),
                None => elements.set_value(&input, &text),
            }
        }
        // The field is not changed while the user is typing into it.
        if !elements.has_focus(&elements.setting_rules) {
            elements.setting_rules.set_value(&settings.rules_text());
        }
        let wrong = settings.wrong_template();
        let sample = settings.sample_link();
        let note = match (wrong.is_empty(), sample.is_empty()) {
            (false, _) => wrong.clone(),
            (true, true) => "If empty, locations are not links.".to_owned(),
            (true, false) => ["For example ", &sample].concat(),
        };
        show_note(&elements.template_note, &elements.setting_template, &note, &wrong);
        let wrong = settings.wrong_rules();
        show_note(&elements.rules_note, &elements.setting_rules, &wrong, &wrong);
    }
}

/// Returns the settings whose controls are text fields and checkboxes.
fn inputs(dom: &Dom) -> impl Iterator<Item = (&'static Setting, HtmlInputElement)> {
    SETTINGS.iter().filter_map(|setting| Some((setting, dom.by_id(setting.control)?)))
}

fn handle_action(app: &App, action: SettingsAction) {
    app.dispatch(Action::Settings(action));
}

fn show_note(element: &Element, field: &Element, text: &str, wrong: &str) {
    set_text(element, text);
    element.set_class_name(if wrong.is_empty() { "note" } else { "note wrong" });
    set_flag(field, "aria-invalid", !wrong.is_empty());
}
