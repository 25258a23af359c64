//! Allocator simulator below the allocator settings report: a form, findings, and a table of runs.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, clear, focus_element, number_at, set_attribute, set_flag, set_text};
use crate::elements::elements;
use protocol::{Tone, Topic, WhatIfProgram};
use ui::features::State;
use ui::features::insights::view::tone_symbol;
use ui::features::what_if::view::{FormView, HEADINGS, ResultInputs, ResultView, RunRow, form, result_inputs, view};
use ui::features::what_if::{ProgramChange, SimulatorField, WhatIfAction};
use ui::shell::action::Action;
use ui::state::effect::AfterWrite;
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, KeyboardEvent, MouseEvent};

elements! {
    HtmlElement: what_if, what_if_answer, what_if_cancel, what_if_form, what_if_line_error, what_if_proof, what_if_search,
        what_if_size_error, what_if_status;
    HtmlInputElement: what_if_capacity, what_if_empties, what_if_line, what_if_no_record_stream, what_if_one_stream,
        what_if_preallocate, what_if_step_ends, what_if_total;
}

/// Data attributes of the table's buttons: the event to go to, or the row to copy, show or open.
const BUTTON_ATTRIBUTES: [&str; 4] = ["data-run-oom", "data-run-copy", "data-run-show", "data-run-open"];

#[derive(Default)]
pub(super) struct Panel {
    is_seen: LastShown<bool>,
    basis: LastShown<ResultInputs>,
    form: LastShown<FormView>,
    fields: LastShown<(String, [String; 3], bool, WhatIfProgram)>,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Insights);

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.what_if_form, "submit", |app, _, event| {
            event.prevent_default();
            handle_action(app, WhatIfAction::Simulate);
        });
        on.click(&elements.what_if_search, |_| Some(WhatIfAction::Search.into()));
        on.event(&elements.what_if_cancel, "click", |app, elements, _| {
            // The button is about to disappear.
            focus_element(&elements.what_if_line);
            handle_action(app, WhatIfAction::Canceled);
        });
        // One listener for all fields: text and checkboxes send `input`.
        on.event(&elements.what_if_form, "input", |app, elements, event| {
            let target = event.target();
            let is = |input: &HtmlInputElement| target.as_ref() == Some(input.as_ref());
            let line = std::iter::once((SimulatorField::Settings, &elements.what_if_line));
            if let Some((field, input)) = line.chain(size_fields(elements)).find(|(_, input)| is(input)) {
                handle_action(app, WhatIfAction::Typed(field, input.value()));
            }
            if let Some((change, input)) = change_fields(elements).into_iter().find(|(_, input)| is(input)) {
                handle_action(app, WhatIfAction::ProgramSet(change, input.checked()));
            }
            if is(&elements.what_if_empties) {
                handle_action(app, WhatIfAction::SkipEmptyCacheSet(elements.what_if_empties.checked()));
            }
        });
        on.event(&elements.what_if_answer, "click", |app, _, event| {
            if let Some(moment) = number_at(event, BUTTON_ATTRIBUTES[0]) {
                handle_action(app, WhatIfAction::OomClicked(moment));
            } else if let Some(row) = number_at(event, BUTTON_ATTRIBUTES[1]) {
                handle_action(app, WhatIfAction::Copied(row as usize));
            } else if let Some(row) = number_at(event, BUTTON_ATTRIBUTES[2]) {
                handle_action(app, WhatIfAction::DrawToggled(row as usize));
            } else if let Some(row) = number_at(event, BUTTON_ATTRIBUTES[3]) {
                let compares = event.dyn_ref::<MouseEvent>().is_some_and(MouseEvent::shift_key);
                handle_action(
                    app,
                    WhatIfAction::Opened(row as usize, if compares { AfterWrite::Compare } else { AfterWrite::Open }),
                );
            }
        });
        // Keys used in the simulator must not reach the report that contains it.
        on.event(&elements.what_if, "keydown", |_, _, event| {
            let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key).unwrap_or_default();
            if key.starts_with("Arrow") || ["Enter", " ", "Home", "End"].contains(&key.as_str()) {
                event.stop_propagation();
            }
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let is_seen = state.insights.topic == Topic::Settings;
        if self.is_seen.update(is_seen).is_some() {
            elements.what_if.set_hidden(!is_seen);
        }
        if !is_seen {
            return;
        }
        let simulator = &state.what_if;
        if self.basis.update(result_inputs(simulator, state)).is_some() {
            fill(elements, &view(simulator, state));
        }
        let sizes = [&simulator.capacity, &simulator.total, &simulator.preallocate].map(Clone::clone);
        let fields = (simulator.settings.clone(), sizes, simulator.skips_empty_cache, simulator.program.clone());
        if let Some((line, sizes, never_empties, program)) = self.fields.update(fields) {
            elements.set_value(&elements.what_if_line, line);
            for ((_, input), text) in size_fields(elements).into_iter().zip(sizes) {
                elements.set_value(input, text);
            }
            elements.what_if_empties.set_checked(*never_empties);
            elements.what_if_one_stream.set_checked(program.one_stream);
            elements.what_if_no_record_stream.set_checked(program.no_record_stream);
            elements.what_if_step_ends.set_checked(program.empty_cache_at_step_ends);
        }
        if let Some(form) = self.form.update(form(simulator, state)) {
            set_text(&elements.what_if_status, &form.status);
            elements.what_if_cancel.set_hidden(!form.can_cancel);
            set_flag(&elements.what_if, "aria-busy", !form.status.is_empty() && form.status.contains('…'));
            set_text(&elements.what_if_line_error, &form.line_error);
            set_flag(&elements.what_if_line, "aria-invalid", !form.line_error.is_empty());
            let error = form.size_errors.iter().find(|error| !error.is_empty());
            set_text(&elements.what_if_size_error, error.copied().unwrap_or_default());
            for ((_, input), error) in size_fields(elements).into_iter().zip(form.size_errors) {
                set_flag(input, "aria-invalid", !error.is_empty());
            }
            elements.what_if_capacity.set_placeholder(&form.capacity_hint);
            elements.what_if_total.set_placeholder(&form.capacity_hint);
        }
    }
}

