//! The view "By source": the table of files and lines, and the dropped file beside it.

use super::Shown;
use crate::page::dom::{Elements, append, clear, set_attribute, set_text};
use crate::ui::State;
use crate::ui::sources::{
    MOST_TEXT_LINES, Margin, Row, RowKind, SourceText, SourceView, TextView, Unfolded, text, view,
};
use crate::ui::views::Tab;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

#[derive(Default)]
pub(super) struct Panel {
    table: Shown<SourceView>,
    text: Shown<Option<TextView>>,
    /// The text whose lines are on the page.
    filled: Option<Rc<SourceText>>,
    /// The lines that have bytes beside them.
    marked: Vec<Element>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if state.views.seen() != Some(Tab::Sources) {
            return;
        }
        if let Some(view) = self.table.changed(view(state)) {
            set_text(&elements.sources_unit, view.unit);
            fill(elements, &view.rows);
        }
        if let Some(view) = self.text.changed(text(state)).cloned() {
            elements.source.set_hidden(view.is_none());
            let Some(view) = view else { return self.filled = None };
            set_text(&elements.source_name, &view.title);
            let is_new = self.filled.as_ref() != Some(&view.text);
            if is_new {
                write(elements, &view.text.text);
                self.filled = Some(view.text.clone());
                self.marked.clear();
            }
            let had_none = self.marked.is_empty();
            self.mark(elements, &view.margins);
            if had_none && let Some(heaviest) = self.marked.first() {
                heaviest.scroll_into_view();
            }
        }
    }

    /// Writes bytes beside the lines that have them, and takes them from those that had.
    fn mark(&mut self, elements: &Elements, margins: &[Margin]) {
        for line in self.marked.drain(..) {
            label(&line, None);
        }
        for margin in margins {
            let line = ["[data-line=\"", &margin.line.to_string(), "\"]"].concat();
            if let Ok(Some(line)) = elements.source_lines.query_selector(&line) {
                label(&line, Some(margin));
                self.marked.push(line);
            }
        }
    }
}

fn label(line: &Element, margin: Option<&Margin>) {
    let text = |class: &str, text: &str| {
        if let Ok(Some(cell)) = line.query_selector(class) {
            set_text(&cell, text);
        }
    };
    text(".now", margin.map_or("", |margin| &margin.now));
    text(".peak", margin.map_or("", |margin| &margin.peak));
    line.set_class_name(if margin.is_some() { "has-bytes" } else { "" });
    bar(line, margin.map_or(0, |margin| margin.part));
}

/// How long the bar behind an element is, in thousandths.
fn bar(element: &Element, thousandths: u64) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        // It fails for no property of ours.
        let _ = element.style().set_property("--part", &(thousandths.to_string() + "e-3"));
    }
}

fn write(elements: &Elements, text: &str) {
    clear(&elements.source_lines);
    for (number, text) in (1..).zip(text.lines().take(MOST_TEXT_LINES)) {
        let line = elements.new_element("button", "", "");
        set_attribute(&line, "type", "button");
        set_attribute(&line, "tabindex", "-1");
        set_attribute(&line, "data-line", &number.to_string());
        append(&line, &elements.new_element("span", "now", ""));
        append(&line, &elements.new_element("span", "peak", ""));
        append(&line, &elements.new_element("span", "number", &number.to_string()));
        append(&line, &elements.new_element("code", "", text));
        append(&elements.source_lines, &line);
    }
}

fn fill(elements: &Elements, rows: &[Row]) {
    // A redrawn table must not take the focus away from who works in it.
    let focus = elements.document.active_element().and_then(|focus| focus.get_attribute("data-row"));
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
        set_attribute(&head, "title", &row.place);
        if row.kind == RowKind::Note {
            set_text(&head, &row.label);
        } else {
            let button = elements.new_element("button", "", &row.label);
            let place = place.to_string();
            set_attribute(&button, "type", "button");
            set_attribute(&button, "data-row", &place);
            set_attribute(&button, "tabindex", if place == "0" { "0" } else { "-1" });
            match expanded {
                Some(expanded) => set_attribute(&button, "aria-expanded", expanded),
                None => {
                    set_attribute(&button, "aria-pressed", if row.is_picked { "true" } else { "false" });
                    set_attribute(&button, "aria-label", &["line ", &row.label].concat());
                }
            }
            append(&head, &button);
            if focus.as_ref() == Some(&place) {
                let button = button.clone();
                append(&line, &head);
                append(&elements.sources_rows, &line);
                let _ = button.dyn_ref::<HtmlElement>().map(HtmlElement::focus);
            }
        }
        append(&line, &head);
        let share = [(row.share / 10).to_string(), ".".to_owned(), (row.share % 10).to_string(), " %".to_owned()];
        let path = if expanded.is_some() { row.place.as_str() } else { "" };
        for (class, text) in [
            ("path", path),
            ("bytes", &row.bytes),
            ("share", &share.concat()),
            ("count", &row.count),
            ("peak", &row.peak),
        ] {
            let cell = elements.new_element("td", class, text);
            match class {
                "bytes" => set_attribute(&cell, "title", &row.exact),
                "share" => bar(&cell, row.share),
                _ => {}
            }
            append(&line, &cell);
        }
        append(&elements.sources_rows, &line);
    }
}
