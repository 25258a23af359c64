//! Dialog for category rules: the selected set, its errors, and the categories that it gives the open snapshot.

use super::{report, rules_form};
use crate::app::{App, LastShown, Listeners, Part};
use crate::dialog::{set_open, was_closed_by_browser};
use crate::dom::{append, clear, error_message, focus_element, number_at, set_attribute, set_flag, set_text};
use crate::elements::elements;
use crate::storage::{load_value, store};
use crate::{embedded, export};
use ui::features::State;
use ui::features::export::ExportAction;
use ui::features::insights::view::{SheetView, categories};
use ui::prefs::rules::{RulesView, view};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::rules::{Pane, RuleEdit, RulesAction, SetChoice, SetFormat};
use ui::state::settings::{Dialog, SettingsAction};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, HtmlInputElement};

elements! {
    HtmlButtonElement: rules_add, rules_as_form, rules_as_json, rules_close, rules_copy_default, rules_copy_mosaic,
        rules_import, rules_save, rules_save_mosaic, rules_undo, settings_rules;
    HtmlDialogElement: rules;
    HtmlElement: rules_choices, rules_count, rules_errors, rules_form, rules_result, rules_rows, rules_unreadable;
    HtmlInputElement: rules_file;
    HtmlTextAreaElement: rules_text;
}

/// Storage key of the rules.
const KEY: &str = "memscape.rules";

/// Loads the rules that the page was saved with, or else the stored rules.
pub(crate) fn load(app: &App) {
    if let Some(text) = embedded_rules(app).or_else(|| load_value(&app.dom, KEY)) {
        handle_action(app, RulesAction::Loaded(text));
    }
}

/// Stores the rules. In a page that was saved with rules, the reader's stored rules are kept instead.
pub(crate) fn store_unless_embedded(app: &App, text: &str) {
    if embedded_rules(app).is_none() {
        store(&app.dom, KEY, text);
    }
}

/// Returns the rules that the page was saved with.
fn embedded_rules(app: &App) -> Option<String> {
    embedded::saved_page(&app.dom).map(|(_, page)| page.rules).filter(|rules| !rules.is_empty())
}

/// Lets the browser save a set of rules.
pub(crate) fn save(app: &App, name: &str, text: &str) {
    let saved = export::save_text(app, name, text).map(|()| name.to_owned());
    app.dispatch(Action::feature(ExportAction::PictureSaved(saved.map_err(|error| error_message(&error)))));
}

#[derive(Default)]
pub(super) struct Panel {
    changes: LastShown<u32>,
    result: LastShown<Option<SheetView>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.rules_close, |_| Some(Action::Rules(RulesAction::Closed)));
        on.event(&elements.rules, "close", |app, elements, _| {
            if was_closed_by_browser(&elements.rules) {
                handle_action(app, RulesAction::Closed);
            }
        });
        on.event(&elements.settings_rules, "click", |app, _, _| {
            app.dispatch(Action::Settings(SettingsAction::Closed));
            app.dispatch(Action::Command(commands::TOGGLE_RULES));
        });
        on.action(&elements.rules_choices, "change", |_, _, event| {
            let chosen = event.target()?.dyn_into::<HtmlInputElement>().ok()?;
            Some(Action::Rules(RulesAction::Chosen(SetChoice::from_name(&chosen.value())?)))
        });
        on.action(&elements.rules_text, "input", |_, elements, _| {
            Some(Action::Rules(RulesAction::Typed(elements.rules_text.value())))
        });
        on.click(&elements.rules_as_form, |_| Some(Action::Rules(RulesAction::PaneChosen(Pane::Form))));
        on.click(&elements.rules_as_json, |_| Some(Action::Rules(RulesAction::PaneChosen(Pane::Json))));
        on.event(&elements.rules_add, "click", |app, elements, _| {
            handle_action(app, RulesAction::Edited(RuleEdit::Added));
            elements.rules_form.set_scroll_top(0);
        });
        on.action(&elements.rules_rows, "input", |_, _, event| {
            Some(Action::Rules(RulesAction::Edited(rules_form::typed_edit(event)?)))
        });
        on.action(&elements.rules_rows, "click", |_, elements, event| {
            Some(Action::Rules(RulesAction::Edited(rules_form::pressed_edit(&elements.rules_rows, event)?)))
        });
        on.click(&elements.rules_copy_default, |_| Some(Action::Rules(RulesAction::Copied(SetChoice::Standard))));
        on.click(&elements.rules_copy_mosaic, |_| Some(Action::Rules(RulesAction::Copied(SetChoice::Mosaic))));
        on.click(&elements.rules_undo, |_| Some(Action::Rules(RulesAction::Undo)));
        on.click(&elements.rules_save, |_| Some(Action::Rules(RulesAction::Saved(SetFormat::Json))));
        on.click(&elements.rules_save_mosaic, |_| Some(Action::Rules(RulesAction::Saved(SetFormat::Mosaic))));
        on.event(&elements.rules_import, "click", |_, elements, _| elements.rules_file.click());
        on.event(&elements.rules_file, "change", |app, elements, _| import(app, elements));
        on.event(&elements.rules_errors, "click", select_error_line);
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        set_open(&elements.rules, state.rules.dialog == Dialog::Open);
        if state.rules.dialog == Dialog::Closed {
            return;
        }
        if self.changes.update(state.rules.revision).is_some() {
            show_rules(elements, &view(state));
        }
        if let Some(result) = self.result.update(categories(&state.insights)) {
            clear(&elements.rules_result);
            match result {
                Some(sheet) => {
                    let table = report::new_table(elements, sheet, "rules-title");
                    // Focusable, so that keys can scroll it. Nothing in it can be focused.
                    set_attribute(&table, "tabindex", "0");
                    append(&elements.rules_result, &table);
                }
                None => {
                    let text = if state.file().is_some() { "" } else { "Open a snapshot to see bytes by category." };
                    elements.append_new(&elements.rules_result, "p", "quiet", text);
                }
            }
        }
    }
}

