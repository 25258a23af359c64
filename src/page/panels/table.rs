//! The table of allocations: as many rows as are seen, filled anew as they are scrolled; header, status, what filters.

use super::Shown;
use super::grid::{Place, Rows};
use crate::dom::{Elements, append, set_attribute, set_text};
use engine::protocol::TableSort;
use ui::State;
use ui::histograms::{Histogram, chosen};
use ui::rows::Grid;
use ui::table::{COLUMNS, TableStatus, grid, order, status};
use ui::views::Tab;

#[derive(Default)]
pub(super) struct Panel {
    grid: Shown<Grid>,
    sort: Shown<TableSort>,
    status: Shown<TableStatus>,
    filters: Shown<(String, [Option<String>; 3])>,
    rows: Rows,
}

fn place(elements: &Elements) -> Place<'_> {
    Place {
        grid: &elements.table_grid,
        space: &elements.table_space,
        rows: &elements.table_rows,
        empty: [&elements.table_empty, &elements.table_empty_text],
        id: "row-",
        of: "data-allocation",
    }
}

/// Makes the header.
pub(super) fn prepare(elements: &Elements) {
    for (place, (_, name, meaning)) in COLUMNS.iter().enumerate() {
        let header = elements.new_element("div", "", "");
        set_attribute(&header, "role", "columnheader");
        let button = elements.new_element("button", "", name);
        set_attribute(&button, "type", "button");
        set_attribute(&button, "data-column", &place.to_string());
        set_attribute(&button, "title", meaning);
        append(&header, &button);
        append(&elements.table_head, &header);
    }
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        let tab = state.views.seen();
        if !matches!(tab, Some(Tab::Table | Tab::Histograms)) {
            return;
        }
        self.show_filters(elements, state);
        if tab != Some(Tab::Table) {
            return;
        }
        if let Some(sort) = self.sort.changed(state.table.sort) {
            let mut header = elements.table_head.first_element_child();
            for (column, ..) in COLUMNS {
                let Some(now) = header else { break };
                set_attribute(&now, "aria-sort", order(*sort, column));
                header = now.next_element_sibling();
            }
        }
        if let Some(grid) = self.grid.changed(grid(&state.table, state)) {
            self.rows.show(elements, &place(elements), grid);
        }
        self.rows.scroll(&place(elements), &state.table.scroll);
    }

    fn show_filters(&mut self, elements: &Elements, state: &State) {
        let table = &state.table;
        let chips = [
            state.views.node.map(|_| "selected node".to_owned()),
            table.sizes.map(|sizes| chosen(Histogram::Sizes, sizes)),
            table.lives.map(|lives| ["lives ", &chosen(Histogram::Lives, lives)].concat()),
        ];
        if let Some((text, chips)) = self.filters.changed((table.text.clone(), chips)) {
            let focus = elements.document.active_element();
            // Whoever types there is ahead of us.
            if focus.is_none_or(|focus| !focus.is_same_node(Some(&elements.table_filter))) {
                elements.table_filter.set_value(text);
            }
            let places = [&elements.chip_node, &elements.chip_sizes, &elements.chip_lives];
            for (place, chip) in places.into_iter().zip(chips) {
                place.set_hidden(chip.is_none());
                let text = chip.as_deref().unwrap_or_default();
                set_text(place, text);
                set_attribute(place, "aria-label", &["No longer only: ", text].concat());
            }
        }
        if let Some(status) = self.status.changed(status(&state.table, state)) {
            for place in [&elements.table_status, &elements.histograms_status] {
                set_text(place, &status.text);
                set_attribute(place, "title", &status.exact);
                place.set_class_name(if status.is_wrong { "wrong" } else { "" });
            }
            set_attribute(&elements.table_filter, "aria-invalid", if status.is_wrong { "true" } else { "false" });
            elements.table_clear.set_hidden(!status.is_filtered);
            elements.histograms_clear.set_hidden(!status.is_filtered);
            elements.table_empty_clear.set_hidden(!status.is_filtered);
            for (name, value) in
                ["data-count", "data-bytes", "data-chosen-count", "data-chosen-bytes"].iter().zip(status.data)
            {
                set_attribute(&elements.table_status, name, &value.to_string());
            }
        }
    }
}
