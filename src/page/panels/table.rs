//! Allocations tab: the virtualized table of allocations, its header, filters and status.

use super::grid::{GridElements, HEADER_PX, Rows, clicked_row, move_focus_from_field, watch_scroll};
use super::table_mini as mini;
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, number_at, set_attribute, set_flag, set_text};
use crate::elements::elements;
use protocol::{ColumnTexts, TableColumn, TableSort};
use ui::features::State;
use ui::features::histograms::{Chart, Histogram, selection_text};
use ui::features::rows::Grid;
use ui::features::table::{FilterPart, TableAction, TableStatus, aria_sort, grid, status};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::text::tab::Tab;

elements! {
    HtmlElement: chip_lives, chip_node, chip_sizes, histograms_clear, histograms_status, table_clear, table_empty,
        table_empty_clear, table_empty_text, table_grid, table_head, table_rows, table_space, table_status;
    HtmlInputElement: table_filter;
}

#[derive(Default)]
pub(super) struct Panel {
    grid: LastShown<Grid>,
    charts: [LastShown<Chart>; 2],
    sort: LastShown<TableSort>,
    status: LastShown<TableStatus>,
    filters: LastShown<(String, [Option<String>; 3])>,
    rows: Rows,
}

fn grid_elements(elements: &Elements) -> GridElements<'_> {
    GridElements {
        grid: &elements.table_grid,
        space: &elements.table_space,
        rows: &elements.table_rows,
        empty: [&elements.table_empty, &elements.table_empty_text],
        id_prefix: "row-",
        item_attribute: "data-allocation",
    }
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        set_attribute(&elements.table_grid, "aria-colcount", &TableColumn::ALL.len().to_string());
        for (place, column) in TableColumn::ALL.into_iter().enumerate() {
            let ColumnTexts { title, tooltip, .. } = column.texts();
            let header = elements.append_new(&elements.table_head, "div", "", "");
            set_attribute(&header, "role", "columnheader");
            let button = elements.new_button("", title, ("data-column", &place.to_string()));
            set_attribute(&button, "title", tooltip);
            append(&header, &button);
            mini::start(app, &header, column, elements);
        }
        watch_scroll(app, &elements.table_grid, HEADER_PX + mini::HEIGHT_PX, |top, height| {
            Action::feature(TableAction::Scrolled(top, height))
        })
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.table_rows, |event| {
            clicked_row(event).map(|(row, extent)| TableAction::RowClicked(row, extent).into())
        });
        on.click(&elements.table_head, |event| {
            let column = TableColumn::ALL.get(number_at(event, "data-column")? as usize)?;
            Some(TableAction::SortChosen(*column).into())
        });
        on.text(&elements.table_filter, "input", |text| TableAction::FilterTyped(text).into());
        on.event(&elements.table_filter, "keydown", |_, elements, event| {
            move_focus_from_field(&elements.table_grid, event);
        });
        on.click(&elements.chip_node, |_| Some(TableAction::FilterPartRemoved(FilterPart::Node).into()));
        on.click(&elements.chip_sizes, |_| Some(TableAction::FilterPartRemoved(FilterPart::Sizes).into()));
        on.click(&elements.chip_lives, |_| Some(TableAction::FilterPartRemoved(FilterPart::Lifetimes).into()));
        on.click(&elements.table_empty_clear, |_| Some(Action::Command(commands::rows::CLEAR)));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let tab = state.views.visible();
        if !matches!(tab, Some(Tab::Allocations | Tab::Histograms)) {
            return;
        }
        self.show_filters(elements, state);
        if tab != Some(Tab::Allocations) {
            return;
        }
        if let Some(sort) = self.sort.update(state.table.sort) {
            let mut header = elements.table_head.first_element_child();
            for column in TableColumn::ALL {
                let Some(now) = header else { break };
                set_attribute(&now, "aria-sort", aria_sort(*sort, column));
                header = now.next_element_sibling();
            }
        }
        for (shown, of) in self.charts.iter_mut().zip(mini::COLUMNS) {
            if let Some(chart) = shown.update(state.table.chart(of)) {
                mini::show(elements, of, chart);
            }
        }
        if let Some(grid) = self.grid.update(grid(&state.table, state)) {
            self.rows.show(elements, &grid_elements(elements), grid);
        }
        self.rows.scroll(&grid_elements(elements), &state.table.scroll);
    }
}

impl Panel {
    fn show_filters(&mut self, elements: &Elements, state: &State) {
        let table = &state.table;
        let chips = [
            state.views.node.map(|_| "selected row".to_owned()),
            table.sizes.map(|sizes| selection_text(Histogram::Sizes, sizes)),
            table.lifetimes.map(|lives| ["lifetime ", &selection_text(Histogram::Lifetimes, lives)].concat()),
        ];
        if let Some((text, chips)) = self.filters.update((table.text.clone(), chips)) {
            elements.set_value(&elements.table_filter, text);
            let places = [&elements.chip_node, &elements.chip_sizes, &elements.chip_lives];
            for (place, chip) in places.into_iter().zip(chips) {
                place.set_hidden(chip.is_none());
                let text = chip.as_deref().unwrap_or_default();
                set_text(place, text);
                set_attribute(place, "aria-label", &["Remove the filter: ", text].concat());
            }
        }
        if let Some(status) = self.status.update(status(&state.table, state)) {
            for place in [&elements.table_status, &elements.histograms_status] {
                set_text(place, &status.text);
                set_attribute(place, "title", &status.exact);
                place.set_class_name(if status.is_error { "wrong" } else { "" });
            }
            set_flag(&elements.table_filter, "aria-invalid", status.is_error);
            elements.table_clear.set_hidden(!status.is_filtered);
            elements.histograms_clear.set_hidden(!status.is_filtered);
            elements.table_empty_clear.set_hidden(!status.is_filtered);
            for (name, value) in
                ["data-count", "data-bytes", "data-chosen-count", "data-chosen-bytes"].iter().zip(status.sums)
            {
                set_attribute(&elements.table_status, name, &value.to_string());
            }
        }
    }
}
