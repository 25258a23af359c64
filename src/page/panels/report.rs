//! Creates the elements of a report: its summary sentences, charts and tables.

use super::legend::slot_colour;
use super::rank_map::new_map;
use crate::dom::{Dom, append, set_attribute, set_flag, set_style, set_text};
use crate::theme::Theme;
use protocol::{DeltaBox, Tone};
use ui::features::insights::cells;
use ui::features::insights::view::{
    ChartKind, ChartView, ColumnKind, SheetRowView, SheetView, StackView, StatementView, tone_symbol,
};
use ui::text::size_text::{DefaultUnit, understood};
use web_sys::Element;

/// Adds an icon for the tone of a sentence (such as a warning), with a word for screen readers.
fn add_sign(dom: &Dom, to: &Element, tone: Tone) {
    let [seen, aloud] = tone_symbol(tone);
    if !seen.is_empty() {
        set_attribute(&dom.append_new(to, "span", "sign", seen), "aria-hidden", "true");
        dom.append_new(to, "span", "unseen", aloud);
    }
}

/// Creates a summary sentence with its chart and its recommended fix. Maps are shown below all sentences.
pub(super) fn new_statement(dom: &Dom, place: usize, statement: &StatementView, theme: &Theme) -> Element {
    let line = dom.new_element("li", statement.tone.name(), "");
    let text = dom.new_element(if statement.has_evidence { "button" } else { "p" }, "", "");
    set_attribute(&text, "data-item", &place.to_string());
    if statement.has_evidence {
        set_attribute(&text, "type", "button");
        set_attribute(&text, "data-shows", "");
        set_attribute(&text, "title", "Show in the timeline");
    }
    add_sign(dom, &text, statement.tone);
    dom.append_new(&text, "span", "", &statement.text);
    if statement.has_evidence {
        set_attribute(&dom.append_new(&text, "span", "show", "Show"), "aria-hidden", "true");
    }
    append(&line, &text);
    if let Some(chart) = statement.chart.as_ref().filter(|chart| chart.map.is_none()) {
        append(&line, &new_chart(dom, chart, theme));
    }
    if !statement.fix.is_empty() {
        let fix = dom.append_new(&line, "p", "fix", "");
        dom.append_new(&fix, "b", "", "Fix");
        dom.append_new(&fix, "span", "", &statement.fix);
    }
    line
}

/// Creates a chart. The style sheet sizes its bars.
pub(super) fn new_chart(dom: &Dom, chart: &ChartView, theme: &Theme) -> Element {
    if let Some(map) = &chart.map {
        let figure = new_map(dom, map, theme);
        dom.append_new(&figure, "p", "", &chart.text);
        return figure;
    }
    if chart.kind == ChartKind::Delta {
        let figure = dom.new_element("div", "chart delta", "");
        let boxes = dom.append_new(&figure, "div", "marks", "");
        set_attribute(&boxes, "aria-hidden", "true");
        let rows = chart.boxes.iter().map(|of| of.depth + 1).max().unwrap_or(0);
        set_style(&boxes, "--rows", &rows.to_string());
        let share =
            |part: u32| [&(100.0 * f64::from(part) / f64::from(DeltaBox::FULL_WIDTH)).to_string(), "%"].concat();
        for of in &chart.boxes {
            let element = dom.append_new(&boxes, "i", of.direction, &of.label);
            set_attribute(&element, "title", &of.title);
            set_style(&element, "left", &share(of.left));
            set_style(&element, "width", &share(of.width));
            set_style(&element, "--row", &of.depth.to_string());
        }
        dom.append_new(&figure, "p", "", &chart.text);
        return figure;
    }
    let is_course = chart.kind == ChartKind::Curve;
    let figure = dom.new_element("div", if is_course { "chart course" } else { "chart parts" }, "");
    let bars = dom.append_new(&figure, "div", "marks", "");
    set_attribute(&bars, "aria-hidden", "true");
    let names = (!is_course).then(|| dom.append_new(&figure, "ul", "", ""));
    for mark in &chart.marks {
        let bar = dom.append_new(&bars, "i", "", "");
        set_attribute(&bar, "title", &mark.label);
        set_style(&bar, "--part", &[&mark.per_mille.to_string(), "e-3"].concat());
        let name = names.as_ref().map(|names| dom.append_new(names, "li", "", &mark.label));
        if let Some(slot) = mark.slot {
            let colour = slot_colour(&theme.look.palette, slot);
            [Some(&bar), name.as_ref()].into_iter().flatten().for_each(|of| set_style(of, "--mark", &colour));
        }
    }
    if !chart.text.is_empty() {
        dom.append_new(&figure, "p", "", &chart.text);
    }
    figure
}