fn show_rules(elements: &Elements, view: &RulesView) {
    for choice in SetChoice::ALL {
        let selector = ["[value=\"", choice.name(), "\"]"].concat();
        let button = elements.rules_choices.query_selector(&selector).ok().flatten();
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlInputElement>().ok()) {
            button.set_checked(choice == view.choice);
        }
    }
    let is_form = view.pane == Pane::Form;
    set_flag(&elements.rules_as_form, "aria-pressed", is_form);
    set_flag(&elements.rules_as_json, "aria-pressed", !is_form);
    let rows = view.rows.as_deref();
    elements.rules_form.set_hidden(!is_form || rows.is_none());
    elements.rules_unreadable.set_hidden(!is_form || rows.is_some());
    elements.rules_add.set_disabled(view.choice != SetChoice::Own || rows.is_none());
    elements.rules_add.set_hidden(!is_form);
    rules_form::show(elements, &elements.rules_rows, rows.unwrap_or_default(), view.choice == SetChoice::Own);
    let field = &elements.rules_text;
    field.set_hidden(is_form);
    // Setting an equal value would move the user's caret.
    if field.value() != view.text {
        field.set_value(&view.text);
    }
    field.set_read_only(view.choice != SetChoice::Own);
    let is_wrong = view.errors.iter().any(|(line, _)| *line > 0);
    set_flag(field, "aria-invalid", is_wrong);
    set_text(&elements.rules_count, &view.note);
    elements.rules_undo.set_hidden(!view.can_undo);
    clear(&elements.rules_errors);
    for (line, text) in &view.errors {
        let item = elements.append_new(&elements.rules_errors, "li", "", "");
        let button = elements.new_button("", text, ("data-line", &line.to_string()));
        append(&item, &button);
    }
}

fn handle_action(app: &App, action: RulesAction) {
    app.dispatch(Action::Rules(action));
}

fn import(app: &'static App, elements: &Elements) {
    let field = &elements.rules_file;
    let Some(file) = field.files().and_then(|files| files.get(0)) else { return };
    app.busy.spawn(async move {
        let read = match JsFuture::from(file.text()).await {
            Ok(text) => Ok(text.as_string().unwrap_or_default()),
            Err(error) => Err(file.name() + " could not be read: " + &error_message(&error) + "."),
        };
        handle_action(app, RulesAction::Imported(read));
    });
    // Otherwise, picking the same file again would not fire a change event.
    field.set_value("");
}

/// Selects the line of the clicked error.
fn select_error_line(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(before) = number_at(event, "data-line").and_then(|line| line.checked_sub(1)) else { return };
    handle_action(app, RulesAction::PaneChosen(Pane::Json));
    let field = &elements.rules_text;
    // A hidden field cannot be focused, and the state shows it only with the next frame.
    field.set_hidden(false);
    let text = field.value();
    let mut lines = text.split('\n');
    // Positions in the field count UTF-16 code units.
    let length = |line: &str| line.encode_utf16().count() as u32;
    let from: u32 = lines.by_ref().take(before as usize).map(|line| length(line) + 1).sum();
    let to = from + lines.next().map_or(0, length);
    focus_element(field);
    // Fails only for an element that was removed.
    let _ = field.set_selection_range(from, to);
}
