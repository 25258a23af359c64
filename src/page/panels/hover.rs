//! The card beside the pointer, and the line below the picture.

use super::Shown;
use crate::page::dom::{Elements, set_text};
use crate::ui::State;
use crate::ui::hover::{Card, card};
use crate::ui::notices::reading;
use crate::ui::placing::beside;

#[derive(Default)]
pub(super) struct Panel {
    card: Shown<Option<Card>>,
    reading: Shown<String>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(card) = self.card.changed(state.hover.as_ref().map(card)) {
            elements.card.set_hidden(card.is_none());
            if let Some(card) = card {
                set_text(&elements.card_title, &card.title);
                set_text(&elements.card_site, &card.site);
                set_text(&elements.card_lifetime, &card.lifetime);
                set_text(&elements.card_hidden, &card.hidden);
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

/// Beside the cursor, never over it.
fn place(elements: &Elements, state: &State) {
    let (Some(pointer), Some(canvas)) = (state.cursor_on_canvas(), state.canvas) else { return };
    let (stage, card) = (&elements.stage, &elements.card);
    let x = f64::from(elements.plot.offset_left()) + pointer.x / canvas.scale;
    let y = f64::from(elements.plot.offset_top()) + (f64::from(canvas.height_px) - pointer.y) / canvas.scale;
    let size = |width: i32, height: i32| (f64::from(width), f64::from(height));
    // Not over the axis, where the cursor's event stands.
    let room = size(stage.client_width(), elements.plot.offset_top() + elements.plot.offset_height());
    let (left, top) = beside((x, y), size(card.offset_width(), card.offset_height()), room);
    // It fails only for a property that is none.
    let _ = card.style().set_property("transform", &format!("translate({left:.0}px, {top:.0}px)"));
}
