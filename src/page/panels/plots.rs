//! Selects for the plotted quantity, the legend of the lines, and details of the selected segment.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{clear, set_attribute, set_flag, set_style, set_text};
use crate::elements::elements;
use protocol::PEAK_PAUSED;
use ui::features::State;
use ui::plot::plots::segment::segment_view;
use ui::plot::plots::view::{Pickers, pickers};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::line::CurveKeyEntry;
use ui::state::plots::{NAMES, PlotAction};
use ui::state::selected_segment::SelectedSegment;
use web_sys::{HtmlElement, HtmlSelectElement};

elements! {
    HtmlButtonElement: fit_bytes;
    HtmlCanvasElement: timeline;
    HtmlElement: about_hint, details, details_caution, details_facts, details_key, details_only, details_site, details_title,
        forward, frames, key_paused, lines, only_pool_field, only_segment, only_stream_field, picture, segment_tools, selection_panel;
    HtmlSelectElement: only_pool, only_stream, show, stacking;
}

#[derive(Default)]
pub(super) struct Panel {
    pickers: LastShown<Pickers>,
    lists: LastShown<[Vec<String>; 2]>,
    key: LastShown<Vec<CurveKeyEntry>>,
    has_paused: LastShown<bool>,
    chosen: LastShown<Option<SelectedSegment>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.choice(&elements.show, |index| Some(Action::Plot(PlotAction::KindChosen(index))));
        // The first option stands for all pools or streams.
        on.choice(&elements.only_pool, |index| Some(Action::Plot(PlotAction::Pool(index.checked_sub(1)))));
        on.choice(&elements.only_stream, |index| Some(Action::Plot(PlotAction::Stream(index.checked_sub(1)))));
        on.click(&elements.details_only, |_| Some(Action::Command(commands::ONLY_SEGMENT)));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let pickers = pickers(state);
        if let Some(lists) = self.lists.update([pickers.pools.clone(), pickers.streams.clone()]) {
            for (select, lines) in [&elements.only_pool, &elements.only_stream].into_iter().zip(lists) {
                elements.fill_options(select, lines);
            }
        }
        if let Some(pickers) = self.pickers.update(pickers) {
            show_pickers(elements, pickers);
        }
        if let Some(key) = self.key.update(ui::plot::plots::curves::curve_key(state)) {
            elements.lines.set_hidden(key.is_empty());
            key.iter().for_each(|entry| show_line(elements, entry));
        }
        let paused = state.device().and_then(|device| device.recorder_value(PEAK_PAUSED));
        if let Some(has_paused) = self.has_paused.update(paused.is_some()) {
            elements.key_paused.set_hidden(!has_paused);
        }
        let before = self.chosen.0.as_ref().is_some_and(Option::is_some);
        match self.chosen.update(ui::plot::plots::segment::selected_segment(state).cloned()) {
            Some(Some(chosen)) => show_segment(elements, chosen),
            Some(None) if before => {
                let _ = elements.details.remove_attribute("data-segment");
                elements.segment_tools.set_hidden(true);
                elements.details.set_hidden(state.selection.is_none());
                elements.about_hint.set_hidden(state.selection.is_some());
            }
            _ => {}
        }
    }
}

fn show_pickers(elements: &Elements, pickers: &Pickers) {
    elements.show.set_value(pickers.plot);
    set_attribute(&elements.picture, "data-show", pickers.plot);
    set_style(&elements.picture, "--gutter", &[&pickers.gutter_px.to_string(), "px"].concat());
    set_attribute(&elements.timeline, "aria-label", &pickers.label);
    let is_stack = pickers.plot == NAMES[0];
    let fields = [
        (&elements.only_pool_field, &elements.only_pool, &pickers.pool),
        (&elements.only_stream_field, &elements.only_stream, &pickers.stream),
    ];
    for (field, select, place) in fields {
        // A single pool or stream is the same as all of them.
        let is_choice = select.length() > 2 || *place > 0;
        field.set_hidden(is_stack || !is_choice);
        select.set_selected_index(*place as i32);
    }
    elements.only_segment.set_hidden(pickers.segment.is_empty());
    set_text(&elements.only_segment, &pickers.segment);
    set_flag(&elements.only_segment, "aria-pressed", pickers.is_segment);
    disable(&elements.stacking, pickers.no_order, "Order of the stack (G)", HtmlSelectElement::set_disabled);
    let fit = "The bytes axis follows the window (F)";
    disable(&elements.fit_bytes, pickers.no_fit, fit, web_sys::HtmlButtonElement::set_disabled);
}

/// Disables a control and shows `why` as its tooltip, or enables it with the tooltip `title` if there is no reason.
fn disable<T: AsRef<web_sys::Element>>(control: &T, why: Option<&str>, title: &str, set: fn(&T, bool)) {
    set(control, why.is_some());
    set_attribute(control.as_ref(), "title", why.unwrap_or(title));
}

/// Updates the button that shows or hides a line.
fn show_line(elements: &Elements, entry: &CurveKeyEntry) {
    let Some(command) = commands::toggle_line_command(entry.line) else { return };
    let Some(button) = elements.by_id::<HtmlElement>(command.control) else { return };
    button.set_hidden(!entry.is_listed);
    set_flag(&button, "aria-pressed", entry.is_visible);
}

fn show_segment(elements: &Elements, chosen: &SelectedSegment) {
    let view = segment_view(chosen);
    for name in ["data-allocation", "data-size", "data-address"] {
        let _ = elements.details.remove_attribute(name);
    }
    elements.details.set_hidden(false);
    elements.about_hint.set_hidden(true);
    elements.segment_tools.set_hidden(false);
    elements.details_caution.set_hidden(true);
    elements.forward.set_hidden(true);
    set_attribute(&elements.details, "data-segment", &chosen.segment.address.to_string());
    set_attribute(&elements.details, "data-reserved", &chosen.segment.reserved.to_string());
    set_text(&elements.details_title, &view.title);
    set_text(&elements.details_site, &view.site);
    let facts = view.facts.iter().map(|fact| (fact.label.as_str(), fact.value.as_str()));
    clear(&elements.details_key);
    elements.fill_definitions(&elements.details_facts, facts);
    clear(&elements.frames);
    elements.selection_panel.set_scroll_top(0);
}
