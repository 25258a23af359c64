//! Allocator simulator below the allocator settings report: a form, findings, and a table of runs.

use crate::app::{App, On, Part, Shown};
use crate::dom::{append, clear, give_focus, number, set_attribute, set_flag, set_text};
use crate::elements::elements;
use engine::protocol::{Tone, Topic};
use ui::effect::Then;
use ui::tab::Tab;
use ui::what_if::view::{Basis, FormView, HEADINGS, RunRow, View, basis, form, view};
use ui::what_if::{Field, WhatIfAction};
use ui::why::view::sign;
use ui::{Action, State};
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent, MouseEvent};

elements! {
    HtmlElement: what_if, what_if_answer, what_if_capacity_error, what_if_cancel, what_if_form, what_if_line_error, what_if_proof,
        what_if_search, what_if_status;
    HtmlInputElement: what_if_capacity, what_if_empties, what_if_line;
}

/// Data attributes of the table's buttons: the event to go to, or the row to copy, show or open.
const ABOUT: [&str; 4] = ["data-run-oom", "data-run-copy", "data-run-show", "data-run-open"];

#[derive(Default)]
pub(super) struct Panel {
    is_seen: Shown<bool>,
    basis: Shown<Basis>,
    form: Shown<FormView>,
    fields: Shown<(String, String, bool)>,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Why);

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.what_if_form, "submit", |app, _, event| {
            event.prevent_default();
            act(app, WhatIfAction::Simulated);
        });
        on(&elements.what_if_search, "click", |app, _, _| act(app, WhatIfAction::Searched));
        on(&elements.what_if_cancel, "click", |app, elements, _| {
            // The button is about to disappear.
            give_focus(&elements.what_if_line);
            act(app, WhatIfAction::Canceled);
        });
        on(&elements.what_if_line, "input", |app, elements, _| {
            act(app, WhatIfAction::Typed(Field::Line, elements.what_if_line.value()));
        });
        on(&elements.what_if_capacity, "input", |app, elements, _| {
            act(app, WhatIfAction::Typed(Field::Capacity, elements.what_if_capacity.value()));
        });
        on(&elements.what_if_empties, "change", |app, elements, _| {
            act(app, WhatIfAction::EmptiesLeftOut(elements.what_if_empties.checked()));
        });
        on(&elements.what_if_answer, "click", |app, _, event| {
            if let Some(moment) = number(event, ABOUT[0]) {
                act(app, WhatIfAction::WentTo(moment));
            } else if let Some(row) = number(event, ABOUT[1]) {
                act(app, WhatIfAction::Copied(row as usize));
            } else if let Some(row) = number(event, ABOUT[2]) {
                act(app, WhatIfAction::Shown(row as usize));
            } else if let Some(row) = number(event, ABOUT[3]) {
                let compares = event.dyn_ref::<MouseEvent>().is_some_and(MouseEvent::shift_key);
                act(app, WhatIfAction::Opened(row as usize, if compares { Then::Compare } else { Then::Open }));
            }
        });
        // Keys used in the simulator must not reach the report that contains it.
        on(&elements.what_if, "keydown", |_, _, event| {
            let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key).unwrap_or_default();
            if key.starts_with("Arrow") || ["Enter", " ", "Home", "End"].contains(&key.as_str()) {
                event.stop_propagation();
            }
        });
    }

    fn show(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let is_seen = state.why.topic == Topic::Settings;
        if self.is_seen.changed(is_seen).is_some() {
            elements.what_if.set_hidden(!is_seen);
        }
        if !is_seen {
            return;
        }
        let simulator = &state.what_if;
        if self.basis.changed(basis(simulator, state)).is_some() {
            fill(elements, &view(simulator, state));
        }
        let fields = (simulator.settings.clone(), simulator.capacity.clone(), simulator.never_empties);
        if let Some((line, capacity, never_empties)) = self.fields.changed(fields) {
            elements.set_value(&elements.what_if_line, line);
            elements.set_value(&elements.what_if_capacity, capacity);
            elements.what_if_empties.set_checked(*never_empties);
        }
        if let Some(form) = self.form.changed(form(simulator, state)) {
            set_text(&elements.what_if_status, &form.status);
            elements.what_if_cancel.set_hidden(!form.can_cancel);
            set_flag(&elements.what_if, "aria-busy", !form.status.is_empty() && form.status.contains('…'));
            set_text(&elements.what_if_line_error, &form.line_error);
            set_flag(&elements.what_if_line, "aria-invalid", !form.line_error.is_empty());
            set_text(&elements.what_if_capacity_error, form.capacity_error);
            set_flag(&elements.what_if_capacity, "aria-invalid", !form.capacity_error.is_empty());
            elements.what_if_capacity.set_placeholder(&form.capacity_hint);
        }
    }
}

fn act(app: &App, action: WhatIfAction) {
    app.dispatch(Action::of(action));
}

