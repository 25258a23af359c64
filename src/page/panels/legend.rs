//! What the colours mean, as a list whose entries fade what they name; and the pickers of order, colours and axis.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use crate::theme::Theme;
use engine::protocol::{Grouping, LegendEntry, Plot};
use picture::timeline::Axis;
use picture::timeline::paint::SHADES;
use std::collections::BTreeSet;
use std::rc::Rc;
use ui::State;
use ui::legend::{Line, heading, lines as entry_lines};
use ui::marks::lanes;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

#[derive(Default)]
pub(super) struct Panel {
    lanes: Shown<u32>,
    pickers: Shown<(Option<Grouping>, Grouping, Axis, bool)>,
    entries: Shown<Entries>,
}

/// Everything the list depends on.
#[derive(PartialEq)]
struct Entries {
    entries: Option<Rc<Vec<LegendEntry>>>,
    plot: Plot,
    colouring: Grouping,
    faded: BTreeSet<u32>,
    background: [u8; 4],
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State, theme: &Theme) {
        if let Some(lanes) = self.lanes.changed(lanes(state)) {
            // The style sheet's 26 px are those of the axis alone.
            let _ = elements.stage.style().set_property("--axis-bottom", &format!("{}px", 26 + 16 * lanes));
        }
        let timed = state.device().is_some_and(|device| device.time_us.is_some());
        let pickers = (state.looks.stacking, state.looks.colouring, state.axis, timed);
        if let Some((stacking, colouring, axis, timed)) = self.pickers.changed(pickers) {
            elements.stacking.set_value(stacking.map_or("birth", Grouping::name));
            elements.colouring.set_value(colouring.name());
            set_attribute(&elements.axis, "aria-pressed", if *axis == Axis::Time { "true" } else { "false" });
            elements.axis.set_disabled(!timed);
        }
        let (plot, colouring) = (state.looks.plot, state.told_by_colour());
        let entries = state.around.legend_of(colouring).cloned();
        let (faded, background) = (state.around.faded.clone(), theme.look.background);
        let now = Entries { entries, plot, colouring, faded, background };
        if let Some(Entries { entries, plot, colouring, faded, .. }) = self.entries.changed(now) {
            let entries = entries.as_deref().map_or(&[][..], Vec::as_slice);
            elements.legend.set_hidden(entries.is_empty());
            set_text(&elements.legend_title, &heading(*plot, *colouring));
            let is_plain = matches!(plot, Plot::Reserved(_));
            set_attribute(&elements.legend, "class", if is_plain { "plain" } else { "" });
            show_entries(elements, &entry_lines(*plot, *colouring, entries, faded), palette(theme, *colouring));
        }
    }
}

fn palette(theme: &Theme, colouring: Grouping) -> &[[u8; 4]; 256] {
    if colouring.is_ordered() { &theme.look.ordered } else { &theme.look.palette }
}

fn show_entries(elements: &Elements, lines: &[Line], palette: &[[u8; 4]; 256]) {
    // A redrawn list must not take the focus away from who works in it.
    let focused = elements.document.active_element().and_then(|focus| focus.get_attribute("data-slot"));
    clear(&elements.legend_entries);
    for line in lines {
        let item = elements.new_element("li", "", "");
        let button = elements.new_element("button", "entry", "");
        set_attribute(&button, "type", "button");
        set_attribute(&button, "data-slot", &line.slot.to_string());
        set_attribute(&button, "aria-pressed", if line.faded { "false" } else { "true" });
        set_attribute(&button, "title", &line.exact);
        let swatch = elements.new_element("span", "swatch", "");
        let [red, green, blue, _] = palette.get((line.slot * SHADES) as usize).copied().unwrap_or_default();
        if let Some(swatch) = swatch.dyn_ref::<HtmlElement>() {
            let _ = swatch.style().set_property("background", &format!("rgb({red} {green} {blue})"));
        }
        append(&button, &swatch);
        append(&button, &elements.new_element("span", "label", &line.label));
        for column in &line.columns {
            append(&button, &elements.new_element("span", "bytes", column));
        }
        append(&item, &button);
        let only = elements.new_element("button", "only", "only");
        set_attribute(&only, "type", "button");
        set_attribute(&only, "data-slot", &line.slot.to_string());
        set_attribute(&only, "aria-label", &format!("Only {}", line.label));
        append(&item, &only);
        append(&elements.legend_entries, &item);
        if focused.as_deref() == Some(line.slot.to_string().as_str())
            && let Some(button) = button.dyn_ref::<HtmlElement>()
        {
            let _ = button.focus();
        }
    }
}