/// Creates a table with its heading. Also returns the element to add rows to, or `None` if the table is folded or
/// empty.
pub(super) fn new_sheet(dom: &Dom, place: usize, sheet: &SheetView) -> (Element, Option<Element>) {
    let at = place.to_string();
    let section = dom.new_element("section", "", "");
    set_attribute(&section, "data-sheet", &sheet.key);
    let id = ["why-sheet-", &at].concat();
    let header = dom.new_element("header", "", "");
    let title = dom.append_new(&header, "h3", "", "");
    set_attribute(&title, "id", &id);
    let fold = dom.new_button("fold", &sheet.title, ("data-fold", &at));
    set_flag(&fold, "aria-expanded", !sheet.is_collapsed);
    append(&title, &fold);
    if sheet.is_collapsed {
        append(&section, &header);
        return (section, None);
    }
    if let Some((threshold, short)) = &sheet.threshold {
        let label = dom.new_element("label", "", &[&threshold.label, " "].concat());
        let (field, value) = (dom.new_element("input", "", ""), threshold.value.to_string());
        let is_size = !short.is_empty();
        for (name, value) in [
            ("type", if is_size { "text" } else { "number" }),
            ("min", "0"),
            ("step", "any"),
            ("data-threshold", &at),
            ("value", if is_size { short } else { &value }),
            ("title", "Press Enter to apply. Leave empty for the default."),
        ] {
            set_attribute(&field, name, value);
        }
        append(&label, &field);
        if is_size {
            set_attribute(&field, "data-size", "B");
            dom.append_new(&label, "span", "short", &understood(short, DefaultUnit::Byte));
        } else {
            dom.append_new(&label, "span", "", &[" ", &threshold.unit].concat());
        }
        append(&header, &label);
    }
    if !sheet.rows.is_empty() {
        let copy = dom.new_button("copy", "Copy", ("data-copy", &at));
        set_attribute(&copy, "title", "Copy this table as tab-separated values");
        set_attribute(&copy, "aria-label", &["Copy: ", &sheet.title].concat());
        append(&header, &copy);
    }
    append(&section, &header);
    if !sheet.note.is_empty() {
        dom.append_new(&section, "p", "note", &sheet.note);
    }
    if sheet.rows.is_empty() {
        dom.append_new(&section, "p", "none", "None.");
        return (section, None);
    }
    let (frame, body) = new_frame(dom, sheet, &id);
    append(&section, &frame);
    if !sheet.more.is_empty() {
        append(&section, &dom.new_button("more", &sheet.more, ("data-more", &at)));
    }
    if !sheet.not_shown.is_empty() {
        dom.append_new(&section, "p", "none", &[&sheet.not_shown, ": the command line lists all"].concat());
    }
    (section, Some(body))
}

/// Creates a table with all its rows.
pub(super) fn new_table(dom: &Dom, sheet: &SheetView, title: &str) -> Element {
    let (frame, body) = new_frame(dom, sheet, title);
    sheet.rows.iter().for_each(|row| add_row(dom, &body, &sheet.columns, row));
    frame
}

