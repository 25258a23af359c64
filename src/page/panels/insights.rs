//! Insights tab: the list of topics, and the report on the selected one.

use super::pieces::Pieces;
use super::report::{new_chart, new_statement};
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, attribute_at, clear, focus_element, set_attribute, set_flag, set_text};
use crate::elements::elements;
use crate::theme::Theme;
use protocol::Topic;
use ui::features::State;
use ui::features::insights::InsightsAction;
use ui::features::insights::view::{
    ReportInputs, TabState, all_topics, available_topics, report_inputs, tab_state, view,
};
use ui::shell::action::Action;
use ui::text::size_text::{DefaultUnit, understood};
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlInputElement, KeyboardEvent, MouseEvent};

elements! {
    HtmlElement: insights_maps, insights_note, insights_report, insights_sheets, insights_statements, insights_topics;
}

#[derive(Default)]
pub(super) struct Panel {
    /// All inputs of the report. The theme, which its charts depend on, is represented by the background colour.
    basis: LastShown<(ReportInputs, [u8; 4])>,
    marks: LastShown<TabState>,
    topic: LastShown<Topic>,
    busy: LastShown<bool>,
    /// Tables of the report that are not on the page yet.
    pieces: Pieces,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Insights);

    fn start(_: &'static App, elements: &'static Elements) -> Result<(), String> {
        for topic in all_topics() {
            let button = elements.new_button("", topic.title(), ("data-topic", topic.name()));
            set_attribute(&button, "role", "tab");
            set_attribute(&button, "aria-controls", "insights-report");
            append(&elements.insights_topics, &button);
        }
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.insights_topics, |event| {
            let topic = Topic::from_name(&attribute_at(event, "data-topic")?)?;
            Some(InsightsAction::TopicChosen(topic).into())
        });
        on.event(&elements.insights_topics, "keydown", move_focus);
        // The arrow leads back to the topics, which are displayed on the left.
        on.event(&elements.insights_report, "keydown", |app, elements, event| {
            let is_item = attribute_at(event, "data-item").is_some();
            if is_item && event.dyn_ref::<KeyboardEvent>().is_some_and(|event| event.key() == "ArrowLeft") {
                event.prevent_default();
                focus_topic(app, elements);
            }
        });
        on.event(&elements.insights_report, "click", |app, _, event| {
            let place = |attribute| attribute_at(event, attribute).and_then(|place| place.parse().ok());
            let action = (place("data-unfold").map(InsightsAction::StackToggled))
                .or_else(|| place("data-next").map(|index| InsightsAction::StackStepped(index, 1)))
                .or_else(|| place("data-back").map(|index| InsightsAction::StackStepped(index, -1)))
                .or_else(|| place("data-more").map(InsightsAction::MoreClicked))
                .or_else(|| place("data-fold").map(InsightsAction::SheetToggled))
                .or_else(|| place("data-copy").map(InsightsAction::Copied))
                .or_else(|| row_of_map(event).map(|row| InsightsAction::RankClicked(row, is_shifted(event))))
                .or_else(|| {
                    let picked =
                        if is_shifted(event) { InsightsAction::ItemShiftClicked } else { InsightsAction::ItemClicked };
                    place("data-item").map(picked)
                });
            if let Some(action) = action {
                handle_action(app, action);
            }
        });
        on.event(&elements.insights_report, "change", |app, _, event| {
            let field = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
            let sheet = attribute_at(event, "data-threshold").and_then(|place| place.parse().ok());
            if let (Some(field), Some(sheet)) = (field, sheet) {
                handle_action(app, InsightsAction::ThresholdSet(sheet, field.value()));
                // Invalid input was ignored, so the field shows the value in use again.
                let is_understood = !understood(&field.value(), DefaultUnit::Byte).is_empty();
                if !field.value().is_empty() && !is_understood {
                    field.set_value(&field.default_value());
                }
            }
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let theme = &*app.theme.borrow();
        let is_new = self.basis.update((report_inputs(&state.insights), theme.look.background)).is_some();
        let marks = tab_state(&state.insights, state);
        if is_new {
            let focus = focus_selector(elements);
            let is_first = self.topic.0.is_none();
            let is_same = self.topic.update(marks.topic).is_none();
            // Reading the scroll position forces a layout of the page. It is needed only if the position may change.
            let moves = focus.is_some() || !(is_same || is_first);
            let top = if is_same && moves { elements.insights_report.scroll_top() } else { 0 };
            let was_there = elements.insights_sheets.has_child_nodes();
            self.pieces = show_statements(elements, state, theme);
            // The tables of a new report are added from the next frame on. The browser lays them out after the rest.
            if focus.is_some() || is_same && was_there {
                // A report that is already visible is replaced at once, without flicker.
                self.pieces.show_all(elements, &elements.insights_sheets);
            }
            mark_items(elements, state);
            if let Some(focus) = focus {
                focus_item(elements, &focus);
            }
            // Focusing may have scrolled the report.
            if moves {
                elements.insights_report.set_scroll_top(top);
            }
        }
        let before = self.marks.0.as_ref().map(|marks| marks.active);
        let moved = before.is_some_and(|before| before != marks.active);
        if !is_new && !self.pieces.is_done() {
            if moved {
                // A key may lead to the last row, so all rows have to exist.
                self.pieces.show_all(elements, &elements.insights_sheets);
            } else {
                self.pieces.show(elements, &elements.insights_sheets);
            }
            mark_items(elements, state);
        }
        let is_whole = self.pieces.is_done();
        if !is_whole {
            app.frame.request();
        }
        if let Some(&is_busy) = self.busy.update(marks.is_busy || !is_whole) {
            set_flag(&elements.insights_report, "aria-busy", is_busy);
        }
        let Some(marks) = self.marks.update(marks).cloned() else { return };
        for topic in all_topics() {
            let Some(button) = topic_button(elements, topic) else { continue };
            if marks.available.contains(&topic) {
                drop(button.remove_attribute("hidden"));
            } else {
                set_attribute(&button, "hidden", "");
            }
            let is_chosen = topic == marks.topic;
            set_flag(&button, "aria-selected", is_chosen);
            set_attribute(&button, "tabindex", if is_chosen { "0" } else { "-1" });
            button.set_class_name(if marks.alarms.contains(&topic) { "alarm" } else { "" });
            let alarm = if marks.alarms.contains(&topic) { "Has a warning" } else { "" };
            set_attribute(&button, "title", alarm);
        }
        let report = &elements.insights_report;
        set_attribute(report, "data-topic", marks.topic.name());
        set_attribute(report, "aria-label", marks.topic.title());
        set_text(&elements.insights_note, marks.note);
        mark_items(elements, state);
        if moved && focus_selector(elements).is_some() {
            focus_item(elements, &item_selector(marks.active));
        }
    }
}

