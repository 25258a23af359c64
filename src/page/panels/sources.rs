//! Source view: the table of files and lines, and the text of a source file that the user has dropped.

mod focus;

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{
    append, clear, error_message, fill_table_head, focus_element, number_at, set_attribute, set_flag, set_style,
    set_text,
};
use crate::elements::elements;
use focus::move_focus;
use std::rc::Rc;
use ui::features::State;
use ui::features::source_rows::text_view::{LineBytes, MAX_TEXT_LINES, TextView, text_view};
use ui::features::source_rows::{Expansion, Highlight, RowKind, SourceRow, view};
use ui::features::sources::{SourceAction, SourceInputs, SourceText, inputs};
use ui::shell::action::Action;
use ui::text::tab::Tab;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement};

elements! {
    HtmlElement: source, source_close, source_lines, source_name, source_note, source_unit, sources, sources_list,
        sources_head, sources_rows;
}

/// A line of the source text that is shown.
struct SourceLine {
    element: Element,
    /// Button that shows the bytes of the line, if it has any.
    button: Option<Element>,
    /// [`Panel::update`] when the line last had bytes.
    update: u32,
}

#[derive(Default)]
pub(super) struct Panel {
    basis: LastShown<SourceInputs>,
    /// Selected file and line that were last scrolled into view.
    revealed: [Option<u32>; 2],
    shown_text: Option<Rc<SourceText>>,
    lines: Vec<SourceLine>,
    /// Indices of the lines with a button.
    with_bytes: Vec<usize>,
    /// Number of updates of the buttons, modulo 2^32.
    update: u32,
    /// True until the line with the most bytes of a new text has been scrolled into view.
    reveal_pending: bool,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Sources);

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.sources_rows, |event| {
            Some(SourceAction::RowClicked(number_at(event, "data-row")? as usize).into())
        });
        on.click(&elements.source_lines, |event| {
            Some(SourceAction::LineClicked(number_at(event, "data-beside")?).into())
        });
        on.click(&elements.source_close, |_| Some(SourceAction::Closed.into()));
        on.event(&elements.sources_rows, "keydown", |_, elements, event| move_focus(elements, event));
        on.event(&elements.source_lines, "keydown", |_, elements, event| move_focus(elements, event));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if self.basis.update(inputs(&state.sources, state)).is_none() {
            return;
        }
        let selected = inputs(&state.sources, state).selected;
        let table = view(&state.sources, state);
        // The first column is the file, the second one its bar.
        fill_table_head(&elements.sources_head, [("", "")].iter().chain(&table.heads));
        let [now, other] = table.margin_heads;
        set_text(&elements.source_unit, now);
        if let Some(next) = elements.source_unit.next_element_sibling() {
            set_text(&next, other);
        }
        fill(elements, &table.rows);
        let text = text_view(&state.sources, state);
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
                    scroll_to(list, &current);
                }
            }
        }
    }
}

impl Panel {
    fn show_text(&mut self, elements: &Elements, view: &TextView) {
        set_text(&elements.source_name, &view.title);
        set_attribute(&elements.source_name, "title", &view.title);
        set_text(&elements.source_note, &view.note);
        elements.source_note.set_hidden(view.note.is_empty());
        if self.shown_text.as_ref().is_none_or(|filled| !Rc::ptr_eq(filled, &view.text)) {
            self.shown_text = Some(view.text.clone());
            self.with_bytes.clear();
            let line = |element| SourceLine { element, button: None, update: self.update };
            self.lines = add_lines(elements, &view.text.text).into_iter().map(line).collect();
            elements.source.set_scroll_top(0);
            self.reveal_pending = true;
        }
        self.show_margins(elements, &view.lines);
        let heaviest = view.lines.first().and_then(|margin| self.lines.get(line_index(margin)?)?.button.as_ref());
        if let Some(heaviest) = heaviest {
            if std::mem::take(&mut self.reveal_pending) {
                heaviest.scroll_into_view();
            }
            set_attribute(heaviest, "tabindex", "0");
        }
    }

    /// Updates the buttons with the bytes of lines, and removes those of lines that no longer have bytes.
    fn show_margins(&mut self, elements: &Elements, margins: &[LineBytes]) {
        self.update = self.update.wrapping_add(1);
        let before = std::mem::take(&mut self.with_bytes);
        for margin in margins {
            let Some(index) = line_index(margin) else { continue };
            let Some(SourceLine { element, button, update }) = self.lines.get_mut(index) else { continue };
            // Buttons are kept where possible, so that the focused one keeps the focus.
            let button = button.get_or_insert_with(|| {
                let button = elements.new_button("", "", ("data-beside", &margin.line.to_string()));
                for class in ["now", "peak"] {
                    elements.append_new(&button, "span", class, "");
                }
                append(element, &button);
                element.set_class_name("has-bytes");
                button
            });
            *update = self.update;
            self.with_bytes.push(index);
            let cells = [button.first_element_child(), button.last_element_child()];
            for (cell, text) in cells.into_iter().flatten().zip([&margin.now, &margin.peak]) {
                set_text(&cell, text);
            }
            set_attribute(button, "tabindex", "-1");
            set_attribute(button, "title", &margin.exact);
            set_attribute(button, "aria-label", &["Line ", &margin.line.to_string(), ": ", &margin.exact].concat());
            show_marks(button, margin.highlight);
            set_bar(button, margin.per_mille);
        }
        for index in before {
            if let Some(line) = self.lines.get_mut(index).filter(|line| line.update != self.update)
                && let Some(button) = line.button.take()
            {
                button.remove();
                line.element.set_class_name("");
            }
        }
    }
}

