//! Events tab: the list of events and its filters.

use super::grid::{GridElements, HEADER_PX, Rows, clicked_row, move_focus_from_field, watch_scroll};
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{clear, number_at, set_attribute, set_flag, set_text};
use crate::elements::elements;
use ui::features::State;
use ui::features::events::{
    ActionFilter, COLUMNS, EventColumn, EventsAction, EventsStatus, action_filters, grid, status,
};
use ui::features::rows::Grid;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::text::tab::Tab;

elements! {
    HtmlElement: events_actions, events_all, events_clear, events_copy, events_empty, events_empty_text, events_go,
        events_grid, events_head, events_rows, events_space, events_status;
    HtmlInputElement: events_filter;
}

#[derive(Default)]
pub(super) struct Panel {
    grid: LastShown<Grid>,
    rows: Rows,
    chips: LastShown<Vec<ActionFilter>>,
    status: LastShown<EventsStatus>,
    text: LastShown<String>,
    has_times: LastShown<bool>,
}

fn grid_elements(elements: &Elements) -> GridElements<'_> {
    GridElements {
        grid: &elements.events_grid,
        space: &elements.events_space,
        rows: &elements.events_rows,
        empty: [&elements.events_empty, &elements.events_empty_text],
        id_prefix: "event-row-",
        item_attribute: "data-event",
    }
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Events);

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        for EventColumn { title, tooltip, .. } in COLUMNS {
            let header = elements.append_new(&elements.events_head, "div", "", title);
            set_attribute(&header, "role", "columnheader");
            set_attribute(&header, "title", tooltip);
        }
        let scrolled = |top, height| Action::feature(EventsAction::Scrolled(top, height));
        watch_scroll(app, &elements.events_grid, HEADER_PX, scrolled)
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.events_rows, |event| {
            clicked_row(event).map(|(row, extent)| EventsAction::RowClicked(row, extent).into())
        });
        on.text(&elements.events_filter, "input", |text| EventsAction::FilterTyped(text).into());
        on.event(&elements.events_filter, "keydown", |_, elements, event| {
            move_focus_from_field(&elements.events_grid, event);
        });
        on.click(&elements.events_actions, |event| {
            Some(EventsAction::ActionToggled(number_at(event, "data-action")?).into())
        });
        // These have the shortcuts of the Allocations tab's buttons.
        on.click(&elements.events_all, |_| Some(Action::Command(commands::rows::SELECT_ALL)));
        on.click(&elements.events_copy, |_| Some(Action::Command(commands::rows::COPY)));
        on.click(&elements.events_clear, |_| Some(Action::Command(commands::rows::CLEAR)));
        on.click(&elements.events_go, |_| Some(Action::Command(commands::FOCUS_GO_TO)));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(grid) = self.grid.update(grid(&state.events, state)) {
            self.rows.show(elements, &grid_elements(elements), grid);
        }
        // Hides the columns of times if no times were recorded.
        let has_times = state.device().is_some_and(|device| device.time_us.is_some());
        if let Some(has_times) = self.has_times.update(has_times) {
            set_flag(&elements.events_grid, "data-times", *has_times);
        }
        self.rows.scroll(&grid_elements(elements), &state.events.scroll);
        if let Some(chips) = self.chips.update(action_filters(&state.events)) {
            show_action_filters(elements, chips);
        }
        if let Some(text) = self.text.update(state.events.text.clone()) {
            elements.set_value(&elements.events_filter, text);
        }
        if let Some(status) = self.status.update(status(&state.events)) {
            set_text(&elements.events_status, &status.text);
            elements.events_status.set_class_name(if status.is_error { "wrong" } else { "" });
            set_flag(&elements.events_filter, "aria-invalid", status.is_error);
            elements.events_clear.set_hidden(!status.is_filtered);
            for (name, value) in ["data-listed", "data-all"].iter().zip(status.counts) {
                set_attribute(&elements.events_status, name, &value.to_string());
            }
        }
    }
}

/// Shows the filters by action. Their buttons are reused if the number of filters is unchanged, so that the focused
/// button keeps the focus.
fn show_action_filters(elements: &Elements, chips: &[ActionFilter]) {
    let place = &elements.events_actions;
    if place.child_element_count() as usize != chips.len() {
        clear(place);
        for _ in chips {
            set_attribute(&elements.append_new(place, "button", "", ""), "type", "button");
        }
    }
    let mut button = place.first_element_child();
    for chip in chips {
        let Some(now) = button else { break };
        set_text(&now, &chip.text);
        set_attribute(&now, "data-action", &chip.action.to_string());
        set_flag(&now, "aria-pressed", chip.is_pressed);
        button = now.next_element_sibling();
    }
}
