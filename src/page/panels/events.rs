//! The list of events: rows, actions to choose from, what filters.

use super::Shown;
use super::grid::{Place, Rows};
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use ui::State;
use ui::events::{COLUMNS, Chip, EventsStatus, chips, grid, status};
use ui::rows::Grid;
use ui::views::Tab;

#[derive(Default)]
pub(super) struct Panel {
    grid: Shown<Grid>,
    rows: Rows,
    chips: Shown<Vec<Chip>>,
    status: Shown<EventsStatus>,
    text: Shown<String>,
}

fn place(elements: &Elements) -> Place<'_> {
    Place {
        grid: &elements.events_grid,
        space: &elements.events_space,
        rows: &elements.events_rows,
        empty: [&elements.events_empty, &elements.events_empty_text],
        id: "event-row-",
        of: "data-event",
    }
}

/// Makes the header.
pub(super) fn prepare(elements: &Elements) {
    for (name, meaning) in COLUMNS {
        let header = elements.new_element("div", "", name);
        set_attribute(&header, "role", "columnheader");
        set_attribute(&header, "title", meaning);
        append(&elements.events_head, &header);
    }
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if state.views.seen() != Some(Tab::Events) {
            return;
        }
        if let Some(grid) = self.grid.changed(grid(&state.events, state)) {
            self.rows.show(elements, &place(elements), grid);
        }
        self.rows.scroll(&place(elements), &state.events.scroll);
        if let Some(chips) = self.chips.changed(chips(&state.events)) {
            show_chips(elements, chips);
        }
        if let Some(text) = self.text.changed(state.events.text.clone()) {
            let focus = elements.document.active_element();
            // Whoever types there is ahead of us.
            if focus.is_none_or(|focus| !focus.is_same_node(Some(&elements.events_filter))) {
                elements.events_filter.set_value(text);
            }
        }
        if let Some(status) = self.status.changed(status(&state.events)) {
            set_text(&elements.events_status, &status.text);
            elements.events_status.set_class_name(if status.is_wrong { "wrong" } else { "" });
            set_attribute(&elements.events_filter, "aria-invalid", if status.is_wrong { "true" } else { "false" });
            elements.events_clear.set_hidden(!status.is_filtered);
            for (name, value) in ["data-listed", "data-all"].iter().zip(status.data) {
                set_attribute(&elements.events_status, name, &value.to_string());
            }
        }
    }
}

/// The buttons stay as long as there are as many, so that the one with the focus keeps it.
fn show_chips(elements: &Elements, chips: &[Chip]) {
    let place = &elements.events_actions;
    if place.child_element_count() as usize != chips.len() {
        clear(place);
        for _ in chips {
            let button = elements.new_element("button", "", "");
            set_attribute(&button, "type", "button");
            append(place, &button);
        }
    }
    let mut button = place.first_element_child();
    for chip in chips {
        let Some(now) = button else { break };
        set_text(&now, &chip.text);
        set_attribute(&now, "data-action", &chip.action.to_string());
        set_attribute(&now, "aria-pressed", if chip.is_pressed { "true" } else { "false" });
        button = now.next_element_sibling();
    }
}
