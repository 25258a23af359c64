//! The view "Why": its topics, and the report that is seen.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use engine::protocol::{Tone, Topic};
use ui::State;
use ui::views::Tab;
use ui::why::cells;
use ui::why::view::{Basis, Kind, Marks, RowView, Said, SheetView, Stack, basis, marks, sign, view};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

#[derive(Default)]
pub(super) struct Panel {
    basis: Shown<Basis>,
    marks: Shown<Marks>,
    /// The topic whose report stands there.
    topic: Shown<Topic>,
}

/// The topics.
pub(super) fn prepare(elements: &Elements) {
    for topic in Topic::ALL {
        let button = elements.new_element("button", "", topic.title());
        for (name, value) in [("type", "button"), ("role", "tab"), ("data-topic", topic.name())] {
            set_attribute(&button, name, value);
        }
        set_attribute(&button, "aria-controls", "why-report");
        append(&elements.why_topics, &button);
    }
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if state.views.seen() != Some(Tab::Why) {
            return;
        }
        let is_new = self.basis.changed(basis(&state.why)).is_some();
        let marks = marks(&state.why);
        if is_new {
            let focus = focus(elements);
            let is_same = self.topic.changed(marks.topic).is_none();
            let top = if is_same { elements.why_report.scroll_top() } else { 0 };
            fill(elements, state);
            mark(elements, state);
            if let Some(focus) = focus {
                give_focus(elements, &focus);
            }
            // What has the focus may have been scrolled away from.
            elements.why_report.set_scroll_top(top);
        }
        let before = self.marks.0.as_ref().map(|marks| marks.active);
        let Some(marks) = self.marks.changed(marks).cloned() else { return };
        for topic in Topic::ALL {
            let Some(button) = topic_button(elements, topic) else { continue };
            let is_chosen = topic == marks.topic;
            set_attribute(&button, "aria-selected", if is_chosen { "true" } else { "false" });
            set_attribute(&button, "tabindex", if is_chosen { "0" } else { "-1" });
            button.set_class_name(if marks.alarms.contains(&topic) { "alarm" } else { "" });
            let alarm = if marks.alarms.contains(&topic) { "It warns of something" } else { "" };
            set_attribute(&button, "title", alarm);
        }
        let report = &elements.why_report;
        set_attribute(report, "data-topic", marks.topic.name());
        set_attribute(report, "aria-label", marks.topic.title());
        set_attribute(report, "aria-busy", if marks.is_busy { "true" } else { "false" });
        set_text(&elements.why_note, marks.note);
        mark(elements, state);
        let moved = before.is_some_and(|before| before != marks.active);
        if moved && focus(elements).is_some() {
            give_focus(elements, &item(marks.active));
        }
    }
}

/// The button of a topic.
pub(crate) fn topic_button(elements: &Elements, topic: Topic) -> Option<HtmlElement> {
    let button = elements.why_topics.query_selector(&["[data-topic=\"", topic.name(), "\"]"].concat());
    button.ok()??.dyn_into().ok()
}

fn item(place: usize) -> String {
    ["[data-item=\"", &place.to_string(), "\"]"].concat()
}

/// Marks what was clicked last, and what Tab leads to.
fn mark(elements: &Elements, state: &State) {
    let marks = marks(&state.why);
    let Ok(items) = elements.why_report.query_selector_all("[data-item]") else { return };
    for at in 0..items.length() {
        let Some(item) = items.get(at).and_then(|item| item.dyn_into::<Element>().ok()) else { continue };
        let is = |place: Option<usize>| place == Some(at as usize);
        let state = if item.tag_name() == "TR" { "aria-selected" } else { "aria-pressed" };
        if item.has_attribute("data-shows") {
            set_attribute(&item, state, if is(marks.marked) { "true" } else { "false" });
        }
        set_attribute(&item, "tabindex", if is(Some(marks.active)) { "0" } else { "-1" });
    }
}