/// Fields of sizes, in the order of [`FormView::size_errors`].
fn size_fields(elements: &Elements) -> [(SimulatorField, &HtmlInputElement); 3] {
    [
        (SimulatorField::Capacity, &elements.what_if_capacity),
        (SimulatorField::Total, &elements.what_if_total),
        (SimulatorField::Preallocate, &elements.what_if_preallocate),
    ]
}

/// Checkboxes of the changes to the program.
fn change_fields(elements: &Elements) -> [(ProgramChange, &HtmlInputElement); 3] {
    [
        (ProgramChange::OneStream, &elements.what_if_one_stream),
        (ProgramChange::NoRecordStream, &elements.what_if_no_record_stream),
        (ProgramChange::EmptyCache, &elements.what_if_step_ends),
    ]
}

fn handle_action(app: &App, action: WhatIfAction) {
    app.dispatch(Action::feature(action));
}

fn fill(elements: &Elements, view: &ResultView) {
    elements.what_if_form.set_hidden(!view.predicts);
    clear(&elements.what_if_proof);
    add_sentences(elements, &elements.what_if_proof, &view.proof);
    let focus = focus_selector(elements);
    let place = &elements.what_if_answer;
    clear(place);
    if view.rows.is_empty() {
        return;
    }
    if !view.findings.is_empty() {
        let list = elements.append_new(place, "ul", "findings", "");
        add_sentences(elements, &list, &view.findings);
    }
    let table = new_table(elements, "", "Simulated runs");
    let head = elements.append_new(&elements.append_new(&table, "thead", "", ""), "tr", "", "");
    for (at, (name, meaning)) in HEADINGS.iter().enumerate() {
        let class = if at == 0 {
            "name"
        } else if at + 1 == HEADINGS.len() {
            "text"
        } else {
            "number"
        };
        let cell = elements.append_new(&head, "th", class, name);
        set_attribute(&cell, "scope", "col");
        set_attribute(&cell, "title", meaning);
    }
    let body = elements.append_new(&table, "tbody", "", "");
    for (place, row) in view.rows.iter().enumerate() {
        add_row(elements, &body, place, row);
    }
    if !view.fits.is_empty() {
        let title = "Smallest memory this run fits in";
        elements.append_new(place, "h4", "", title);
        let table = new_table(elements, "fits", title);
        let body = elements.append_new(&table, "tbody", "", "");
        for fit in &view.fits {
            let row = elements.append_new(&body, "tr", "", "");
            set_attribute(&elements.append_new(&row, "td", "", &fit.memory), "title", &fit.exact);
            elements.append_new(&row, "td", "name", &fit.settings);
            elements.append_new(&row, "td", "text", &fit.shortage);
        }
    }
    let again = focus.and_then(|selector| place.query_selector(&selector).ok().flatten());
    again.iter().for_each(focus_element);
}

