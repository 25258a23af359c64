//! Details of the selected allocation.

use crate::app::{App, LastShown, Part};
use crate::dom::{append, clear, set_attribute, set_source_link, set_text, show_text};
use crate::elements::elements;
use base::units::pluralize;
use protocol::Details;
use ui::features::State;
use ui::scope::details::{FrameKind, FrameView, Run, view};
use ui::state::settings::Settings;

elements! {
    HtmlElement: about_hint, details, details_caution, details_facts, details_key, details_site, details_title, forward,
        forward_text, frames, selection_panel, stack_title;
}

#[derive(Default)]
pub(super) struct Panel {
    shown: LastShown<Option<Box<Details>>>,
    settings: LastShown<u32>,
}

impl Part for Panel {
    type Elements = Elements;

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if self.settings.update(state.settings.version).is_some()
            && let Some(Some(details)) = &self.shown.0
        {
            show(elements, details, &state.settings);
        }
        if self.shown.0.as_ref() == Some(&state.selection) {
            return;
        }
        if let Some(selection) = self.shown.update(state.selection.clone()) {
            elements.details.set_hidden(selection.is_none());
            elements.about_hint.set_hidden(selection.is_some());
            match selection {
                Some(details) => {
                    show(elements, details, &state.settings);
                    elements.selection_panel.set_scroll_top(0);
                }
                None => clear_attributes(elements),
            }
        }
    }
}

fn clear_attributes(elements: &Elements) {
    for name in ["data-allocation", "data-size", "data-address"] {
        let _ = elements.details.remove_attribute(name);
    }
}

fn show(elements: &Elements, details: &Details, settings: &Settings) {
    set_attribute(&elements.details, "data-allocation", &details.allocation.to_string());
    set_attribute(&elements.details, "data-size", &details.requested.to_string());
    match details.address {
        Some(address) => set_attribute(&elements.details, "data-address", &address.to_string()),
        None => drop(elements.details.remove_attribute("data-address")),
    }
    let view = view(details);
    set_text(&elements.details_title, &view.title);
    set_text(&elements.details_site, view.call_site.as_deref().unwrap_or_default());
    show_text(&elements.details_caution, view.warning);
    let key = view.summary.iter().map(|fact| (fact.label.as_str(), fact.value.as_str()));
    elements.fill_definitions(&elements.details_key, key);
    let facts = view.facts.iter().map(|fact| (fact.label.as_str(), fact.value.as_str()));
    elements.fill_definitions(&elements.details_facts, facts);
    set_text(&elements.stack_title, &view.stack_title);
    clear(&elements.frames);
    for run in view.runs() {
        match run {
            Run::Shown(frame) => append(&elements.frames, &frame_element(elements, frame, settings)),
            Run::Internal(frames) => {
                let item = elements.append_new(&elements.frames, "li", "internal", "");
                let fold = elements.append_new(&item, "details", "", "");
                elements.append_new(&fold, "summary", "", &pluralize(frames.len() as u64, "internal frame"));
                let list = elements.append_new(&fold, "ol", "", "");
                frames.iter().for_each(|frame| append(&list, &frame_element(elements, frame, settings)));
            }
        }
    }
    set_text(&elements.forward_text, &view.forward.join("\n"));
    elements.forward.set_hidden(view.forward.is_empty());
}

fn frame_element(elements: &Elements, frame: &FrameView, settings: &Settings) -> web_sys::Element {
    let class = match frame.kind {
        FrameKind::User => "user",
        FrameKind::Library => "library",
        FrameKind::Native => "native",
    };
    let item = elements.new_element("li", class, "");
    let name = elements.new_element("span", "name", &frame.name);
    // Long C++ names are truncated by the style sheet.
    set_attribute(&name, "title", &frame.name);
    append(&item, &name);
    if !frame.location.is_empty() {
        let [file, line] = &frame.source;
        let short = settings.location(file, line);
        let link = settings.link(file, line);
        let place = elements.new_element(if link.is_ok() { "a" } else { "span" }, "place", &short);
        if short != frame.location {
            set_attribute(&place, "title", &frame.location);
        }
        if let Ok(link) = &link {
            set_source_link(&place, link);
        }
        append(&item, &place);
    }
    for note in &frame.notes {
        elements.append_new(&item, "span", "note", note);
    }
    item
}
