//! Legend of the colours, and the selects for stacking order, colouring and axis. A click on an entry of the legend
//! fades its allocations.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, clear, focus_element, hit_element, number_at, set_attribute, set_flag, set_style, set_text};
use crate::elements::elements;
use crate::theme::Theme;
use picture::timeline::Axis;
use picture::timeline::paint::SHADES;
use protocol::{Grouping, LegendEntry, Plot};
use std::collections::BTreeSet;
use std::rc::Rc;
use ui::features::State;
use ui::plot::legend::{
    Line, MAX_UNFILTERED, VisiblePixels, drawn_marks, filtered, heading, lines as entry_lines, reserved_label,
};
use ui::plot::marks::track_count;
use ui::shell::action::Action;
use web_sys::{Event, HtmlElement};

elements! {
    HtmlButtonElement: axis;
    HtmlElement: legend, legend_entries, legend_title, mark_awaiting, mark_free, mark_oom, mark_reserved, mark_snapshot, marks, stage;
    HtmlInputElement: legend_filter;
    HtmlSelectElement: colouring, group, stacking;
}

#[derive(Default)]
pub(super) struct Panel {
    lanes: LastShown<u32>,
    pickers: LastShown<(Option<Grouping>, Grouping, Axis, bool)>,
    entries: LastShown<Entries>,
    marks: LastShown<[bool; 5]>,
    reserved: LastShown<Option<String>>,
}

/// All inputs of the legend's list of entries.
#[derive(PartialEq)]
struct Entries {
    entries: Option<Rc<Vec<LegendEntry>>>,
    plot: Plot,
    colouring: Grouping,
    faded: BTreeSet<u32>,
    covered: Option<VisiblePixels>,
    background: [u8; 4],
    filter: String,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.action(&elements.stacking, "change", |_, elements, _| {
            Some(Action::StackingChosen(Grouping::from_name(&elements.stacking.value())))
        });
        on.action(&elements.colouring, "change", |_, elements, _| {
            Some(Action::ColouringChosen(Grouping::from_name(&elements.colouring.value())?))
        });
        on.event(&elements.group, "change", |app, elements, _| {
            let group = elements.group.value();
            if let Some(group) = if group == "birth" { Some(None) } else { Grouping::from_name(&group).map(Some) } {
                app.dispatch(Action::GroupChosen(group));
            }
        });
        on.text(&elements.legend_filter, "input", Action::LegendFiltered);
        on.event(&elements.legend_entries, "click", on_click);
        on.event(&elements.legend_entries, "dblclick", on_click);
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let theme = &*app.theme.borrow();
        if let Some(lanes) = self.lanes.update(track_count(state)) {
            // The style sheet's default of 26 px is the height of the axis alone.
            set_style(&elements.stage, "--axis-bottom", &format!("{}px", 26 + 16 * lanes));
        }
        let timed = state.device().is_some_and(|device| device.time_us.is_some());
        let pickers = (state.plot_settings.stacking, state.plot_settings.colouring, state.axis, timed);
        if let Some((stacking, colouring, axis, timed)) = self.pickers.update(pickers) {
            elements.stacking.set_value(stacking.map_or("birth", Grouping::name));
            elements.colouring.set_value(colouring.name());
            let group = state.plot_settings.group().map(|group| group.map_or("birth", Grouping::name));
            elements.group.set_value(group.unwrap_or("custom"));
            set_flag(&elements.axis, "aria-pressed", *axis == Axis::Time);
            elements.axis.set_disabled(!timed);
        }
        if let Some(drawn) = self.marks.update(drawn_marks(state)) {
            let Elements { mark_reserved, mark_free, mark_awaiting, mark_oom, mark_snapshot, .. } = elements;
            let items = [mark_reserved, mark_free, mark_awaiting, mark_oom, mark_snapshot];
            items.into_iter().zip(drawn).for_each(|(item, is_drawn)| item.set_hidden(!is_drawn));
            elements.marks.set_hidden(!drawn.contains(&true));
        }
        if let Some(label) = self.reserved.update(reserved_label(state)) {
            set_text(&elements.mark_reserved, label.as_deref().unwrap_or_default());
        }
        let (plot, colouring) = (state.plot_settings.plot, ui::plot::legend::coloured_by(state));
        let entries = state.surroundings.legend_of(colouring).cloned();
        let (faded, background) = (state.surroundings.faded.clone(), theme.look.background);
        let covered = state.view().and_then(|view| ui::plot::legend::visible_pixels(state, &view));
        let filter = state.legend_filter.clone();
        let now = Entries { entries, plot, colouring, faded, covered, background, filter };
        if let Some(Entries { entries, plot, colouring, faded, covered, filter, .. }) = self.entries.update(now) {
            let entries = entries.as_deref().map_or(&[][..], Vec::as_slice);
            elements.legend.set_hidden(entries.is_empty());
            set_text(&elements.legend_title, &heading(*plot, *colouring));
            let lines = entry_lines(*plot, *colouring, entries, faded, covered.as_ref());
            elements.legend_filter.set_hidden(lines.len() <= MAX_UNFILTERED);
            let shown = if lines.len() <= MAX_UNFILTERED { lines } else { filtered(lines, filter) };
            set_class(&elements.legend, "plain", matches!(plot, Plot::Reserved(_)));
            set_class(&elements.legend, "ramp", colouring.is_ordered());
            show_entries(elements, &shown, palette(theme, *colouring));
        }
    }
}