fn add_sentences(elements: &Elements, list: &Element, sentences: &[(Tone, String)]) {
    for (tone, text) in sentences {
        let line = elements.append_new(list, "li", "", "");
        let [seen, aloud] = tone_symbol(*tone);
        if !seen.is_empty() {
            set_attribute(&elements.append_new(&line, "span", "sign", seen), "aria-hidden", "true");
            elements.append_new(&line, "span", "unseen", aloud);
        }
        line.set_class_name(match tone {
            Tone::Fact => "fact",
            Tone::Good => "good",
            Tone::Alarm => "alarm",
        });
        elements.append_new(&line, "span", "", text);
    }
}

/// Adds a table at the end of the answer.
fn new_table(elements: &Elements, class: &str, name: &str) -> Element {
    let frame = elements.append_new(&elements.what_if_answer, "div", "sheet", "");
    let table = elements.append_new(&frame, "table", class, "");
    set_attribute(&table, "aria-label", name);
    table
}

fn add_row(elements: &Elements, body: &Element, place: usize, row: &RunRow) {
    let line = elements.append_new(body, "tr", "", "");
    line.set_class_name(match () {
        () if row.is_out_of_memory => "out",
        () if row.is_recorded => "recorded",
        () => "",
    });
    let name = elements.append_new(&line, "td", "name", "");
    let title = &*row.name;
    set_attribute(&name, "title", title);
    let frame = elements.append_new(&name, "div", "", "");
    let settings = elements.append_new(&frame, "span", "", "");
    // Each setting is an element, so that lines break only between settings.
    for part in row.settings.split_inclusive(',') {
        elements.append_new(&settings, "span", "", part);
    }
    if !row.program.is_empty() {
        elements.append_new(&settings, "span", "program", &["with ", &row.program].concat());
    }
    let copy = elements.new_button("", "Copy", (BUTTON_ATTRIBUTES[1], &place.to_string()));
    set_attribute(&copy, "title", "Copy these settings");
    set_attribute(&copy, "aria-label", &["Copy ", title].concat());
    let show = elements.new_button("", "Show", (BUTTON_ATTRIBUTES[2], &place.to_string()));
    set_attribute(&show, "title", "Draw reserved and allocated bytes of this run in the timeline");
    set_attribute(&show, "aria-label", &["Show ", title].concat());
    set_flag(&show, "aria-pressed", row.is_shown);
    let open = elements.new_button("", "Open", (BUTTON_ATTRIBUTES[3], &place.to_string()));
    set_attribute(
        &open,
        "title",
        "Open this run like a recorded snapshot. Shift + click: compare the recording with it",
    );
    set_attribute(&open, "aria-label", &["Open ", title].concat());
    let buttons = elements.append_new(&frame, "span", "buttons", "");
    append(&buttons, &show);
    // A snapshot has the recorded program.
    if row.program.is_empty() {
        append(&buttons, &open);
    }
    append(&buttons, &copy);
    for (text, exact) in &row.numbers {
        let cell = elements.append_new(&line, "td", "", text);
        if !exact.is_empty() {
            set_attribute(&cell, "title", exact);
        }
    }
    let cell = elements.append_new(&line, "td", "oom", "");
    match row.oom_moment {
        Some(moment) => {
            let button = elements.new_button("", &row.oom, (BUTTON_ATTRIBUTES[0], &moment.to_string()));
            set_attribute(&button, "title", "Go there");
            append(&cell, &button);
        }
        None => set_text(&cell, &row.oom),
    }
    let [short, words] = row.grade;
    set_attribute(&elements.append_new(&line, "td", "text", short), "title", words);
}

/// Returns a selector for the focused button of the table, to restore the focus after an update.
fn focus_selector(elements: &Elements) -> Option<String> {
    let focus = elements.focused_element().filter(|focus| elements.what_if_answer.contains(Some(focus)))?;
    BUTTON_ATTRIBUTES.iter().find_map(|name| Some(["[", name, "=\"", &focus.get_attribute(name)?, "\"]"].concat()))
}
