//! What stands around the bars of the allocator's state: headings, sums, pickers, the card beside the pointer, the line below.

use super::Shown;
use super::hover::place_card;
use crate::dom::{Elements, append, clear, set_attribute, set_text};
use engine::protocol::StatePage;
use std::rc::Rc;
use ui::State;
use ui::memory::words::{
    Heading, MemoryCard, astray, fits, headings, hovered, note, pool_choices, reading, stream_choices, sums,
};
use ui::views::Tab;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlSelectElement};

#[derive(Default)]
pub(super) struct Panel {
    page: Shown<Option<Rc<StatePage>>>,
    answer: Shown<(Vec<String>, bool)>,
    headings: Shown<Vec<Heading>>,
    choices: Shown<[Vec<String>; 2]>,
    chosen: Shown<([usize; 3], bool)>,
    card: Shown<Option<MemoryCard>>,
    text: Shown<String>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if state.views.seen() != Some(Tab::Memory) {
            return;
        }
        let memory = &state.memory;
        let choices = [pool_choices(memory), stream_choices(memory)];
        if let Some(choices) = self.choices.changed(choices) {
            for (picker, lines) in [&elements.memory_pool, &elements.memory_stream].into_iter().zip(choices) {
                fill(elements, picker, lines);
            }
            self.chosen = Shown::default();
        }
        if let Some((chosen, is_fitted)) = self.chosen.changed((memory.chosen(), memory.fits())) {
            let pickers = [&elements.memory_sort, &elements.memory_pool, &elements.memory_stream];
            for (picker, place) in pickers.into_iter().zip(chosen) {
                picker.set_selected_index(*place as i32);
            }
            set_attribute(&elements.memory_fit, "aria-pressed", if *is_fitted { "true" } else { "false" });
        }
        if let Some(Some(page)) = self.page.changed(memory.page().cloned()) {
            show_sums(elements, page);
        }
        let answer = match (&memory.wrong, memory.page()) {
            (Some(wrong), _) => vec![wrong.clone()],
            (None, Some(page)) => fits(page),
            (None, None) => Vec::new(),
        };
        if let Some(answer) = self.answer.changed((answer, memory.wrong.is_some())) {
            elements.memory_fits.set_class_name(if answer.1 { "wrong" } else { "" });
            clear(&elements.memory_fits);
            for line in &answer.0 {
                append(&elements.memory_fits, &elements.new_element("p", "", line));
            }
        }
        if let Some(headings) = self.headings.changed(headings(memory)) {
            clear(&elements.memory_headings);
            for heading in headings {
                let line = elements.new_element("p", "", "");
                append(&line, &elements.new_element("b", "", &heading.name));
                append(&line, &elements.new_element("span", "", &heading.sums));
                append(&elements.memory_headings, &line);
                if let Some(line) = line.dyn_ref::<HtmlElement>() {
                    let to = ["translateY(", &heading.top.to_string(), "px)"].concat();
                    // It fails only for a property that is none.
                    let _ = line.style().set_property("transform", &to);
                }
            }
        }
        set_text(&elements.memory_note, &note(&state.memory, state));
        set_text(&elements.memory_reading, &reading(&state.memory, state));
        if let Some(text) = self.text.changed(memory.text.clone()) {
            let focus = elements.document.active_element();
            // Whoever types there is ahead of us.
            if focus.is_none_or(|focus| !focus.is_same_node(Some(&elements.memory_request))) {
                elements.memory_request.set_value(text);
            }
        }
        if let Some(card) = self.card.changed(hovered(&state.memory, state)) {
            elements.memory_card.set_hidden(card.is_none());
            if let Some(card) = card {
                set_text(&elements.memory_card_title, &card.title);
                set_text(&elements.memory_card_site, &card.site);
                set_text(&elements.memory_card_life, &card.life);
                set_text(&elements.memory_card_segment, &card.segment);
            }
        }
        if let Some(([x, y], canvas)) = memory.pointer.zip(memory.canvas) {
            place_card(elements, &elements.memory_plot, &elements.memory_card, [x / canvas.scale, y / canvas.scale]);
        }
    }
}

fn show_sums(elements: &Elements, page: &StatePage) {
    let [short, exact] = sums(page);
    let astray = astray(page);
    let short = if astray.is_empty() { short } else { [&short, " · ", &astray].concat() };
    set_text(&elements.memory_sums, &short);
    set_attribute(&elements.memory_sums, "title", &exact);
    let whole = &page.whole;
    for (name, value) in [
        ("data-moment", page.moment.into()),
        ("data-reserved", whole.reserved),
        ("data-requested", whole.requested),
        ("data-rounded", whole.rounded),
        ("data-pending", whole.pending),
        ("data-free", whole.free),
        ("data-largest-free", whole.largest_free),
        ("data-segments", whole.segments.into()),
        ("data-blocks", whole.blocks.into()),
        ("data-astray", page.astray.bytes),
        ("data-rows", page.rows.into()),
    ] {
        set_attribute(&elements.state, name, &value.to_string());
    }
}

fn fill(elements: &Elements, picker: &HtmlSelectElement, lines: &[String]) {
    clear(picker);
    for line in lines {
        append(picker, &elements.new_element("option", "", line));
    }
    // With nothing to choose from it says nothing.
    picker.set_hidden(lines.len() < 3);
}