/// Returns the palette colour with this index in CSS syntax.
pub(super) fn slot_colour(palette: &[[u8; 4]; 256], slot: u32) -> String {
    let [red, green, blue, _] = palette.get((slot * SHADES) as usize).copied().unwrap_or_default();
    format!("rgb({red} {green} {blue})")
}

fn set_class(element: &HtmlElement, name: &str, holds: bool) {
    // Fails only for invalid class names.
    let _ = element.class_list().toggle_with_force(name, holds);
}

fn palette(theme: &Theme, colouring: Grouping) -> &[[u8; 4]; 256] {
    if colouring.is_ordered() { &theme.look.ordered } else { &theme.look.palette }
}

fn show_entries(elements: &Elements, lines: &[Line], palette: &[[u8; 4]; 256]) {
    // Rebuilding the list must not move the focus away from an entry.
    let focused = elements.focused_element().and_then(|focus| focus.get_attribute("data-slot"));
    clear(&elements.legend_entries);
    if lines.is_empty() {
        elements.append_new(&elements.legend_entries, "li", "none", "No matches");
    }
    for line in lines {
        let item = elements.append_new(&elements.legend_entries, "li", "", "");
        let button = elements.new_button("entry", "", ("data-slot", &line.slot.to_string()));
        set_attribute(&button, "aria-pressed", if line.faded { "false" } else { "true" });
        set_attribute(&button, "title", &line.exact);
        let swatch = elements.append_new(&button, "span", "swatch", "");
        set_style(&swatch, "background", &slot_colour(palette, line.slot));
        let label = elements.append_new(&button, "span", "label", "");
        elements.set_name(&label, &line.label, line.shared);
        let numbers = elements.append_new(&button, "span", "numbers", "");
        for column in &line.columns {
            elements.append_new(&numbers, "span", "bytes", column);
        }
        append(&item, &button);
        let only = elements.new_button("only", "only", ("data-slot", &line.slot.to_string()));
        set_attribute(&only, "aria-label", &format!("Only {}", line.label));
        append(&item, &only);
        if focused.as_deref() == Some(line.slot.to_string().as_str()) {
            focus_element(&button);
        }
    }
}

/// Handles clicks on an entry. A click fades the entry or restores it. A double click, or a click on "only", fades all
/// other entries.
fn on_click(app: &'static App, _: &'static Elements, event: &Event) {
    let (Some(button), Some(slot)) = (hit_element(event, "button"), number_at(event, "data-slot")) else { return };
    if event.type_() == "dblclick" || button.class_name() == "only" {
        app.dispatch(Action::LegendIsolated(slot));
    } else {
        app.dispatch(Action::LegendClicked(slot));
    }
}