fn is_shifted(event: &Event) -> bool {
    event.dyn_ref::<MouseEvent>().is_some_and(MouseEvent::shift_key)
}

/// Returns the index of the rank whose row was clicked, in the heat map or on its label.
fn row_of_map(event: &Event) -> Option<usize> {
    if let Some(row) = attribute_at(event, "data-rank") {
        return row.parse().ok();
    }
    let first: usize = attribute_at(event, "data-ranks")?.parse().ok()?;
    let count: f64 = attribute_at(event, "data-count")?.parse().ok()?;
    let height = f64::from(event.target()?.dyn_into::<Element>().ok()?.client_height());
    let y = f64::from(event.dyn_ref::<MouseEvent>()?.offset_y());
    Some(first + (y / height * count).clamp(0.0, count - 1.0) as usize)
}

fn topic_button(elements: &Elements, topic: Topic) -> Option<Element> {
    let button = elements.insights_topics.query_selector(&["[data-topic=\"", topic.name(), "\"]"].concat());
    button.ok()?
}

fn item_selector(place: usize) -> String {
    ["[data-item=\"", &place.to_string(), "\"]"].concat()
}

/// Marks the item that was clicked last, and makes the active item reachable by the Tab key.
fn mark_items(elements: &Elements, state: &State) {
    let marks = tab_state(&state.insights, state);
    let Ok(items) = elements.insights_report.query_selector_all("[data-item]") else { return };
    for at in 0..items.length() {
        let Some(item) = items.get(at).and_then(|item| item.dyn_into::<Element>().ok()) else { continue };
        let is = |place: Option<usize>| place == Some(at as usize);
        let state = if item.tag_name() == "TR" { "aria-selected" } else { "aria-pressed" };
        if item.has_attribute("data-shows") {
            set_flag(&item, state, is(marks.clicked));
        }
        set_attribute(&item, "tabindex", if is(Some(marks.active)) { "0" } else { "-1" });
    }
}

