//! The view "By source": the table of files and lines, and the dropped file beside it.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use std::rc::Rc;
use ui::State;
use ui::source_rows::{MOST_TEXT_LINES, Margin, Marked, Row, RowKind, TextView, Unfolded, text, view};
use ui::sources::{Basis, SourceText, basis};
use ui::views::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

#[derive(Default)]
pub(super) struct Panel {
    basis: Shown<Basis>,
    /// What was selected when it was brought into view last.
    revealed: [Option<u32>; 2],
    /// The text whose lines are on the page…
    filled: Option<Rc<SourceText>>,
    /// …those lines…
    lines: Vec<Element>,
    /// …and what stands beside those that have bytes.
    beside: Vec<Option<Element>>,
    /// Whether the heaviest line is still to be brought into view.
    reveals: bool,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if state.views.seen() != Some(Tab::Sources) || self.basis.changed(basis(state)).is_none() {
            return;
        }
        let selected = basis(state).selected;
        let table = view(state);
        set_text(&elements.sources_unit, table.unit);
        set_text(&elements.source_unit, table.unit);
        fill(elements, &table.rows);
        let text = text(state);
        elements.source.set_hidden(text.is_none());
        match &text {
            None => {
                let (basis, revealed) = (std::mem::take(&mut self.basis), self.revealed);
                *self = Panel { basis, revealed, ..Panel::default() };
            }
            Some(text) => self.show_text(elements, text),
        }
        if std::mem::replace(&mut self.revealed, selected) != selected {
            for list in [&elements.sources_list, &elements.source] {
                if let Ok(Some(current)) = list.query_selector("[aria-current=\"true\"]") {
                    bring(list, &current);
                }
            }
        }
    }

    fn show_text(&mut self, elements: &Elements, view: &TextView) {
        set_text(&elements.source_name, &view.title);
        set_attribute(&elements.source_name, "title", &view.title);
        set_text(&elements.source_note, &view.note);
        elements.source_note.set_hidden(view.note.is_empty());
        if self.filled.as_ref().is_none_or(|filled| !Rc::ptr_eq(filled, &view.text)) {
            self.filled = Some(view.text.clone());
            self.beside.clear();
            self.lines = write(elements, &view.text.text);
            elements.source.set_scroll_top(0);
            self.reveals = true;
        }
        self.mark(elements, &view.margins);
        if let Some(heaviest) = view.margins.first().and_then(|margin| self.beside.get(place(margin)?)?.as_ref()) {
            if std::mem::take(&mut self.reveals) {
                heaviest.scroll_into_view();
            }
            set_attribute(heaviest, "tabindex", "0");
        }
    }

    /// Writes bytes beside the lines that have them, and takes them from those that had.
    fn mark(&mut self, elements: &Elements, margins: &[Margin]) {
        let mut before = std::mem::take(&mut self.beside);
        before.resize(self.lines.len(), None);
        self.beside.resize(self.lines.len(), None);
        for margin in margins {
            let Some(at) = place(margin).filter(|&at| at < self.lines.len()) else { continue };
            let line = &self.lines[at];
            // One that stays keeps the focus.
            let button = before[at].take().unwrap_or_else(|| {
                let button = elements.new_element("button", "", "");
                set_attribute(&button, "type", "button");
                set_attribute(&button, "data-beside", &margin.line.to_string());
                for class in ["now", "peak"] {
                    append(&button, &elements.new_element("span", class, ""));
                }
                append(line, &button);
                line.set_class_name("has-bytes");
                button
            });
            let cells = [button.first_element_child(), button.last_element_child()];
            for (cell, text) in cells.into_iter().flatten().zip([&margin.now, &margin.peak]) {
                set_text(&cell, text);
            }
            set_attribute(&button, "tabindex", "-1");
            set_attribute(&button, "title", &margin.exact);
            set_attribute(&button, "aria-label", &["Line ", &margin.line.to_string(), ": ", &margin.exact].concat());
            show_marks(&button, margin.marked);
            bar(&button, margin.part);
            self.beside[at] = Some(button);
        }
        for (line, button) in self.lines.iter().zip(before) {
            if let Some(button) = button {
                button.remove();
                line.set_class_name("");
            }
        }
    }
}

