//! The histograms: a button a bar.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use ui::State;
use ui::histograms::{Bar, Chart, Histogram, Measure};
use ui::views::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

#[derive(Default)]
pub(super) struct Panel {
    charts: [Shown<Chart>; 2],
    measure: Shown<Measure>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if state.views.seen() != Some(Tab::Histograms) {
            return;
        }
        if let Some(measure) = self.measure.changed(state.table.measure) {
            let is_count = *measure == Measure::Count;
            set_attribute(&elements.measure, "aria-pressed", if is_count { "true" } else { "false" });
        }
        let places = [
            (Histogram::Sizes, &elements.size_bars, &elements.size_top),
            (Histogram::Lives, &elements.life_bars, &elements.life_top),
        ];
        for (shown, (of, bars, top)) in self.charts.iter_mut().zip(places) {
            if let Some(chart) = shown.changed(state.table.chart(of)) {
                let text = ["highest bar: ", &chart.top].concat();
                set_text(top, &text);
                set_attribute(top, "data-top", &text);
                show_bars(elements, bars, &chart.bars);
            }
        }
    }
}

fn show_bars(elements: &Elements, place: &HtmlElement, bars: &[Bar]) {
    // A redrawn chart must not take the focus away from who works in it.
    let focus = elements.document.active_element().filter(|focus| place.contains(Some(focus)));
    let focused = focus.and_then(|focus| focus.get_attribute("data-class"));
    let is_focused = |bar: &Bar| focused.as_deref() == Some(bar.class.to_string().as_str());
    // Nor may the bars come without it when somebody who came here waits for them.
    let waits = elements.document.active_element().is_some_and(|focus| focus.is_same_node(Some(&elements.histograms)));
    clear(place);
    let tabbed = bars.iter().position(is_focused).or(bars.iter().position(|bar| bar.is_chosen)).unwrap_or(0);
    for (number, bar) in bars.iter().enumerate() {
        let button = new_bar(elements, bar);
        set_attribute(&button, "tabindex", if number == tabbed { "0" } else { "-1" });
        append(place, &button);
        if (is_focused(bar) || (waits && number == tabbed))
            && let Some(button) = button.dyn_ref::<HtmlElement>()
        {
            // It fails only for an element that is gone.
            let _ = button.focus();
        }
    }
}

fn new_bar(elements: &Elements, bar: &Bar) -> Element {
    let button = elements.new_element("button", if bar.is_apart { "apart" } else { "" }, "");
    set_attribute(&button, "type", "button");
    set_attribute(&button, "data-class", &bar.class.to_string());
    set_attribute(&button, "aria-label", &bar.name);
    set_attribute(&button, "title", &bar.name);
    set_attribute(&button, "aria-pressed", if bar.is_chosen { "true" } else { "false" });
    let fill = elements.new_element("span", "fill", "");
    if let Some(fill) = fill.dyn_ref::<HtmlElement>() {
        // It fails for no property of ours.
        let _ = fill.style().set_property("--part", &bar.height.to_string());
    }
    append(&button, &fill);
    append(&button, &elements.new_element("span", "tick", &bar.tick));
    button
}
