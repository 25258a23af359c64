//! Table of category rules, with one row per rule. Fields are updated in place, so that they keep the focus.

use crate::dom::{Dom, append, attribute_at, focus_element, number_at, set_attribute, set_flag, set_text};
use ui::prefs::rules::RuleRow;
use ui::state::rules::{RuleEdit, RuleField};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlButtonElement, HtmlInputElement};

/// Placeholders of the empty fields, in the order of [`RuleField::ALL`].
const PLACEHOLDERS: [&str; 5] = ["category", "any", "any", "–", "description"];

/// Buttons of a row: name, title and text.
const BUTTONS: [(&str, &str, &str); 3] =
    [("up", "Move the rule up", "↑"), ("down", "Move the rule down", "↓"), ("remove", "Remove the rule", "×")];

/// Updates the table to show these rules.
pub(super) fn show(dom: &Dom, table: &Element, rows: &[RuleRow], can_edit: bool) {
    while table.child_element_count() as usize > rows.len() {
        table.last_element_child().iter().for_each(Element::remove);
    }
    while (table.child_element_count() as usize) < rows.len() {
        append(table, &new_row(dom, table.child_element_count()));
    }
    let mut next = table.first_element_child();
    for (place, row) in rows.iter().enumerate() {
        let Some(line) = next.take() else { return };
        next = line.next_element_sibling();
        set_flag(&line, "data-wrong", row.is_wrong);
        for (field, value) in fields(&line).zip(&row.values) {
            // Setting an equal value would move the user's caret.
            if field.value() != *value {
                field.set_value(value);
            }
            field.set_read_only(!can_edit);
        }
        if let Some(others) = line.query_selector(".others").ok().flatten() {
            set_text(&others, &row.conditions);
        }
        let is_end = [place == 0, place + 1 == rows.len(), false];
        let buttons = BUTTONS.iter().zip(is_end);
        for ((name, ..), is_end) in buttons {
            if let Some(button) = button(&line, name) {
                button.set_disabled(!can_edit || is_end);
            }
        }
    }
}

fn new_row(dom: &Dom, place: u32) -> Element {
    let row = dom.new_element("tr", "", "");
    set_attribute(&row, "data-place", &place.to_string());
    let number = (place + 1).to_string();
    dom.append_new(&row, "td", "number", &number);
    for ((_, name), placeholder) in RuleField::ALL.into_iter().zip(PLACEHOLDERS) {
        let cell = dom.append_new(&row, "td", name, "");
        let field = dom.append_new(&cell, "input", "", "");
        for (attribute, value) in [
            ("type", "text"),
            ("data-field", name),
            ("placeholder", placeholder),
            ("autocomplete", "off"),
            ("spellcheck", "false"),
            ("aria-label", &[name, " of rule ", &number].concat()),
        ] {
            set_attribute(&field, attribute, value);
        }
        if name == "note" {
            dom.append_new(&cell, "p", "others", "");
        }
    }
    let cell = dom.append_new(&row, "td", "buttons", "");
    for (name, title, symbol) in BUTTONS {
        let button = dom.new_button("", symbol, ("data-move", name));
        set_attribute(&button, "title", title);
        set_attribute(&button, "aria-label", &[title, " (rule ", &number, ")"].concat());
        append(&cell, &button);
    }
    row
}

fn fields(row: &Element) -> impl Iterator<Item = HtmlInputElement> {
    let row = row.clone();
    RuleField::ALL.into_iter().filter_map(move |(_, name)| {
        let field = row.query_selector(&["[data-field=\"", name, "\"]"].concat()).ok().flatten();
        field.and_then(|field| field.dyn_into().ok())
    })
}

fn button(row: &Element, name: &str) -> Option<HtmlButtonElement> {
    row.query_selector(&["[data-move=\"", name, "\"]"].concat()).ok().flatten()?.dyn_into().ok()
}

/// Returns the edit that typing in a field of the table makes.
pub(super) fn typed_edit(event: &Event) -> Option<RuleEdit> {
    let field = RuleField::from_name(&attribute_at(event, "data-field")?)?;
    let value = event.target()?.dyn_into::<HtmlInputElement>().ok()?.value();
    Some(RuleEdit::Set(number_at(event, "data-place")? as usize, field, value))
}

/// Returns the edit that a button of the table makes. The focus follows a rule that moves.
pub(super) fn pressed_edit(table: &Element, event: &Event) -> Option<RuleEdit> {
    let name = attribute_at(event, "data-move")?;
    let place = number_at(event, "data-place")?;
    let to = match name.as_str() {
        "up" => place.checked_sub(1)?,
        "down" => place + 1,
        _ => return Some(RuleEdit::Removed(place as usize)),
    };
    let row = table.query_selector(&["[data-place=\"", &to.to_string(), "\"]"].concat()).ok().flatten();
    let other = row.and_then(|row| button(&row, &name));
    other.iter().for_each(|button| focus_element(button));
    Some(RuleEdit::Moved(place as usize, to as usize))
}
