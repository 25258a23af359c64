//! Small histograms in the header of the Allocations tab. Dragging over their bars filters the table.

use crate::app::App;
use crate::dom::{Dom, append, clear, hit_element, listen, number_at, set_attribute, set_flag, set_style};
use protocol::TableColumn;
use std::cell::Cell;
use std::rc::Rc;
use ui::features::histograms::{Bar, Chart, ClickMode, Histogram};
use ui::features::table::TableAction;
use ui::shell::action::Action;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

/// Height of the histograms, in CSS pixels.
pub(super) const HEIGHT_PX: f64 = 20.0;

/// All histograms in the header.
pub(super) const COLUMNS: [Histogram; 2] = [Histogram::Sizes, Histogram::Lifetimes];

fn id(of: Histogram) -> &'static str {
    if of == Histogram::Sizes { "table-sizes" } else { "table-lives" }
}

/// Adds the histogram of a column below the column's name, if the column has a histogram.
pub(super) fn start(app: &'static App, header: &Element, column: TableColumn, dom: &Dom) {
    let of = match column {
        TableColumn::Size => Histogram::Sizes,
        TableColumn::Lifetime => Histogram::Lifetimes,
        _ => return,
    };
    let chart = dom.append_new(header, "div", "mini", "");
    chart.set_id(id(of));
    // The Histograms tab is the version for keyboards and screen readers.
    set_attribute(&chart, "aria-hidden", "true");
    listen_for_drag(app, &chart, of);
}

fn listen_for_drag(app: &'static App, chart: &Element, of: Histogram) {
    let from = Rc::new(Cell::new(None::<(u8, u8)>));
    let click =
        move |class: u8, reach: ClickMode| app.dispatch(Action::feature(TableAction::BarClicked(of, class, reach)));
    let held = from.clone();
    listen(chart, "pointerdown", move |event| {
        if let Some(class) = number_at(event, "data-class") {
            held.set(Some((class as u8, class as u8)));
            click(class as u8, ClickMode::Only);
        }
    });
    let held = from.clone();
    // The pointer is not captured, since events have to reach the bar under it.
    listen(chart, "pointermove", move |event| {
        let Some((from, last)) = held.get() else { return };
        if event.dyn_ref::<PointerEvent>().is_none_or(|event| event.buttons() & 1 == 0) {
            return held.set(None);
        }
        let class =
            hit_element(event, "[data-class]").and_then(|_| number_at(event, "data-class")).map(|class| class as u8);
        if let Some(class) = class.filter(|class| *class != last) {
            held.set(Some((from, class)));
            click(class, ClickMode::Drag(from));
        }
    });
    listen(chart, "pointerup", move |_| from.set(None));
}

/// Shows a histogram. Its bar elements are reused if the number of bars is unchanged.
pub(super) fn show(dom: &Dom, of: Histogram, chart: &Chart) {
    let Some(place) = dom.by_id::<Element>(id(of)) else { return };
    if place.child_element_count() as usize != chart.bars.len() {
        clear(&place);
        chart.bars.iter().for_each(|_| append(&place, &dom.new_element("i", "", "")));
    }
    let mut bar = place.first_element_child();
    for view in &chart.bars {
        let Some(now) = bar else { break };
        show_bar(&now, view);
        bar = now.next_element_sibling();
    }
}

fn show_bar(bar: &Element, view: &Bar) {
    set_attribute(bar, "data-class", &view.class.to_string());
    set_attribute(bar, "title", &view.name);
    set_flag(bar, "data-chosen", view.is_selected);
    set_style(bar, "--part", &view.height.to_string());
}
