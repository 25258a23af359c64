//! Elements around the flame graph: the path to the zoomed box, the card next to the pointer, and the status line.

use super::hover::place_card;
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, clear, number_at, set_attribute, set_flag, set_text};
use crate::elements::elements;
use protocol::{Arrangement, Internal, Merge, Root};
use ui::features::State;
use ui::features::flame::words::{Crumb, FlameCard, card, crumbs, empty_message, matches, status};
use ui::features::flame::{FlameAction, GrowthDirection};
use ui::text::tab::Tab;

elements! {
    HtmlButtonElement: flame_internal, flame_invert, flame_turn;
    HtmlElement: flame_card, flame_card_name, flame_card_place, flame_card_shares, flame_card_title, flame_crumbs,
        flame_found, flame_note, flame_plot, flame_reading;
    HtmlSelectElement: flame_merge;
}

#[derive(Default)]
pub(super) struct Panel {
    crumbs: LastShown<Vec<Crumb>>,
    card: LastShown<Option<FlameCard>>,
    pressed: LastShown<(GrowthDirection, Arrangement)>,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Flame);

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.choice(&elements.flame_merge, |index| Some(FlameAction::Merged(*Merge::ALL.get(index)?).into()));
        on.click(&elements.flame_crumbs, |event| {
            Some(FlameAction::CrumbClicked(number_at(event, "data-node")?).into())
        });
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let flame = &state.flame;
        if let Some((growth, arrangement)) = self.pressed.update((flame.growth, state.views.arrangement)) {
            for (button, is_pressed) in [
                (&elements.flame_turn, *growth == GrowthDirection::Up),
                (&elements.flame_invert, arrangement.root == Root::Innermost),
                (&elements.flame_internal, arrangement.internal == Internal::Hidden),
            ] {
                set_flag(button, "aria-pressed", is_pressed);
            }
            elements.flame_merge.set_selected_index(match arrangement.merge {
                Merge::Line => 0,
                Merge::Function => 1,
                Merge::File => 2,
            });
        }
        if let Some(crumbs) = self.crumbs.update(flame.page().map(|page| crumbs(page)).unwrap_or_default()) {
            clear(&elements.flame_crumbs);
            for crumb in crumbs {
                let button = elements.new_button("", &crumb.text, ("data-node", &crumb.node.to_string()));
                set_attribute(&button, "title", &crumb.text);
                append(&elements.flame_crumbs, &button);
            }
            if let Some(last) = elements.flame_crumbs.last_element_child() {
                set_attribute(&last, "aria-current", "true");
            }
        }
        set_text(&elements.flame_found, &matches(&state.flame, state));
        set_text(&elements.flame_note, empty_message(&state.flame, state));
        set_text(&elements.flame_reading, &status(&state.flame, state));
        let hovered = flame.page().zip(flame.hovered()).map(|(page, of)| card(state, page, of));
        if let Some(card) = self.card.update(hovered) {
            elements.flame_card.set_hidden(card.is_none());
            if let Some(card) = card {
                set_text(&elements.flame_card_title, &card.title);
                set_text(&elements.flame_card_name, &card.name);
                set_text(&elements.flame_card_place, &card.location);
                set_text(&elements.flame_card_shares, &card.shares);
            }
        }
        if let Some(([x, y], canvas)) = flame.pointer.zip(flame.canvas) {
            place_card(elements, &elements.flame_plot, &elements.flame_card, [x / canvas.scale, y / canvas.scale]);
        }
    }
}