/// What has the focus in the report, as what finds it again.
fn focus(elements: &Elements) -> Option<String> {
    let focus = elements.document.active_element().filter(|focus| elements.why_report.contains(Some(focus)))?;
    let names = ["data-item", "data-more", "data-copy", "data-threshold"];
    let of = |name: &&str| focus.get_attribute(name).map(|value| ["[", name, "=\"", &value, "\"]"].concat());
    Some(names.iter().find_map(of).unwrap_or_default())
}

/// Gives the focus to what of the report is named so, or else to what Tab leads to.
pub(crate) fn give_focus(elements: &Elements, selector: &str) {
    let find = |selector: &str| elements.why_report.query_selector(selector).ok().flatten();
    let found = find(selector).or_else(|| find("[data-item][tabindex=\"0\"]"));
    // It fails only for an element that is gone.
    let _ = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()).map(|found| found.focus());
}

fn fill(elements: &Elements, state: &State) {
    let view = view(&state.why);
    clear(&elements.why_statements);
    for (place, said) in view.statements.iter().enumerate() {
        append(&elements.why_statements, &statement(elements, place, said));
    }
    clear(&elements.why_sheets);
    for (place, sheet) in view.sheets.iter().enumerate() {
        append(&elements.why_sheets, &sheet_of(elements, place, sheet));
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Fact => "fact",
        Tone::Good => "good",
        Tone::Alarm => "alarm",
    }
}

/// The sign of a tone, which is read aloud as a word.
fn add_sign(elements: &Elements, to: &Element, tone: Tone) {
    let [seen, aloud] = sign(tone);
    if !seen.is_empty() {
        let sign = elements.new_element("span", "sign", seen);
        set_attribute(&sign, "aria-hidden", "true");
        append(to, &sign);
        append(to, &elements.new_element("span", "unseen", aloud));
    }
}

fn statement(elements: &Elements, place: usize, said: &Said) -> Element {
    let line = elements.new_element("li", class(said.tone), "");
    let text = elements.new_element(if said.is_shown { "button" } else { "p" }, "", "");
    set_attribute(&text, "data-item", &place.to_string());
    if said.is_shown {
        set_attribute(&text, "type", "button");
        set_attribute(&text, "data-shows", "");
        set_attribute(&text, "title", "Show it in the timeline");
    }
    add_sign(elements, &text, said.tone);
    append(&text, &elements.new_element("span", "", &said.text));
    append(&line, &text);
    line
}

fn sheet_of(elements: &Elements, place: usize, sheet: &SheetView) -> Element {
    let at = place.to_string();
    let section = elements.new_element("section", "", "");
    set_attribute(&section, "data-sheet", &sheet.key);
    let id = ["why-sheet-", &at].concat();
    let header = elements.new_element("header", "", "");
    let title = elements.new_element("h3", "", &sheet.title);
    set_attribute(&title, "id", &id);
    append(&header, &title);
    if let Some((threshold, short)) = &sheet.threshold {
        let label = elements.new_element("label", "", &[&threshold.label, " "].concat());
        let field = elements.new_element("input", "", "");
        for (name, value) in [
            ("type", "number"),
            ("min", "0"),
            ("step", "any"),
            ("data-threshold", &at),
            ("value", &threshold.value.to_string()),
            ("title", "Enter asks anew. Empty: as it comes"),
        ] {
            set_attribute(&field, name, value);
        }
        append(&label, &field);
        append(&label, &elements.new_element("span", "", &[" ", &threshold.unit].concat()));
        append(&label, &elements.new_element("span", "short", short));
        append(&header, &label);
    }
    if !sheet.rows.is_empty() {
        let copy = button(elements, "copy", "data-copy", &at, "Copy");
        set_attribute(&copy, "title", "Copy this table as tab-separated values");
        set_attribute(&copy, "aria-label", &["Copy: ", &sheet.title].concat());
        append(&header, &copy);
    }
    append(&section, &header);
    if !sheet.note.is_empty() {
        append(&section, &elements.new_element("p", "note", &sheet.note));
    }
    if sheet.rows.is_empty() {
        append(&section, &elements.new_element("p", "none", "None."));
        return section;
    }
    append(&section, &table(elements, sheet, &id));
    if !sheet.more.is_empty() {
        append(&section, &button(elements, "more", "data-more", &at, &sheet.more));
    }
    if !sheet.beyond.is_empty() {
        append(&section, &elements.new_element("p", "none", &[&sheet.beyond, ": the command line tells all"].concat()));
    }
    section
}

