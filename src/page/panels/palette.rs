//! Command palette: a text field, and the list of matching entries.

use crate::app::{App, Listeners, Part};
use crate::dialog::{close, set_open, was_closed_by_browser};
use crate::dom::{append, clear, number_at, set_attribute, set_flag, set_or_remove, set_text};
use crate::elements::elements;
use ui::features::State;
use ui::features::palette::{PaletteAction, PaletteTarget};
use ui::shell::action::Action;
use ui::shell::palette_entries::{Entry, PaletteView, view};
use ui::state::settings::Dialog;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent};

elements! {
    HtmlDialogElement: palette;
    HtmlElement: palette_list, palette_note;
    HtmlInputElement: palette_field;
}

/// Number of entries that Page Up and Page Down move by.
const PAGE_ENTRIES: i32 = 8;

#[derive(Default)]
pub(super) struct Panel {
    view: Option<PaletteView>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.palette, "close", |app, elements, _| {
            if was_closed_by_browser(&elements.palette) {
                handle_action(app, PaletteAction::Closed);
            }
        });
        on.text(&elements.palette_field, "input", |text| PaletteAction::Typed(text).into());
        on.event(&elements.palette_field, "keydown", on_key);
        on.event(&elements.palette_list, "click", |app, elements, event| {
            if let Some(place) = number_at(event, "data-place") {
                run_entry(app, elements, place as usize);
            }
        });
        // A click on the dialog itself is one outside of its content.
        on.event(&elements.palette, "click", |app, elements, event| {
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            if target.is_some_and(|target| target.is_same_node(Some(&elements.palette))) {
                handle_action(app, PaletteAction::Closed);
            }
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if set_open(&elements.palette, state.palette.dialog == Dialog::Open) {
            elements.palette_field.set_value(&state.palette.text);
        }
        if state.palette.dialog == Dialog::Closed {
            return;
        }
        let (before, view) = (self.view.take(), self.view.insert(view(state)));
        if before.is_none_or(|before| before.entries != view.entries) {
            clear(&elements.palette_list);
            for (place, entry) in view.entries.iter().enumerate() {
                append(&elements.palette_list, &line(elements, place, entry));
            }
            elements.palette_list.set_scroll_top(0);
        }
        set_text(&elements.palette_note, &view.note);
        elements.palette_note.set_class_name(if view.entries.is_empty() { "" } else { "unseen" });
        mark_active(elements, view);
    }
}

/// Marks the entry that Enter would run, also for screen readers, and scrolls it into view.
fn mark_active(elements: &Elements, view: &PaletteView) {
    let list = &elements.palette_list;
    list.query_selector("[aria-selected]")
        .ok()
        .flatten()
        .iter()
        .for_each(|line| drop(line.remove_attribute("aria-selected")));
    let active = (!view.entries.is_empty()).then(|| id(view.active));
    if let Some(line) = active.as_deref().and_then(|id| elements.by_id::<HtmlElement>(id)) {
        set_flag(&line, "aria-selected", true);
        // The lines' offsets are relative to the list.
        let (top, height) = (line.offset_top(), line.client_height());
        let (seen, room) = (list.scroll_top(), list.client_height());
        list.set_scroll_top(seen.min(top).max(top + height - room));
    }
    set_or_remove(&elements.palette_field, &[("aria-activedescendant", active)]);
}

fn id(place: usize) -> String {
    ["palette-", &place.to_string()].concat()
}

fn line(elements: &Elements, place: usize, entry: &Entry) -> Element {
    let line = elements.new_element("li", "", "");
    set_attribute(&line, "id", &id(place));
    set_attribute(&line, "role", "option");
    set_attribute(&line, "data-place", &place.to_string());
    let name = elements.append_new(&line, "span", "name", "");
    // Consecutive letters that were typed, or that were not, form one piece.
    let mut piece = String::new();
    let mut was_typed = false;
    for (at, letter) in entry.name.chars().enumerate() {
        let is_typed = entry.matched.binary_search(&at).is_ok();
        if is_typed != was_typed {
            add_piece(elements, &name, &mut piece, was_typed);
        }
        piece.push(letter);
        was_typed = is_typed;
    }
    add_piece(elements, &name, &mut piece, was_typed);
    elements.append_new(&line, "span", "kind", entry.kind);
    let keys = elements.append_new(&line, "span", "keys", "");
    for key in &entry.keys {
        elements.append_new(&keys, "kbd", "", key);
    }
    line
}

fn add_piece(elements: &Elements, name: &Element, piece: &mut String, is_typed: bool) {
    if !piece.is_empty() {
        elements.append_new(name, if is_typed { "b" } else { "span" }, "", piece);
        piece.clear();
    }
}

fn on_key(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
    // Keys of an input method are ignored. A palette that was closed keeps the focus until the next frame.
    if key.is_composing() || !elements.palette.open() {
        return;
    }
    let action = match key.key().as_str() {
        "ArrowDown" => PaletteAction::Moved(1),
        "ArrowUp" => PaletteAction::Moved(-1),
        "PageDown" => PaletteAction::Moved(PAGE_ENTRIES),
        "PageUp" => PaletteAction::Moved(-PAGE_ENTRIES),
        "Enter" => {
            event.prevent_default();
            let active = view(&app.state.borrow()).active;
            return run_entry(app, elements, active);
        }
        _ => return,
    };
    event.prevent_default();
    handle_action(app, action);
}

/// Runs an entry. The dialog is closed first, because closing it restores the focus, which the entry may then move.
fn run_entry(app: &'static App, elements: &Elements, place: usize) {
    let target: Option<PaletteTarget> = view(&app.state.borrow()).entries.get(place).map(|entry| entry.target);
    if let Some(target) = target {
        close(&elements.palette);
        handle_action(app, PaletteAction::Picked(target));
    }
}

fn handle_action(app: &App, action: PaletteAction) {
    app.dispatch(Action::feature(action));
}