fn fill(elements: &Elements, view: &View) {
    elements.what_if_form.set_hidden(!view.predicts);
    clear(&elements.what_if_proof);
    add_sentences(elements, &elements.what_if_proof, &view.proof);
    let focus = focus(elements);
    let place = &elements.what_if_answer;
    clear(place);
    if view.rows.is_empty() {
        return;
    }
    if !view.findings.is_empty() {
        let list = elements.add(place, "ul", "findings", "");
        add_sentences(elements, &list, &view.findings);
    }
    let table = new_table(elements, "", "Simulated runs");
    let head = elements.add(&elements.add(&table, "thead", "", ""), "tr", "", "");
    for (at, (name, meaning)) in HEADINGS.iter().enumerate() {
        let class = if at == 0 {
            "name"
        } else if at + 1 == HEADINGS.len() {
            "text"
        } else {
            "number"
        };
        let cell = elements.add(&head, "th", class, name);
        set_attribute(&cell, "scope", "col");
        set_attribute(&cell, "title", meaning);
    }
    let body = elements.add(&table, "tbody", "", "");
    for (place, row) in view.rows.iter().enumerate() {
        add_row(elements, &body, place, row);
    }
    if !view.fits.is_empty() {
        let title = "Smallest memory this run fits in";
        elements.add(place, "h4", "", title);
        let table = new_table(elements, "fits", title);
        let body = elements.add(&table, "tbody", "", "");
        for fit in &view.fits {
            let row = elements.add(&body, "tr", "", "");
            set_attribute(&elements.add(&row, "td", "", &fit.memory), "title", &fit.exact);
            elements.add(&row, "td", "name", &fit.settings);
            elements.add(&row, "td", "text", &fit.more);
        }
    }
    let again = focus.and_then(|selector| place.query_selector(&selector).ok().flatten());
    again.iter().for_each(give_focus);
}

fn add_sentences(elements: &Elements, list: &Element, sentences: &[(Tone, String)]) {
    for (tone, text) in sentences {
        let line = elements.add(list, "li", "", "");
        let [seen, aloud] = sign(*tone);
        if !seen.is_empty() {
            set_attribute(&elements.add(&line, "span", "sign", seen), "aria-hidden", "true");
            elements.add(&line, "span", "unseen", aloud);
        }
        line.set_class_name(match tone {
            Tone::Fact => "fact",
            Tone::Good => "good",
            Tone::Alarm => "alarm",
        });
        elements.add(&line, "span", "", text);
    }
}

/// Adds a table at the end of the answer.
fn new_table(elements: &Elements, class: &str, name: &str) -> Element {
    let frame = elements.add(&elements.what_if_answer, "div", "sheet", "");
    let table = elements.add(&frame, "table", class, "");
    set_attribute(&table, "aria-label", name);
    table
}

fn add_row(elements: &Elements, body: &Element, place: usize, row: &RunRow) {
    let line = elements.add(body, "tr", "", "");
    line.set_class_name(match () {
        () if row.is_out_of_memory => "out",
        () if row.is_recorded => "recorded",
        () => "",
    });
    let name = elements.add(&line, "td", "name", "");
    set_attribute(&name, "title", &row.settings);
    let frame = elements.add(&name, "div", "", "");
    let settings = elements.add(&frame, "span", "", "");
    // Each setting is an element, so that lines break only between settings.
    for part in row.settings.split_inclusive(',') {
        elements.add(&settings, "span", "", part);
    }
    let copy = elements.new_button("", "Copy", (ABOUT[1], &place.to_string()));
    set_attribute(&copy, "title", "Copy these settings");
    set_attribute(&copy, "aria-label", &["Copy ", &row.settings].concat());
    let show = elements.new_button("", "Show", (ABOUT[2], &place.to_string()));
    set_attribute(&show, "title", "Draw reserved and allocated bytes of this run in the timeline");
    set_attribute(&show, "aria-label", &["Show ", &row.settings].concat());
    set_flag(&show, "aria-pressed", row.is_shown);
    let open = elements.new_button("", "Open", (ABOUT[3], &place.to_string()));
    set_attribute(
        &open,
        "title",
        "Open this run like a recorded snapshot. Shift + click: compare the recording with it",
    );
    set_attribute(&open, "aria-label", &["Open ", &row.settings].concat());
    let buttons = elements.add(&frame, "span", "buttons", "");
    append(&buttons, &show);
    append(&buttons, &open);
    append(&buttons, &copy);
    for (text, exact) in &row.numbers {
        let cell = elements.add(&line, "td", "", text);
        if !exact.is_empty() {
            set_attribute(&cell, "title", exact);
        }
    }
    let cell = elements.add(&line, "td", "oom", "");
    match row.oom_moment {
        Some(moment) => {
            let button = elements.new_button("", &row.oom, (ABOUT[0], &moment.to_string()));
            set_attribute(&button, "title", "Go there");
            append(&cell, &button);
        }
        None => set_text(&cell, &row.oom),
    }
    let [short, words] = row.grade;
    set_attribute(&elements.add(&line, "td", "text", short), "title", words);
}

/// Returns a selector for the focused button of the table, to restore the focus after an update.
fn focus(elements: &Elements) -> Option<String> {
    let focus = elements.focus().filter(|focus| elements.what_if_answer.contains(Some(focus)))?;
    ABOUT.iter().find_map(|name| Some(["[", name, "=\"", &focus.get_attribute(name)?, "\"]"].concat()))
}