fn button(elements: &Elements, class: &str, attribute: &str, place: &str, text: &str) -> Element {
    let button = elements.new_element("button", class, text);
    set_attribute(&button, "type", "button");
    set_attribute(&button, attribute, place);
    button
}

pub(super) fn table(elements: &Elements, sheet: &SheetView, title: &str) -> Element {
    let frame = elements.new_element("div", "sheet", "");
    let table = elements.new_element("table", "", "");
    set_attribute(&table, "role", "grid");
    set_attribute(&table, "aria-labelledby", title);
    let part = |name: &str| {
        let part = elements.new_element(name, "", "");
        append(&table, &part);
        part
    };
    let head = elements.new_element("tr", "", "");
    for (label, kind) in &sheet.columns {
        let cell = elements.new_element("th", kind.class(), label);
        set_attribute(&cell, "scope", "col");
        append(&head, &cell);
    }
    append(&part("thead"), &head);
    let body = part("tbody");
    for row in &sheet.rows {
        append(&body, &row_of(elements, sheet, row));
        if let Stack::Unfolded(lines) = &row.stack {
            let cell = elements.new_element("td", "", "");
            set_attribute(&cell, "colspan", &sheet.columns.len().to_string());
            let list = elements.new_element("ol", "", "");
            for line in lines {
                append(&list, &elements.new_element("li", "", line));
            }
            append(&cell, &list);
            let below = elements.new_element("tr", "stack", "");
            append(&below, &cell);
            append(&body, &below);
        }
    }
    if !sheet.total.is_empty() {
        let line = elements.new_element("tr", "", "");
        for (cell, (_, kind)) in sheet.total.iter().zip(&sheet.columns) {
            append(&line, &cell_of(elements, *kind, cell));
        }
        append(&part("tfoot"), &line);
    }
    append(&frame, &table);
    frame
}

fn row_of(elements: &Elements, sheet: &SheetView, row: &RowView) -> Element {
    let line = elements.new_element("tr", class(row.tone), "");
    let place = row.place.to_string();
    set_attribute(&line, "data-item", &place);
    if row.is_shown {
        set_attribute(&line, "data-shows", "");
    }
    for ((cell, plain), (_, kind)) in row.cells.iter().zip(&sheet.columns) {
        let element = cell_of(elements, *kind, cell);
        set_attribute(&element, "data-value", plain);
        if *kind == Kind::Name {
            set_text(&element, "");
            set_property(&element, "--depth", &row.depth.min(24).to_string());
            if row.stack != Stack::None {
                let is_unfolded = matches!(row.stack, Stack::Unfolded(_));
                let fold = button(elements, "unfold", "data-unfold", &place, if is_unfolded { "▾" } else { "▸" });
                set_attribute(&fold, "tabindex", "-1");
                set_attribute(&fold, "aria-label", "Stack");
                set_attribute(&fold, "title", "The stack (Space)");
                set_attribute(&fold, "aria-expanded", if is_unfolded { "true" } else { "false" });
                append(&element, &fold);
            }
            add_sign(elements, &element, row.tone);
            append(&element, &elements.new_element("span", "", &cell.text));
        }
        append(&line, &element);
    }
    line
}

fn cell_of(elements: &Elements, kind: Kind, cell: &cells::Shown) -> Element {
    let element = elements.new_element("td", kind.class(), &cell.text);
    if !cell.exact.is_empty() {
        set_attribute(&element, "title", &cell.exact);
    }
    if let Some(part) = cell.part {
        set_property(&element, "--part", &[&part.to_string(), "e-3"].concat());
    }
    element
}

fn set_property(element: &Element, name: &str, value: &str) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        // It fails for no property of ours.
        let _ = element.style().set_property(name, value);
    }
}
