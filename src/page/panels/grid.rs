//! Virtualized rows of a grid. Only visible rows have elements, which are reused while scrolling.

use crate::app::App;
use crate::dom::{
    Dom, append, focus_element, listen, number_at, observe_sizes, set_attribute, set_flag, set_style, set_text,
};
use std::rc::Rc;
use ui::features::rows::{Cell, Grid, RowView, SelectMode};
use ui::plot::scroll::Scroll;
use ui::shell::action::Action;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, MouseEvent};

/// Height, in CSS pixels, of a grid's header, which covers the top of the scrolled list.
pub(super) const HEADER_PX: f64 = 24.0;

pub(super) struct GridElements<'a> {
    pub(super) grid: &'a HtmlElement,
    pub(super) space: &'a HtmlElement,
    pub(super) rows: &'a HtmlElement,
    /// Element that is shown if there are no rows, and the element of its text.
    pub(super) empty: [&'a HtmlElement; 2],
    /// Prefix of the ids of row elements.
    pub(super) id_prefix: &'static str,
    /// Name of the attribute that contains the id of a row's item.
    pub(super) item_attribute: &'static str,
}

/// Row elements of a grid.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    jumps: u32,
}

/// Row element, and the view model that it shows.
struct Row {
    element: Element,
    cells: Vec<Element>,
    shown: RowView,
}

impl Rows {
    /// Applies a requested scroll position.
    pub(super) fn scroll(&mut self, place: &GridElements<'_>, scroll: &Scroll) {
        let (jumps, px) = scroll.jump();
        if self.jumps != jumps {
            self.jumps = jumps;
            place.grid.set_scroll_top(px as i32);
        }
    }

    /// Shows the visible rows.
    pub(super) fn show(&mut self, dom: &Dom, place: &GridElements<'_>, grid: &Grid) {
        let rows = &mut self.rows;
        set_attribute(place.grid, "aria-rowcount", &(u64::from(grid.count) + 1).to_string());
        set_style(place.space, "height", &[&(grid.total_px as u32).to_string(), "px"].concat());
        set_style(place.rows, "transform", &["translateY(", &(grid.offset_px as i32).to_string(), "px)"].concat());
        place.empty[0].set_hidden(grid.empty.is_empty());
        set_text(place.empty[1], grid.empty);
        while rows.len() > grid.rows.len() {
            if let Some(row) = rows.pop() {
                row.element.remove();
            }
        }
        for (at, view) in grid.rows.iter().enumerate() {
            if at >= rows.len() {
                rows.push(new_row(dom, place, view.cells.len()));
            }
            if let Some(row) = rows.get_mut(at) {
                show_row(dom, place, row, view);
            }
        }
        match grid.active {
            Some(active) => set_attribute(place.grid, "aria-activedescendant", &row_id(place, active)),
            None => drop(place.grid.remove_attribute("aria-activedescendant")),
        }
    }
}

fn row_id(place: &GridElements<'_>, row: u32) -> String {
    [place.id_prefix, &row.to_string()].concat()
}

fn new_row(dom: &Dom, place: &GridElements<'_>, columns: usize) -> Row {
    let element = dom.new_element("div", "", "");
    set_attribute(&element, "role", "row");
    let cells: Vec<Element> = (0..columns)
        .map(|_| {
            let cell = dom.new_element("div", "", "");
            set_attribute(&cell, "role", "gridcell");
            append(&element, &cell);
            cell
        })
        .collect();
    append(place.rows, &element);
    let shown = RowView {
        row: u32::MAX,
        item: u32::MAX,
        cells: vec![Cell::default(); columns],
        class: String::new(),
        is_chosen: true,
    };
    Row { element, cells, shown }
}

fn show_row(dom: &Dom, place: &GridElements<'_>, row: &mut Row, view: &RowView) {
    let Row { element, cells, shown } = row;
    if shown == view {
        return;
    }
    for ((cell, new), old) in cells.iter().zip(&view.cells).zip(&shown.cells) {
        if (&new.text, new.shared) != (&old.text, old.shared) {
            dom.set_name(cell, &new.text, new.shared);
        }
        if new.title != old.title {
            set_attribute(cell, "title", &new.title);
        }
    }
    if shown.row != view.row || shown.item != view.item {
        element.set_id(&row_id(place, view.row));
        set_attribute(element, "data-row", &view.row.to_string());
        set_attribute(element, place.item_attribute, &view.item.to_string());
        set_attribute(element, "aria-rowindex", &(u64::from(view.row) + 2).to_string());
    }
    if shown.class != view.class {
        element.set_class_name(&view.class);
    }
    if shown.is_chosen != view.is_chosen {
        set_flag(element, "aria-selected", view.is_chosen);
    }
    shown.clone_from(view);
}

/// Dispatches the action that `then` creates from the visible part of a list (top and height, in CSS pixels), initially
/// and after each change. `head_px` is the height of the header that covers the top of the list.
pub(super) fn watch_scroll(
    app: &'static App,
    list: &HtmlElement,
    head_px: f64,
    then: fn(f64, f64) -> Action,
) -> Result<(), String> {
    let seen = list.clone();
    let notify = Rc::new(move || {
        let (top, height) = (f64::from(seen.scroll_top()), f64::from(seen.client_height()) - head_px);
        // A hidden list has no height, and loses its scroll position for a while.
        if height > 0.0 {
            app.dispatch(then(top, height));
        }
    });
    let scrolled = notify.clone();
    listen(list, "scroll", move |_| scrolled());
    observe_sizes(&[list], move |_| notify())
}

/// Returns the index of the clicked row, and how the click changes the selection.
pub(super) fn clicked_row(event: &Event) -> Option<(u32, SelectMode)> {
    let row = number_at(event, "data-row")?;
    let event = event.dyn_ref::<MouseEvent>()?;
    let extent = match (event.shift_key(), event.ctrl_key() || event.meta_key()) {
        (true, _) => SelectMode::Extend,
        (_, true) => SelectMode::Toggle,
        _ => SelectMode::Only,
    };
    Some((row, extent))
}

/// Moves the focus from a filter field to its list on Enter, Escape and arrow down.
pub(super) fn move_focus_from_field(to: &HtmlElement, event: &Event) {
    let key = event.dyn_ref::<KeyboardEvent>().filter(|event| !event.is_composing()).map(KeyboardEvent::key);
    if matches!(key.as_deref(), Some("Enter" | "Escape" | "ArrowDown")) {
        event.prevent_default();
        event.stop_propagation();
        focus_element(to);
    }
}