/// Returns a selector for the focused element of the report, to restore the focus after an update.
fn focus_selector(elements: &Elements) -> Option<String> {
    let focus = elements.focused_element().filter(|focus| elements.insights_report.contains(Some(focus)))?;
    // The simulator below the report restores its own focus.
    if focus.closest("#what-if").ok().flatten().is_some() {
        return None;
    }
    let names = ["data-item", "data-more", "data-fold", "data-copy", "data-threshold", "data-next", "data-back"];
    let of = |name: &&str| focus.get_attribute(name).map(|value| ["[", name, "=\"", &value, "\"]"].concat());
    Some(names.iter().find_map(of).unwrap_or_default())
}

/// Focuses the element of the report that matches `selector`, or else the active item.
fn focus_item(elements: &Elements, selector: &str) {
    let find = |selector: &str| elements.insights_report.query_selector(selector).ok().flatten();
    let found = find(selector).or_else(|| find("[data-item][tabindex=\"0\"]"));
    found.iter().for_each(focus_element);
}

/// Shows the summary sentences of the report. Returns its tables, which are added to the page in pieces.
fn show_statements(elements: &Elements, state: &State, theme: &Theme) -> Pieces {
    let view = view(&state.insights);
    clear(&elements.insights_statements);
    clear(&elements.insights_maps);
    for (place, statement) in view.statements.iter().enumerate() {
        append(&elements.insights_statements, &new_statement(elements, place, statement, theme));
        if let Some(map) = statement.chart.as_ref().filter(|chart| chart.map.is_some()) {
            append(&elements.insights_maps, &new_chart(elements, map, theme));
        }
    }
    clear(&elements.insights_sheets);
    Pieces::new(view.sheets)
}

fn handle_action(app: &App, action: InsightsAction) {
    app.dispatch(Action::feature(action));
}

/// Selects another topic on arrow up, arrow down, Home and End. Arrow right moves the focus into the report.
fn move_focus(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
    let now = app.state.borrow().insights.topic;
    let all = available_topics(&app.state.borrow());
    let place = all.iter().position(|topic| *topic == now).unwrap_or(0);
    let last = all.len() - 1;
    let place = match key.as_str() {
        "ArrowUp" => place.checked_sub(1).unwrap_or(last),
        "ArrowDown" => (place + 1) % all.len(),
        "Home" => 0,
        "End" => last,
        "ArrowRight" => {
            event.prevent_default();
            return focus_item(elements, "[data-item][tabindex=\"0\"]");
        }
        _ => return,
    };
    let Some(&topic) = all.get(place) else { return };
    event.prevent_default();
    handle_action(app, InsightsAction::TopicChosen(topic));
    focus_topic(app, elements);
}

fn focus_topic(app: &App, elements: &Elements) {
    let topic = app.state.borrow().insights.topic;
    topic_button(elements, topic).iter().for_each(focus_element);
}
