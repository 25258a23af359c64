//! Elements around the canvas of the Segments tab: headings, sums, filters, the card next to the pointer, and the
//! status line.

use super::grid::{move_focus_from_field, watch_scroll};
use super::hover::place_card;
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, clear, number_at, set_attribute, set_flag, set_style, set_text};
use crate::elements::elements;
use protocol::SegmentsPage;
use std::rc::Rc;
use ui::features::State;
use ui::features::segments::SegmentsAction;
use ui::features::segments::card::{SegmentsCard, hovered, status};
use ui::features::segments::words::{
    Heading, KeptLine, empty_message, headings, kept_lines, outside_segments, pool_choices, request_hint,
    request_placement, stream_choices, sums,
};
use ui::shell::action::Action;
use ui::text::tab::Tab;

elements! {
    HtmlCanvasElement: segments_canvas;
    HtmlElement: segments_card, segments_card_life, segments_card_segment, segments_card_site, segments_card_title, segments_fit,
        segments_fits, segments_headings, segments_kept, segments_note, segments_plot, segments_reading, segments_scroll, segments_sums, segments;
    HtmlInputElement: segments_request;
    HtmlSelectElement: segments_pool, segments_sort, segments_stream;
}

#[derive(Default)]
pub(super) struct Panel {
    page: LastShown<Option<Rc<SegmentsPage>>>,
    answer: LastShown<(Vec<String>, bool)>,
    headings: LastShown<Vec<Heading>>,
    choices: LastShown<[Vec<String>; 2]>,
    chosen: LastShown<([usize; 3], bool)>,
    card: LastShown<Option<SegmentsCard>>,
    text: LastShown<String>,
    hint: LastShown<String>,
    kept: LastShown<Vec<KeptLine>>,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Segments);

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        let scrolled = |top, height| Action::feature(SegmentsAction::Scrolled(top, height));
        watch_scroll(app, &elements.segments_scroll, 0.0, scrolled)
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.choice(&elements.segments_sort, |index| Some(SegmentsAction::SortChosen(index).into()));
        on.choice(&elements.segments_pool, |index| Some(SegmentsAction::PoolChosen(index).into()));
        on.choice(&elements.segments_stream, |index| Some(SegmentsAction::StreamChosen(index).into()));
        on.text(&elements.segments_request, "input", |text| SegmentsAction::RequestTyped(text).into());
        on.click(&elements.segments_kept, |event| {
            Some(SegmentsAction::KeptLineClicked(number_at(event, "data-keeper")?).into())
        });
        on.event(&elements.segments_request, "keydown", |_, elements, event| {
            move_focus_from_field(&elements.segments_canvas, event);
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let memory = &state.segments;
        let choices = [pool_choices(memory), stream_choices(memory)];
        if let Some(choices) = self.choices.update(choices) {
            for (picker, lines) in [&elements.segments_pool, &elements.segments_stream].into_iter().zip(choices) {
                elements.fill_options(picker, lines);
                // A filter without alternatives is hidden.
                picker.set_hidden(lines.len() < 3);
            }
            self.chosen = LastShown::default();
        }
        if let Some((chosen, is_fitted)) = self.chosen.update((memory.picker_indices(), memory.fits())) {
            let pickers = [&elements.segments_sort, &elements.segments_pool, &elements.segments_stream];
            for (picker, place) in pickers.into_iter().zip(chosen) {
                picker.set_selected_index(*place as i32);
            }
            set_flag(&elements.segments_fit, "aria-pressed", *is_fitted);
        }
        if let Some(Some(page)) = self.page.update(memory.page().cloned()) {
            show_sums(elements, page);
            if let Some(lines) = self.kept.update(kept_lines(page)) {
                fill_kept(elements, lines);
            }
        }
        let answer = match (&memory.request_error, memory.page()) {
            (Some(wrong), _) => vec![wrong.clone()],
            (None, Some(page)) => request_placement(page),
            (None, None) => Vec::new(),
        };
        if let Some(answer) = self.answer.update((answer, memory.request_error.is_some())) {
            elements.segments_fits.set_class_name(if answer.1 { "wrong" } else { "" });
            clear(&elements.segments_fits);
            for line in &answer.0 {
                elements.append_new(&elements.segments_fits, "p", "", line);
            }
        }
        if let Some(headings) = self.headings.update(headings(memory)) {
            clear(&elements.segments_headings);
            for heading in headings {
                let line = elements.append_new(&elements.segments_headings, "p", "", "");
                elements.append_new(&line, "b", "", &heading.name);
                elements.append_new(&line, "span", "", &heading.sums);
                set_style(&line, "transform", &["translateY(", &heading.top.to_string(), "px)"].concat());
            }
        }
        set_text(&elements.segments_note, &empty_message(&state.segments, state));
        set_text(&elements.segments_reading, &status(&state.segments));
        if let Some(hint) = self.hint.update(request_hint(state)) {
            elements.segments_request.set_placeholder(hint);
        }
        if let Some(text) = self.text.update(memory.request_text.clone()) {
            elements.set_value(&elements.segments_request, text);
        }
        if let Some(card) = self.card.update(hovered(&state.segments)) {
            elements.segments_card.set_hidden(card.is_none());
            if let Some(card) = card {
                set_text(&elements.segments_card_title, &card.title);
                set_text(&elements.segments_card_site, &card.site);
                set_text(&elements.segments_card_life, &card.lifetime);
                set_text(&elements.segments_card_segment, &card.segment);
            }
        }
        if let Some(([x, y], canvas)) = memory.pointer.zip(memory.canvas) {
            place_card(
                elements,
                &elements.segments_plot,
                &elements.segments_card,
                [x / canvas.scale, y / canvas.scale],
            );
        }
    }
}

fn fill_kept(elements: &Elements, lines: &[KeptLine]) {
    clear(&elements.segments_kept);
    elements.segments_kept.set_hidden(lines.is_empty());
    for line in lines {
        let item = elements.append_new(&elements.segments_kept, "li", "", "");
        match line.allocation {
            Some(allocation) => {
                let button = elements.new_button("", &line.text, ("data-keeper", &allocation.to_string()));
                set_attribute(&button, "title", "Select the block in the segment with the most free bytes");
                append(&item, &button);
            }
            None => set_text(&item, &line.text),
        }
    }
}

fn show_sums(elements: &Elements, page: &SegmentsPage) {
    let [short, exact] = sums(page);
    let outside = outside_segments(page);
    let short = if outside.is_empty() { short } else { [&short, " · ", &outside].concat() };
    set_text(&elements.segments_sums, &short);
    set_attribute(&elements.segments_sums, "title", &exact);
    let whole = &page.total;
    for (name, value) in [
        ("data-moment", page.moment.into()),
        ("data-reserved", whole.reserved),
        ("data-requested", whole.requested),
        ("data-rounded", whole.rounded),
        ("data-pending", whole.awaiting_free),
        ("data-free", whole.free),
        ("data-largest-free", whole.largest_free),
        ("data-segments", whole.segments.into()),
        ("data-blocks", whole.blocks.into()),
        ("data-astray", page.outside_mapped.bytes),
        ("data-rows", page.rows.into()),
        ("data-empty-segments", page.releasable.empty.count.into()),
        ("data-empty-bytes", page.releasable.empty.bytes),
        ("data-pinned-segments", page.releasable.single_block.count.into()),
        ("data-pinned-free", page.releasable.single_block.bytes),
    ] {
        set_attribute(&elements.segments, name, &value.to_string());
    }
}
