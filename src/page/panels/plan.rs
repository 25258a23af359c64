//! Planner in the Insights tab, and the notice above the timeline about a drawn plan.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, attribute_at, clear, focus_element, number_at, set_attribute, set_flag, set_text, show_text};
use crate::elements::elements;
use protocol::Preset;
use ui::features::State;
use ui::features::plan::view::{HEADINGS, PlanRowView, PlanView, view};
use ui::features::plan::words::preset_title;
use ui::features::plan::{PlanAction, PlanField};
use ui::plot::planned::{Chip, DrawnCurve, chip};
use ui::shell::action::Action;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, KeyboardEvent};

elements! {
    HtmlButtonElement: plan_add, plan_clear, plan_draw, plan_undo;
    HtmlElement: plan, plan_capacity_error, plan_caveats, plan_facts, plan_groups, plan_note, plan_rows, without, without_name,
        without_show, without_text;
    HtmlInputElement: plan_capacity;
    HtmlSelectElement: plan_preset;
}

/// Attribute of a row's group field that contains the index of the row.
const GROUP_FIELD: &str = "data-plan-group";
/// Attribute of a row's factor field that contains the index of the row.
const FACTOR_FIELD: &str = "data-plan-by";
/// Attribute of a row's remove button that contains the index of the row.
const REMOVE_BUTTON: &str = "data-plan-remove";

#[derive(Default)]
pub(super) struct Panel {
    chip: LastShown<Option<Chip>>,
    view: LastShown<Option<PlanView>>,
    rows: LastShown<Vec<PlanRowView>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(_: &'static App, elements: &'static Elements) -> Result<(), String> {
        let options: Vec<String> = Preset::ALL.into_iter().map(|preset| preset_title(preset).to_owned()).collect();
        elements.fill_options(&elements.plan_preset, &options);
        append(&elements.plan_preset, &elements.new_element("option", "", "Size of a group"));
        let head = elements.append_new(&elements.append_new(&elements.plan_groups, "thead", "", ""), "tr", "", "");
        for (at, (name, meaning)) in HEADINGS.iter().enumerate() {
            let cell = elements.append_new(&head, "th", if at == 0 { "name" } else { "number" }, name);
            set_attribute(&cell, "scope", "col");
            set_attribute(&cell, "title", meaning);
        }
        elements.append_new(&elements.plan_groups, "tbody", "", "");
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.plan_add, "click", |app, elements, _| {
            let chosen = usize::try_from(elements.plan_preset.selected_index()).unwrap_or(usize::MAX);
            let preset = Preset::ALL.get(chosen).copied();
            handle_action(app, preset.map_or(PlanAction::GroupAdded, PlanAction::PresetAdded));
        });
        on.click(&elements.plan_undo, |_| Some(PlanAction::Undo.into()));
        on.click(&elements.plan_clear, |_| Some(PlanAction::Cleared.into()));
        on.event(&elements.plan_draw, "click", |app, _, _| {
            let is_drawn = app.state.borrow().planned.drawn == DrawnCurve::Plan;
            handle_action(app, PlanAction::Drawn(if is_drawn { DrawnCurve::None } else { DrawnCurve::Plan }));
        });
        on.text(&elements.plan_capacity, "input", |text| PlanAction::CapacityTyped(text).into());
        on.action(&elements.plan_rows, "change", |_, _, event| {
            let fields = [(GROUP_FIELD, PlanField::Group), (FACTOR_FIELD, PlanField::Factor)];
            let of = fields.into_iter().find_map(|(about, field)| Some((number_at(event, about)?, field)));
            let ((place, field), text) = (of?, event.target()?.dyn_into::<HtmlInputElement>().ok()?);
            Some(PlanAction::Typed(place as usize, field, text.value()).into())
        });
        on.event(&elements.plan_rows, "click", |app, elements, event| {
            if attribute_at(event, REMOVE_BUTTON).is_some()
                && let Some(place) = number_at(event, REMOVE_BUTTON)
            {
                // The button is about to disappear.
                focus_element(&elements.plan_add);
                handle_action(app, PlanAction::Removed(place as usize));
            }
        });
        // Keys used in the planner must not reach the report that contains it.
        on.event(&elements.plan, "keydown", |_, _, event| {
            let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key).unwrap_or_default();
            if key.starts_with("Arrow") || ["Enter", " ", "Home", "End"].contains(&key.as_str()) {
                event.stop_propagation();
            }
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(chip) = self.chip.update(chip(state)) {
            elements.without.set_hidden(chip.is_none());
            if let Some(Chip { name, text, exact, is_drawn }) = chip {
                set_text(&elements.without_name, name);
                set_text(&elements.without_text, text);
                set_attribute(&elements.without_text, "title", exact);
                set_flag(&elements.without_show, "aria-pressed", *is_drawn);
            }
        }
        if let Some(view) = self.view.update(view(&state.plan, state)) {
            elements.plan.set_hidden(view.is_none());
            if let Some(view) = view {
                if let Some(rows) = self.rows.update(view.rows.clone()) {
                    fill_rows(elements, rows);
                }
                fill(elements, view);
            }
        }
    }
}

