//! Card next to the pointer, and the status line below the timeline.

use crate::app::{App, LastShown, Part};
use crate::dom::{Dom, set_attribute, set_style, set_text};
use crate::elements::elements;
use ui::features::State;
use ui::plot::hover::{block_rects, card, stack_top_px};
use ui::plot::placement::{Obstacles, Rect, place_card_around};
use ui::plot::{placement, slices};
use ui::session::notices::pointer_reading;
use ui::state::hover::Card;
use web_sys::HtmlElement;

elements! {
    HtmlElement: axis_strip, card, card_facts, card_hidden, card_lifetime, card_segment, card_share, card_site, card_title, plot, reading,
        stage;
}

#[derive(Default)]
pub(super) struct Panel {
    card: LastShown<Option<Card>>,
    reading: LastShown<(String, String)>,
}

impl Part for Panel {
    type Elements = Elements;

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(card) = self.card.update(slices::card(state).or_else(|| state.hover.as_ref().map(card))) {
            elements.card.set_hidden(card.is_none());
            if let Some(card) = card {
                set_text(&elements.card_title, &card.title);
                set_text(&elements.card_site, &card.call_site);
                set_text(&elements.card_lifetime, &card.lifetime);
                set_text(&elements.card_hidden, &card.hidden);
                set_text(&elements.card_segment, &card.segment);
                set_text(&elements.card_share, &card.share);
                let facts = card.facts.iter().map(|fact| (fact.label.as_str(), fact.value.as_str()));
                elements.fill_definitions(&elements.card_facts, facts);
                let hand = if card.facts.is_empty() { "" } else { "pointer" };
                set_style(&elements.axis_strip, "cursor", hand);
            }
        }
        if state.hover.is_some() || state.slices.hovered.is_some() {
            place_timeline_card(elements, state);
        }
        if let Some((text, exact)) = self.reading.update(pointer_reading(state)) {
            set_text(&elements.reading, text);
            set_attribute(&elements.reading, "title", exact);
        }
    }
}

/// Positions a floating card next to a point of a plot, given in CSS pixels from the upper left corner of the plot.
pub(super) fn place_card(elements: &Dom, plot: &HtmlElement, card: &HtmlElement, [x, y]: [f64; 2]) {
    let area = plot.get_bounding_client_rect();
    let window = |side: Result<wasm_bindgen::JsValue, _>| side.ok().and_then(|it| it.as_f64()).unwrap_or(0.0);
    let room = (window(elements.window.inner_width()), window(elements.window.inner_height()));
    let size = (f64::from(card.offset_width()), f64::from(card.offset_height()));
    move_to(card, placement::place_card((area.left() + x, area.top() + y), size, room));
}

fn move_to(card: &HtmlElement, (left, top): (f64, f64)) {
    set_style(card, "transform", &format!("translate({left:.0}px, {top:.0}px)"));
}

/// Positions the card next to the hovered block, without covering it.
fn place_timeline_card(elements: &Elements, state: &State) {
    let Some(canvas) = state.canvas else { return };
    let (stage, card) = (&elements.stage, &elements.card);
    let (left, top) = (f64::from(elements.plot.offset_left()), f64::from(elements.plot.offset_top()));
    let size = |width: i32, height: i32| (f64::from(width), f64::from(height));
    // The card must not cover the axis, which has ticks and annotations.
    let room = size(stage.client_width(), elements.plot.offset_top() + elements.plot.offset_height());
    let card_size = size(card.offset_width(), card.offset_height());
    if let Some((_, x)) = &state.slices.hovered {
        return move_to(card, placement::place_card((left + x / canvas.scale, room.1), card_size, room));
    }
    let Some(pointer) = ui::plot::lane_focus::crosshair_on_canvas(state) else { return };
    let x = left + pointer.x / canvas.scale;
    let y = top + (f64::from(canvas.height_px) - pointer.y) / canvas.scale;
    let block = block_rects(state);
    let css = |[from, up, to, down]: [f64; 4]| {
        [left + from / canvas.scale, top + up / canvas.scale, left + to / canvas.scale, top + down / canvas.scale]
    };
    let block: Vec<Rect> = block.into_iter().map(css).collect();
    let top_of = |x: f64| top + stack_top_px(state, (x - left) * canvas.scale) / canvas.scale;
    move_to(card, place_card_around((x, y), card_size, room, &Obstacles { block: &block, stack_top_at_x: &top_of }));
}
