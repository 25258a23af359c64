//! Tabs of the side panel.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{Dom, focus_element, set_attribute, set_flag};
use crate::elements::elements;
use ui::features::State;
use ui::shell::action::Action;
use ui::text::side::Side;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, KeyboardEvent};

elements! {
    HtmlElement: side, side_sheet, side_tabs;
}

#[derive(Default)]
pub(super) struct Panel {
    side: LastShown<Side>,
    expanded: LastShown<bool>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.side_tabs, "click", |app, elements, event| {
            let hit = event.target().and_then(|it| it.dyn_into::<HtmlElement>().ok());
            let side = Side::ALL.into_iter().find(|side| {
                let [tab, _] = ids(*side);
                hit.as_ref().is_some_and(|hit| hit.id() == tab)
            });
            if let Some(side) = side {
                choose(app, elements, side);
            }
        });
        on.event(&elements.side_tabs, "keydown", move_focus);
        on.click(&elements.side_sheet, |_| Some(Action::SheetToggled));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(side) = self.side.update(state.side) {
            reveal(elements, *side);
        }
        if let Some(&is_up) = self.expanded.update(state.side_is_expanded) {
            set_flag(&elements.side, "data-up", is_up);
            set_flag(&elements.side_sheet, "aria-expanded", is_up);
            let label = if is_up { "Close the side panel" } else { "Show the side panel" };
            set_attribute(&elements.side_sheet, "aria-label", label);
            set_attribute(&elements.side_sheet, "title", label);
        }
    }
}

/// Returns the element ids of a tab and of its panel.
fn ids(side: Side) -> [&'static str; 2] {
    match side {
        Side::Selection => ["side-selection", "selection-panel"],
        Side::Legend => ["side-legend", "legend-panel"],
        Side::File => ["side-file", "file-panel"],
    }
}

/// Shows a tab immediately instead of in the next frame, because an element in the tab may be about to be focused.
pub(crate) fn reveal(dom: &Dom, side: Side) {
    for other in Side::ALL {
        let [tab, panel] = ids(other).map(|id| dom.by_id::<HtmlElement>(id));
        let is_chosen = other == side;
        if let Some(tab) = tab {
            set_flag(&tab, "aria-selected", is_chosen);
            set_attribute(&tab, "tabindex", if is_chosen { "0" } else { "-1" });
        }
        if let Some(panel) = panel {
            panel.set_hidden(!is_chosen);
        }
    }
}

fn choose(app: &'static App, elements: &'static Elements, side: Side) {
    app.dispatch(Action::SideChosen(side));
    let [tab, _] = ids(side);
    if let Some(tab) = elements.by_id::<HtmlElement>(tab) {
        reveal(elements, side);
        focus_element(&tab);
    }
}

/// Moves to another tab on arrow keys, Home and End.
fn move_focus(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    let now = app.state.borrow().side;
    let place = Side::ALL.iter().position(|side| *side == now).unwrap_or(0);
    let last = Side::ALL.len() - 1;
    let place = match event.key().as_str() {
        "ArrowLeft" => place.checked_sub(1).unwrap_or(last),
        "ArrowRight" => (place + 1) % Side::ALL.len(),
        "Home" => 0,
        "End" => last,
        _ => return,
    };
    event.prevent_default();
    if let Some(&side) = Side::ALL.get(place) {
        choose(app, elements, side);
    }
}
