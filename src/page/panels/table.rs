//! The table of allocations: as many rows as are seen, filled anew as they are scrolled; header, status, what filters.

use super::Shown;
use crate::engine::protocol::TableSort;
use crate::page::dom::{Elements, append, set_attribute, set_text};
use crate::ui::State;
use crate::ui::histograms::{Histogram, chosen};
use crate::ui::table::{COLUMNS, Cell, Grid, RowView, TableStatus, grid, order, status};
use crate::ui::views::Tab;
use web_sys::Element;

#[derive(Default)]
pub(super) struct Panel {
    grid: Shown<Grid>,
    sort: Shown<TableSort>,
    status: Shown<TableStatus>,
    filters: Shown<(String, [Option<String>; 3])>,
    rows: Vec<Row>,
    jump: u32,
}

/// A row of the page, and what it shows.
struct Row {
    element: Element,
    cells: Vec<Element>,
    shown: RowView,
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
        if let Some(grid) = self.grid.changed(grid(state)) {
            show_grid(elements, &mut self.rows, grid);
        }
        if self.jump != state.table.jump.0 {
            self.jump = state.table.jump.0;
            elements.table_grid.set_scroll_top(state.table.jump.1 as i32);
        }
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
        if let Some(status) = self.status.changed(status(state)) {
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

fn show_grid(elements: &Elements, rows: &mut Vec<Row>, grid: &Grid) {
    set_attribute(&elements.table_grid, "aria-rowcount", &(u64::from(grid.count) + 1).to_string());
    // They fail for no property of ours.
    let _ = elements.table_space.style().set_property("height", &[&(grid.all_px as u32).to_string(), "px"].concat());
    let to = ["translateY(", &(grid.rows_px as i32).to_string(), "px)"].concat();
    let _ = elements.table_rows.style().set_property("transform", &to);
    elements.table_empty.set_hidden(grid.empty.is_empty());
    set_text(&elements.table_empty_text, grid.empty);
    while rows.len() > grid.rows.len() {
        if let Some(row) = rows.pop() {
            row.element.remove();
        }
    }
    for (place, view) in grid.rows.iter().enumerate() {
        if place >= rows.len() {
            rows.push(new_row(elements));
        }
        if let Some(row) = rows.get_mut(place) {
            show_row(row, view);
        }
    }
    match grid.active {
        Some(active) => set_attribute(&elements.table_grid, "aria-activedescendant", &row_id(active)),
        None => drop(elements.table_grid.remove_attribute("aria-activedescendant")),
    }
}

fn row_id(row: u32) -> String {
    ["row-", &row.to_string()].concat()
}

fn new_row(elements: &Elements) -> Row {
    let element = elements.new_element("div", "", "");
    set_attribute(&element, "role", "row");
    let cells: Vec<Element> = COLUMNS
        .iter()
        .map(|_| {
            let cell = elements.new_element("div", "", "");
            set_attribute(&cell, "role", "gridcell");
            append(&element, &cell);
            cell
        })
        .collect();
    append(&elements.table_rows, &element);
    let shown = RowView {
        row: u32::MAX,
        allocation: u32::MAX,
        cells: vec![Cell::default(); COLUMNS.len()],
        class: String::new(),
        is_chosen: true,
    };
    Row { element, cells, shown }
}

fn show_row(row: &mut Row, view: &RowView) {
    let Row { element, cells, shown } = row;
    if shown == view {
        return;
    }
    for ((cell, new), old) in cells.iter().zip(&view.cells).zip(&shown.cells) {
        if new.text != old.text {
            cell.set_text_content(Some(&new.text));
        }
        if new.title != old.title {
            set_attribute(cell, "title", &new.title);
        }
    }
    if shown.row != view.row || shown.allocation != view.allocation {
        element.set_id(&row_id(view.row));
        set_attribute(element, "data-row", &view.row.to_string());
        set_attribute(element, "data-allocation", &view.allocation.to_string());
        set_attribute(element, "aria-rowindex", &(u64::from(view.row) + 2).to_string());
    }
    if shown.class != view.class {
        element.set_class_name(&view.class);
    }
    if shown.is_chosen != view.is_chosen {
        set_attribute(element, "aria-selected", if view.is_chosen { "true" } else { "false" });
    }
    shown.clone_from(view);
}
