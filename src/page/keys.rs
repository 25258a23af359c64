//! Keyboard shortcuts, and buttons that execute the same commands.

use super::app::{App, Listeners, Part};
use super::dom::{Dom, listen};
use super::panels::views::tab_and_panel;
use ui::features::export::Dialog;
use ui::prefs::settings;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::shell::keys::command_for_key;
use ui::state::binding::{KeyScope, Modifiers, chord};
use ui::state::stage::Help;
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlButtonElement, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, KeyboardEvent};

/// Shortcuts that work regardless of the focus. Cmd can be used instead of Ctrl.
const GLOBAL_CHORDS: [&str; 2] = ["Ctrl+k", "Ctrl+,"];

/// Part of the page that listens for keys. It renders nothing.
#[derive(Default)]
pub(super) struct Keys;

impl Part for Keys {
    type Elements = Dom;

    fn start(app: &'static App, dom: &'static Dom) -> Result<(), String> {
        for command in commands::all() {
            if let Some(button) = dom.by_id::<HtmlButtonElement>(command.control) {
                listen(&button, "click", move |_| app.dispatch(Action::Command(command)));
            }
        }
        Ok(())
    }

    fn listen(dom: &Dom, on: &Listeners<Dom>) {
        on.event(&dom.window, "keydown", on_key);
    }
}

fn on_key(app: &'static App, dom: &'static Dom, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    // Characters typed with AltGr are reported with Ctrl and Alt held. On a Mac, Cmd stands for Ctrl.
    let held = if event.get_modifier_state("AltGraph") { Modifiers::default() } else { modifiers(event) };
    let chord = chord(&event.key(), held);
    let is_command = held.ctrl && GLOBAL_CHORDS.contains(&chord.as_str());
    if event.meta_key() && !is_command || event.default_prevented() {
        return;
    }
    // These also work in a text field.
    let Some(scope) = scope(dom).or(is_command.then_some(KeyScope::Page)) else { return };
    // Firefox would open its quick find and move the focus there.
    if matches!(event.key().as_str(), "'" | "/") && !event.ctrl_key() {
        event.prevent_default();
    }
    let focus = dom.focused_element();
    // Arrow keys scroll a focused element that can be scrolled.
    let scrolls = focus.as_ref().is_some_and(|focus| focus.matches("#side [role=tabpanel], pre").unwrap_or(false));
    if scrolls && chord.starts_with("Arrow") {
        return;
    }
    // Enter and Space press a focused button.
    let presses = matches!(event.key().as_str(), "Enter" | " ");
    if presses && focus.is_some_and(|focus| focus.matches("button, a, summary").unwrap_or(false)) {
        return;
    }
    let (letters, help, export, settings, rules, palette) = {
        let state = app.state.borrow();
        let (settings, rules, palette) = (state.settings.dialog, state.rules.dialog, state.palette.dialog);
        (state.letters, state.help, state.export.dialog, settings, rules, palette)
    };
    let scope = if export == Dialog::Open { KeyScope::Export } else { scope };
    let Some(command) = command_for_key(scope, &chord, letters) else { return };
    // An open dialog closes itself on Esc, and commands of the page below it are ignored.
    if help == Help::Open && ![commands::TOGGLE_HELP, commands::TOGGLE_LETTERS].contains(&command) {
        return;
    }
    if export == Dialog::Open && command != commands::export::TOGGLE && command.scope != KeyScope::Export {
        return;
    }
    if rules == settings::Dialog::Open && command != commands::TOGGLE_RULES {
        return;
    }
    if settings == settings::Dialog::Open && command != commands::TOGGLE_SETTINGS {
        return;
    }
    if palette == settings::Dialog::Open && command != commands::palette::TOGGLE {
        return;
    }
    // Without a timeline, its keys keep their default action. Arrows scroll the start page.
    if command.scope == KeyScope::Timeline && app.state.borrow().drawn_file().is_none() {
        return;
    }
    event.prevent_default();
    app.dispatch(Action::Command(command));
}

/// Returns the modifier keys that are pressed during a key event.
fn modifiers(event: &KeyboardEvent) -> Modifiers {
    Modifiers { alt: event.alt_key(), ctrl: event.ctrl_key() || event.meta_key(), shift: event.shift_key() }
}

/// Returns the scope of shortcuts for the focused element. `None` if the element handles keys itself, like a text
/// field.
fn scope(dom: &Dom) -> Option<KeyScope> {
    let Some(focus) = dom.focused_element() else { return Some(KeyScope::Timeline) };
    let types =
        focus.dyn_ref::<HtmlInputElement>().is_some_and(|input| input.type_() != "checkbox" && input.type_() != "file");
    if types || focus.has_type::<HtmlSelectElement>() || focus.has_type::<HtmlTextAreaElement>() {
        return None;
    }
    // Without a focused element, or on one of the timeline's buttons, keys belong to the timeline.
    let nowhere = focus.is_same_node(Some(&dom.body));
    let is_in = |place: &str| focus.closest(place).ok().flatten().is_some();
    let contains = |tab| tab_and_panel(dom, tab).is_some_and(|[_, panel]| panel.contains(Some(&focus)));
    if let Some(tab) = Tab::ALL.into_iter().find(|tab| contains(*tab)) {
        return Some(KeyScope::Tab(tab));
    }
    let inside = is_in("#picture");
    Some(if nowhere || inside { KeyScope::Timeline } else { KeyScope::Page })
}