fn handle_action(app: &App, action: PlanAction) {
    app.dispatch(Action::feature(action));
}

fn fill(elements: &Elements, view: &PlanView) {
    elements.plan_undo.set_disabled(!view.can_undo);
    elements.plan_clear.set_disabled(view.rows.is_empty());
    set_flag(&elements.plan_draw, "aria-pressed", view.is_drawn);
    elements.plan_draw.set_disabled(view.facts.is_empty() && !view.is_drawn);
    elements.set_value(&elements.plan_capacity, &view.capacity);
    elements.plan_capacity.set_placeholder(&view.capacity_hint);
    set_flag(&elements.plan_capacity, "aria-invalid", !view.capacity_error.is_empty());
    show_text(&elements.plan_capacity_error, Some(view.capacity_error).filter(|error| !error.is_empty()));
    set_text(&elements.plan_note, &view.note);
    clear(&elements.plan_facts);
    elements.fill_definitions(&elements.plan_facts, view.facts.iter().map(|(label, value)| (*label, value.as_str())));
    elements.plan_groups.set_hidden(view.groups.is_empty());
    if let Some(body) = elements.plan_groups.last_element_child() {
        clear(&body);
        for group in &view.groups {
            let row = elements.append_new(&body, "tr", "", "");
            for (at, text) in group.iter().enumerate() {
                elements.append_new(&row, "td", if at == 0 { "name" } else { "" }, text);
            }
        }
    }
    clear(&elements.plan_caveats);
    for caveat in &view.caveats {
        elements.append_new(&elements.plan_caveats, "li", "", caveat);
    }
}

fn fill_rows(elements: &Elements, rows: &[PlanRowView]) {
    let list = &elements.plan_rows;
    let focus = elements.focused_element().filter(|focus| list.contains(Some(focus)));
    let again = focus.and_then(|focus| {
        let attributes = [GROUP_FIELD, FACTOR_FIELD, REMOVE_BUTTON];
        attributes.iter().find_map(|name| Some(["[", name, "=\"", &focus.get_attribute(name)?, "\"]"].concat()))
    });
    let grows = list.child_element_count() as usize + 1 == rows.len();
    clear(list);
    for (place, row) in rows.iter().enumerate() {
        let line = elements.append_new(list, "li", "", "");
        let place = place.to_string();
        let field = |about: &str, text: &str, label: &str, names: &str| {
            let field = elements.append_new(&line, "input", "", "");
            let text = [("type", "text"), ("autocomplete", "off"), ("spellcheck", "false"), ("value", text)];
            let row_attributes = [(about, &*place), ("aria-label", label), ("list", names)];
            text.into_iter().chain(row_attributes).for_each(|(name, value)| set_attribute(&field, name, value));
            set_flag(&field, "aria-invalid", !row.error.is_empty());
            field
        };
        match &row.group {
            Some(group) => {
                let input = field(GROUP_FIELD, group, "Group: a category or a search", "plan-group-names");
                set_attribute(&input, "placeholder", "activations, train.py:31, >=10MiB");
            }
            None => drop(elements.append_new(&line, "span", "", row.title)),
        }
        if let Some(by) = &row.factor {
            let (label, names) = match row.group {
                Some(_) => ("Factor", "plan-factors"),
                None => (row.title, "plan-numbers"),
            };
            let input = field(FACTOR_FIELD, by, label, names);
            set_attribute(&input, "placeholder", if row.group.is_some() { "0, 2x, /8, fp32->bf16" } else { "8" });
        }
        let remove = elements.new_button("", "×", (REMOVE_BUTTON, &place));
        set_attribute(&remove, "aria-label", "Remove this change");
        set_attribute(&remove, "title", "Remove this change");
        append(&line, &remove);
        if !row.error.is_empty() {
            set_attribute(&elements.append_new(&line, "p", "wrong", &row.error), "role", "alert");
        }
    }
    let found = |selector: &str| -> Option<Element> { list.query_selector(selector).ok().flatten() };
    // A new row gets the focus.
    let new = || found("li:last-child input").filter(|_| grows && elements.has_focus(&elements.plan_add));
    again.and_then(|selector| found(&selector)).or_else(new).iter().for_each(focus_element);
}