/// Returns the index of a line in the text.
fn line_index(margin: &LineBytes) -> Option<usize> {
    (margin.line as usize).checked_sub(1)
}

/// Scrolls a list so that a row is visible.
fn scroll_to(list: &HtmlElement, row: &Element) {
    let (area, row) = (list.get_bounding_client_rect(), row.get_bounding_client_rect());
    // The header covers the height of one row.
    if row.top() < area.top() + row.height() || row.bottom() > area.bottom() {
        let further = row.top() - area.top() - area.height() / 3.0;
        list.set_scroll_top(list.scroll_top() + further as i32);
    }
}

/// Marks a line as pressed if the search is for this line, and as current if the selected allocation was allocated
/// there.
fn show_marks(button: &Element, marked: Highlight) {
    set_flag(button, "aria-pressed", marked.is_searched);
    set_flag(button, "aria-current", marked.is_current);
}

/// Sets the length of the bar behind an element, in thousandths of the full length.
fn set_bar(element: &Element, thousandths: u32) {
    set_style(element, "--part", &(thousandths.to_string() + "e-3"));
}

/// Creates an element for each line of a text, up to a maximum number of lines.
fn add_lines(elements: &Elements, text: &str) -> Vec<Element> {
    clear(&elements.source_lines);
    let mut lines = Vec::new();
    for text in text.lines().take(MAX_TEXT_LINES) {
        let line = elements.append_new(&elements.source_lines, "div", "", "");
        // Code is shown as it is, so that it can be copied.
        line.set_text_content(Some(text));
        set_attribute(&line, "data-line", &(lines.len() + 1).to_string());
        lines.push(line);
    }
    lines
}

fn fill(elements: &Elements, rows: &[SourceRow]) {
    // Rebuilding the table must not move the focus. If the view itself has the focus, the first row gets it.
    let focus = elements.focused_element();
    let waits = elements.has_focus(&elements.sources);
    let focus = focus.and_then(|focus| focus.get_attribute("data-row")).or_else(|| waits.then(|| "0".to_owned()));
    clear(&elements.sources_rows);
    for (place, row) in rows.iter().enumerate() {
        let (class, expanded) = match row.kind {
            RowKind::File(Expansion::Expanded) => ("file", Some("true")),
            RowKind::File(Expansion::Collapsed) => ("file", Some("false")),
            RowKind::Line => ("line", None),
            RowKind::Note => ("note", None),
        };
        let line = elements.append_new(&elements.sources_rows, "tr", class, "");
        let head = elements.append_new(&line, "th", "", "");
        set_attribute(&head, "scope", "row");
        if row.kind == RowKind::Note {
            set_text(&head, &row.label);
        } else {
            let place = place.to_string();
            let button = elements.new_button("", &row.label, ("data-row", &place));
            let is_first = if focus.is_some() { focus.as_ref() == Some(&place) } else { place == "0" };
            set_attribute(&button, "tabindex", if is_first { "0" } else { "-1" });
            match expanded {
                Some(expanded) => {
                    set_attribute(&button, "aria-expanded", expanded);
                    set_flag(&button, "aria-current", row.highlight.is_current);
                }
                None => {
                    set_attribute(&button, "aria-label", &["line ", &row.label].concat());
                    show_marks(&button, row.highlight);
                }
            }
            set_attribute(&head, "title", &row.path);
            append(&head, &button);
            if focus.as_ref() == Some(&place) {
                focus_element(&button);
            }
        }
        let folder = if expanded.is_some() { row.folder() } else { &row.code };
        for (class, text, title) in [
            ("path", folder, folder),
            ("bytes", &row.bytes, &row.exact),
            ("share", &row.share, ""),
            ("count", &row.count, ""),
            ("peak", &row.peak, &row.exact_peak),
        ] {
            let cell = elements.append_new(&line, "td", class, text);
            if !title.is_empty() {
                set_attribute(&cell, "title", title);
            }
            if class == "share" {
                set_bar(&cell, row.per_mille);
            }
        }
    }
}

fn handle_action(app: &App, action: SourceAction) {
    app.dispatch(Action::feature(action));
}

/// Reads source text from one of the files that the user gave last.
pub(crate) fn read(app: &'static App, place: usize, name: String) {
    let Some(file) = app.files.take_source(place) else { return };
    app.busy.spawn(async move {
        let read = match JsFuture::from(file.text()).await {
            Ok(text) => Ok(SourceText { name, text: text.as_string().unwrap_or_default() }),
            Err(error) => Err(name + " could not be read: " + &error_message(&error) + "."),
        };
        handle_action(app, SourceAction::Read(read));
    });
}