/// The place of a margin's line among the lines, which are numbered from one.
fn place(margin: &Margin) -> Option<usize> {
    (margin.line as usize).checked_sub(1)
}

/// Scrolls a list so that a row of it is seen, if it is not.
fn bring(list: &HtmlElement, row: &Element) {
    let (area, row) = (list.get_bounding_client_rect(), row.get_bounding_client_rect());
    // The header lies over the first of them.
    if row.top() < area.top() + row.height() || row.bottom() > area.bottom() {
        let further = row.top() - area.top() - area.height() / 3.0;
        list.set_scroll_top(list.scroll_top() + further as i32);
    }
}

/// How a line stands out: pressed when it is searched for, current when the selection was made there.
fn show_marks(button: &Element, marked: Marked) {
    set_attribute(button, "aria-pressed", if marked.is_picked { "true" } else { "false" });
    set_attribute(button, "aria-current", if marked.is_current { "true" } else { "false" });
}

/// How long the bar behind an element is, in thousandths.
fn bar(element: &Element, thousandths: u32) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        // It fails for no property of ours.
        let _ = element.style().set_property("--part", &(thousandths.to_string() + "e-3"));
    }
}

/// The lines of a text, one element each: a long file has many.
fn write(elements: &Elements, text: &str) -> Vec<Element> {
    clear(&elements.source_lines);
    let mut lines = Vec::new();
    for text in text.lines().take(MOST_TEXT_LINES) {
        let line = elements.new_element("div", "", text);
        set_attribute(&line, "data-line", &(lines.len() + 1).to_string());
        append(&elements.source_lines, &line);
        lines.push(line);
    }
    lines
}

fn fill(elements: &Elements, rows: &[Row]) {
    // A redrawn table must not take the focus away from who works in it; who waits for it gets the first row.
    let focus = elements.document.active_element();
    let waits = focus.as_ref().is_some_and(|focus| focus.is_same_node(Some(&elements.sources)));
    let focus = focus.and_then(|focus| focus.get_attribute("data-row")).or_else(|| waits.then(|| "0".to_owned()));
    clear(&elements.sources_rows);
    for (place, row) in rows.iter().enumerate() {
        let (class, expanded) = match row.kind {
            RowKind::File(Unfolded::Yes) => ("file", Some("true")),
            RowKind::File(Unfolded::No) => ("file", Some("false")),
            RowKind::Line => ("line", None),
            RowKind::Note => ("note", None),
        };
        let line = elements.new_element("tr", class, "");
        let head = elements.new_element("th", "", "");
        set_attribute(&head, "scope", "row");
        append(&line, &head);
        append(&elements.sources_rows, &line);
        if row.kind == RowKind::Note {
            set_text(&head, &row.label);
        } else {
            let button = elements.new_element("button", "", &row.label);
            let place = place.to_string();
            set_attribute(&button, "type", "button");
            set_attribute(&button, "data-row", &place);
            let is_first = if focus.is_some() { focus.as_ref() == Some(&place) } else { place == "0" };
            set_attribute(&button, "tabindex", if is_first { "0" } else { "-1" });
            match expanded {
                Some(expanded) => {
                    set_attribute(&button, "aria-expanded", expanded);
                    set_attribute(&button, "aria-current", if row.marked.is_current { "true" } else { "false" });
                }
                None => {
                    set_attribute(&button, "aria-label", &["line ", &row.label].concat());
                    show_marks(&button, row.marked);
                }
            }
            set_attribute(&head, "title", &row.path);
            append(&head, &button);
            if focus.as_ref() == Some(&place) {
                let _ = button.dyn_ref::<HtmlElement>().map(HtmlElement::focus);
            }
        }
        let folder = if expanded.is_some() { row.folder() } else { "" };
        for (class, text, title) in [
            ("path", folder, folder),
            ("bytes", &row.bytes, &row.exact),
            ("share", &row.share, ""),
            ("count", &row.count, ""),
            ("peak", &row.peak, &row.exact_peak),
        ] {
            let cell = elements.new_element("td", class, text);
            if !title.is_empty() {
                set_attribute(&cell, "title", title);
            }
            if class == "share" {
                bar(&cell, row.per_mille);
            }
            append(&line, &cell);
        }
    }
}