/// Creates a table without rows. Also returns the element to add rows to.
fn new_frame(dom: &Dom, sheet: &SheetView, title: &str) -> (Element, Element) {
    let frame = dom.new_element("div", "sheet", "");
    let table = dom.new_element("table", "", "");
    set_attribute(&table, "role", "grid");
    set_attribute(&table, "aria-labelledby", title);
    let part = |name: &str| {
        let part = dom.new_element(name, "", "");
        append(&table, &part);
        part
    };
    let head = dom.new_element("tr", "", "");
    for (label, kind) in &sheet.columns {
        let cell = dom.new_element("th", kind.css_class(), label);
        set_attribute(&cell, "scope", "col");
        append(&head, &cell);
    }
    append(&part("thead"), &head);
    let body = part("tbody");
    if !sheet.total.is_empty() {
        let line = dom.new_element("tr", "", "");
        for (cell, (_, kind)) in sheet.total.iter().zip(&sheet.columns) {
            append(&line, &new_cell(dom, *kind, cell));
        }
        append(&part("tfoot"), &line);
    }
    append(&frame, &table);
    (frame, body)
}

/// Adds a row to the body of a table, followed by the row's stack if it is unfolded.
pub(super) fn add_row(dom: &Dom, body: &Element, columns: &[(String, ColumnKind)], row: &SheetRowView) {
    append(body, &new_row(dom, columns, row));
    if let StackView::Visible(lines, place) = &row.stack {
        let cell = dom.new_element("td", "", "");
        set_attribute(&cell, "colspan", &columns.len().to_string());
        if !place.is_empty() {
            let item = row.index.to_string();
            for (text, name, attribute) in
                [("‹", "Previous stack (,)", "data-back"), ("›", "Next stack (S)", "data-next")]
            {
                let button = dom.new_button("unfold", text, (attribute, &item));
                set_attribute(&button, "aria-label", name);
                set_attribute(&button, "title", name);
                append(&cell, &button);
            }
            dom.append_new(&cell, "span", "", place);
        }
        let list = dom.new_element("ol", "", "");
        for line in lines {
            dom.append_new(&list, "li", "", line);
        }
        append(&cell, &list);
        let below = dom.new_element("tr", "stack", "");
        append(&below, &cell);
        append(body, &below);
    }
}

fn new_row(dom: &Dom, columns: &[(String, ColumnKind)], row: &SheetRowView) -> Element {
    let line = dom.new_element("tr", row.tone.name(), "");
    let place = row.index.to_string();
    set_attribute(&line, "data-item", &place);
    if row.has_evidence {
        set_attribute(&line, "data-shows", "");
    }
    for ((cell, plain), (_, kind)) in row.cells.iter().zip(columns) {
        let element = new_cell(dom, *kind, cell);
        set_attribute(&element, "data-value", plain);
        if *kind == ColumnKind::Name {
            set_text(&element, "");
            set_style(&element, "--depth", &row.depth.min(24).to_string());
            if row.stack != StackView::None {
                let is_unfolded = matches!(row.stack, StackView::Visible(..));
                let fold = dom.new_button("unfold", if is_unfolded { "▾" } else { "▸" }, ("data-unfold", &place));
                set_attribute(&fold, "tabindex", "-1");
                set_attribute(&fold, "aria-label", "Stack");
                set_attribute(&fold, "title", "Show or hide the stack (Space)");
                set_flag(&fold, "aria-expanded", is_unfolded);
                append(&element, &fold);
            }
            add_sign(dom, &element, row.tone);
            dom.set_name(&dom.append_new(&element, "span", "", ""), &cell.text, cell.shared);
        } else if cell.shared > 0 {
            set_text(&element, "");
            dom.set_name(&dom.append_new(&element, "span", "", ""), &cell.text, cell.shared);
        }
        append(&line, &element);
    }
    line
}

fn new_cell(dom: &Dom, kind: ColumnKind, cell: &cells::CellView) -> Element {
    let element = dom.new_element("td", kind.css_class(), &cell.text);
    if !cell.exact.is_empty() {
        set_attribute(&element, "title", &cell.exact);
    }
    if let Some(part) = cell.per_mille {
        set_style(&element, "--part", &[&part.to_string(), "e-3"].concat());
    }
    element
}
