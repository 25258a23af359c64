//! The card beside the pointer, and the line below the picture.

use crate::app::{App, Part, Shown};
use crate::dom::{Dom, set_style, set_text};
use crate::elements::elements;
use std::rc::Rc;
use ui::State;
use ui::hover::{Card, card};
use ui::notices::reading;
use ui::placing::beside;
use web_sys::HtmlElement;

elements! {
    HtmlElement: card, card_hidden, card_lifetime, card_segment, card_site, card_title, plot, reading, stage;
}

#[derive(Default)]
pub(super) struct Panel {
    card: Shown<Option<Card>>,
    reading: Shown<String>,
}

impl Part for Panel {
    type Elements = Elements;

    fn show(&mut self, _: &Rc<App>, elements: &Elements, state: &State) {
        if let Some(card) = self.card.changed(state.hover.as_ref().map(card)) {
            elements.card.set_hidden(card.is_none());
            if let Some(card) = card {
                set_text(&elements.card_title, &card.title);
                set_text(&elements.card_site, &card.site);
                set_text(&elements.card_lifetime, &card.lifetime);
                set_text(&elements.card_hidden, &card.hidden);
                set_text(&elements.card_segment, &card.segment);
            }
        }
        if state.hover.is_some() {
            place(elements, state);
        }
        if let Some(reading) = self.reading.changed(reading(state)) {
            set_text(&elements.reading, reading);
        }
    }
}

/// Puts a card that stands above the page beside a place of a plot, in CSS pixels from its left upper corner.
pub(super) fn place_card(elements: &Dom, plot: &HtmlElement, card: &HtmlElement, [x, y]: [f64; 2]) {
    let area = plot.get_bounding_client_rect();
    let window = |side: Result<wasm_bindgen::JsValue, _>| side.ok().and_then(|it| it.as_f64()).unwrap_or(0.0);
    let room = (window(elements.window.inner_width()), window(elements.window.inner_height()));
    let size = (f64::from(card.offset_width()), f64::from(card.offset_height()));
    move_to(card, beside((area.left() + x, area.top() + y), size, room));
}

fn move_to(card: &HtmlElement, (left, top): (f64, f64)) {
    set_style(card, "transform", &format!("translate({left:.0}px, {top:.0}px)"));
}

/// Beside the cursor, never over it.
fn place(elements: &Elements, state: &State) {
    let (Some(pointer), Some(canvas)) = (state.cursor_on_canvas(), state.canvas) else { return };
    let (stage, card) = (&elements.stage, &elements.card);
    let x = f64::from(elements.plot.offset_left()) + pointer.x / canvas.scale;
    let y = f64::from(elements.plot.offset_top()) + (f64::from(canvas.height_px) - pointer.y) / canvas.scale;
    let size = |width: i32, height: i32| (f64::from(width), f64::from(height));
    // Not over the axis, where the cursor's event stands.
    let room = size(stage.client_width(), elements.plot.offset_top() + elements.plot.offset_height());
    move_to(card, beside((x, y), size(card.offset_width(), card.offset_height()), room));
}
