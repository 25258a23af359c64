//! Rows of a grid: as many elements as are seen, filled anew as they are scrolled.

use crate::dom::{Elements, append, set_attribute, set_text};
use ui::rows::{Cell, Grid, RowView};
use ui::scroll::Scroll;
use web_sys::{Element, HtmlElement};

/// The elements of a grid.
pub(super) struct Place<'a> {
    /// What scrolls.
    pub(super) grid: &'a HtmlElement,
    /// As high as all rows.
    pub(super) space: &'a HtmlElement,
    /// The rows that are there.
    pub(super) rows: &'a HtmlElement,
    /// What is seen instead of rows, and its text.
    pub(super) empty: [&'a HtmlElement; 2],
    /// What the ids of rows begin with.
    pub(super) id: &'static str,
    /// The attribute that tells what a row is about.
    pub(super) of: &'static str,
}

/// The rows that are there.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    jumps: u32,
}

/// A row of the page, and what it shows.
struct Row {
    element: Element,
    cells: Vec<Element>,
    shown: RowView,
}

impl Rows {
    /// Scrolls where that is wanted.
    pub(super) fn scroll(&mut self, place: &Place<'_>, scroll: &Scroll) {
        let (jumps, px) = scroll.jump();
        if self.jumps != jumps {
            self.jumps = jumps;
            place.grid.set_scroll_top(px as i32);
        }
    }

    /// Shows rows.
    pub(super) fn show(&mut self, elements: &Elements, place: &Place<'_>, grid: &Grid) {
        let rows = &mut self.rows;
        set_attribute(place.grid, "aria-rowcount", &(u64::from(grid.count) + 1).to_string());
        // They fail for no property of ours.
        let _ = place.space.style().set_property("height", &[&(grid.all_px as u32).to_string(), "px"].concat());
        let to = ["translateY(", &(grid.rows_px as i32).to_string(), "px)"].concat();
        let _ = place.rows.style().set_property("transform", &to);
        place.empty[0].set_hidden(grid.empty.is_empty());
        set_text(place.empty[1], grid.empty);
        while rows.len() > grid.rows.len() {
            if let Some(row) = rows.pop() {
                row.element.remove();
            }
        }
        for (at, view) in grid.rows.iter().enumerate() {
            if at >= rows.len() {
                rows.push(new_row(elements, place, view.cells.len()));
            }
            if let Some(row) = rows.get_mut(at) {
                show_row(place, row, view);
            }
        }
        match grid.active {
            Some(active) => set_attribute(place.grid, "aria-activedescendant", &row_id(place, active)),
            None => drop(place.grid.remove_attribute("aria-activedescendant")),
        }
    }
}

fn row_id(place: &Place<'_>, row: u32) -> String {
    [place.id, &row.to_string()].concat()
}

fn new_row(elements: &Elements, place: &Place<'_>, columns: usize) -> Row {
    let element = elements.new_element("div", "", "");
    set_attribute(&element, "role", "row");
    let cells: Vec<Element> = (0..columns)
        .map(|_| {
            let cell = elements.new_element("div", "", "");
            set_attribute(&cell, "role", "gridcell");
            append(&element, &cell);
            cell
        })
        .collect();
    append(place.rows, &element);
    let shown = RowView {
        row: u32::MAX,
        of: u32::MAX,
        cells: vec![Cell::default(); columns],
        class: String::new(),
        is_chosen: true,
    };
    Row { element, cells, shown }
}

fn show_row(place: &Place<'_>, row: &mut Row, view: &RowView) {
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
    if shown.row != view.row || shown.of != view.of {
        element.set_id(&row_id(place, view.row));
        set_attribute(element, "data-row", &view.row.to_string());
        set_attribute(element, place.of, &view.of.to_string());
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
