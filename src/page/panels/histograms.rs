//! Histograms tab: each bar is a button that filters the Allocations tab.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{
    Dom, append, clear, focus_element, hit_element, listen, number_at, set_attribute, set_flag, set_style, set_text,
};
use crate::elements::elements;
use ui::features::State;
use ui::features::histograms::{Bar, Chart, ClickMode, Histogram, Measure};
use ui::features::table::TableAction;
use ui::shell::action::Action;
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, MouseEvent};

elements! {
    HtmlElement: histograms, life_axis, life_bars, life_top, measure, size_axis, size_bars, size_top;
}

#[derive(Default)]
pub(super) struct Panel {
    charts: [LastShown<Chart>; 2],
    measure: LastShown<Measure>,
}

impl Elements {
    fn charts(&self) -> [(Histogram, &HtmlElement, &HtmlElement, &HtmlElement); 2] {
        [
            (Histogram::Sizes, &self.size_bars, &self.size_top, &self.size_axis),
            (Histogram::Lifetimes, &self.life_bars, &self.life_top, &self.life_axis),
        ]
    }
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Histograms);

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        for (of, bars, top, _) in elements.charts() {
            listen(bars, "click", move |event| {
                let shift = event.dyn_ref::<MouseEvent>().is_some_and(MouseEvent::shift_key);
                if let Some(class) = number_at(event, "data-class") {
                    app.dispatch(Action::feature(TableAction::BarClicked(
                        of,
                        class as u8,
                        if shift { ClickMode::Extend } else { ClickMode::Only },
                    )));
                }
            });
            for event in ["pointerover", "focusin", "pointerleave", "focusout"] {
                let top = top.clone();
                listen(bars, event, move |event| show_bar_name(&top, event));
            }
        }
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.size_bars, "keydown", |_, elements, event| move_focus(elements, &elements.size_bars, event));
        on.event(&elements.life_bars, "keydown", |_, elements, event| move_focus(elements, &elements.life_bars, event));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(measure) = self.measure.update(state.table.measure) {
            let is_count = *measure == Measure::Count;
            set_flag(&elements.measure, "aria-pressed", is_count);
        }
        for (shown, (of, bars, _, axis)) in self.charts.iter_mut().zip(elements.charts()) {
            if let Some(chart) = shown.update(state.table.chart(of)) {
                clear(axis);
                let [what, top, middle] = &chart.axis;
                [what, top, middle].into_iter().for_each(|text| drop(elements.append_new(axis, "span", "", text)));
                elements.append_new(axis, "span", "", "0");
                show_bars(elements, bars, &chart.bars);
            }
        }
    }
}

fn show_bars(elements: &Elements, place: &HtmlElement, bars: &[Bar]) {
    // Rebuilding the chart must not move the focus away from a bar.
    let focus = elements.focused_element().filter(|focus| place.contains(Some(focus)));
    let focused = focus.and_then(|focus| focus.get_attribute("data-class"));
    let is_focused = |bar: &Bar| focused.as_deref() == Some(bar.class.to_string().as_str());
    // If the chart itself has the focus, because the user got here before the bars existed, the first bar gets it.
    let waits = elements.has_focus(&elements.histograms);
    clear(place);
    let tabbed = bars.iter().position(is_focused).or(bars.iter().position(|bar| bar.is_selected)).unwrap_or(0);
    for (number, bar) in bars.iter().enumerate() {
        let button = new_bar(elements, bar);
        set_attribute(&button, "tabindex", if number == tabbed { "0" } else { "-1" });
        append(place, &button);
        if is_focused(bar) || (waits && number == tabbed) {
            focus_element(&button);
        }
    }
}

fn new_bar(elements: &Elements, bar: &Bar) -> Element {
    let button =
        elements.new_button(if bar.is_special { "apart" } else { "" }, "", ("data-class", &bar.class.to_string()));
    set_attribute(&button, "aria-label", &bar.name);
    set_attribute(&button, "title", &bar.name);
    set_flag(&button, "aria-pressed", bar.is_selected);
    let fill = elements.new_element("span", "fill", "");
    set_style(&fill, "--part", &bar.height.to_string());
    append(&button, &fill);
    // An accessible name has to contain all text of the button, so the label below the bar is drawn by the style sheet.
    set_attribute(&elements.append_new(&button, "span", "tick", ""), "data-tick", &bar.tick);
    button
}

/// Shows the name of the hovered or focused bar above the chart.
fn show_bar_name(top: &HtmlElement, event: &Event) {
    let label = hit_element(event, "button").filter(|_| matches!(event.type_().as_str(), "pointerover" | "focusin"));
    let label = label.and_then(|button| button.get_attribute("aria-label"));
    set_text(top, &label.unwrap_or_default());
}

/// Moves the focus between bars on arrow keys, Home and End.
fn move_focus(dom: &Dom, bars: &HtmlElement, event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
    let next = match (key.as_str(), dom.focused_element()) {
        ("ArrowLeft", Some(focus)) => focus.previous_element_sibling(),
        ("ArrowRight", Some(focus)) => focus.next_element_sibling(),
        ("Home", _) => bars.first_element_child(),
        ("End", _) => bars.last_element_child(),
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    next.iter().for_each(focus_element);
}
