//! Pointer and keys at the frame of the views: the divider above them, and the row of tabs.

use super::App;
use super::dom::{Elements, listen};
use gloo::events::EventListener;
use std::rc::Rc;
use ui::Action;
use ui::views::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, KeyboardEvent, PointerEvent};

/// A press of an arrow makes the views so much higher or lower, in percent of the window.
const STEP: u32 = 3;

impl Elements {
    /// Each view's tab and panel.
    pub(super) fn tabs(&self) -> [(Tab, [&HtmlElement; 2]); 8] {
        [
            (Tab::Why, [&self.tab_why, &self.why]),
            (Tab::Tree, [&self.tab_tree, &self.tree]),
            (Tab::Flame, [&self.tab_flame, &self.flame]),
            (Tab::Table, [&self.tab_table, &self.table]),
            (Tab::Histograms, [&self.tab_histograms, &self.histograms]),
            (Tab::Sources, [&self.tab_sources, &self.sources]),
            (Tab::Memory, [&self.tab_state, &self.state]),
            (Tab::Events, [&self.tab_events, &self.events]),
        ]
    }
}

/// Listens to divider and tabs. A click on a tab is a command of the key table.
pub(super) fn listeners(app: &Rc<App>) -> [EventListener; 4] {
    let elements = &app.elements;
    let on = |target: &HtmlElement, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listen(target, event, move |event| then(&app, event))
    };
    [
        on(&elements.divider, "pointerdown", |app, event| {
            if let Some(event) = event.dyn_ref::<PointerEvent>() {
                // It fails only for a pointer that is gone already.
                let _ = app.elements.divider.set_pointer_capture(event.pointer_id());
            }
        }),
        on(&elements.divider, "pointermove", |app, event| {
            if let Some(event) = event.dyn_ref::<PointerEvent>()
                && app.elements.divider.has_pointer_capture(event.pointer_id())
            {
                resize(app, event);
            }
        }),
        on(&elements.divider, "keydown", |app, event| {
            let height = app.state.borrow().views.height;
            let height = match key(event).as_deref() {
                Some("ArrowUp") => height + STEP,
                Some("ArrowDown") => height.saturating_sub(STEP),
                _ => return,
            };
            event.prevent_default();
            app.dispatch(Action::ViewsResized(height));
        }),
        on(&elements.tab_list, "keydown", walk),
    ]
}

fn key(event: &Event) -> Option<String> {
    let event = event.dyn_ref::<KeyboardEvent>()?;
    let alone = !event.alt_key() && !event.ctrl_key() && !event.meta_key() && !event.shift_key();
    alone.then(|| event.key())
}

/// The upper edge of the views is where the pointer is.
fn resize(app: &Rc<App>, event: &PointerEvent) {
    let height = app.elements.window.inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(1.0);
    let bottom = app.elements.answer.get_bounding_client_rect().bottom();
    let wanted = (bottom - f64::from(event.client_y())) / height.max(1.0) * 100.0;
    app.dispatch(Action::ViewsResized(wanted.round().max(0.0) as u32));
}

/// Arrows go from tab to tab; the focus stays among them.
fn walk(app: &Rc<App>, event: &Event) {
    let now = app.state.borrow().views.tab;
    let place = Tab::ALL.iter().position(|tab| *tab == now).unwrap_or(0);
    let last = Tab::ALL.len() - 1;
    let place = match key(event).as_deref() {
        Some("ArrowLeft") => place.checked_sub(1).unwrap_or(last),
        Some("ArrowRight") => (place + 1) % Tab::ALL.len(),
        Some("Home") => 0,
        Some("End") => last,
        _ => return,
    };
    let Some(&tab) = Tab::ALL.get(place) else { return };
    event.prevent_default();
    app.dispatch(Action::TabChosen(tab));
    if let Some((_, [button, _])) = app.elements.tabs().into_iter().find(|(of, _)| *of == tab) {
        // It fails only for an element that is gone.
        let _ = button.focus();
    }
}

/// Gives the focus to the view that is seen: to what of it takes keys, or to its panel.
pub(super) fn focus(app: &App) {
    let tab = app.state.borrow().views.tab;
    // A panel that is about to be seen can't take the focus before it is.
    app.panels.borrow_mut().show(&app.elements, &app.state.borrow(), &app.theme.borrow());
    focus_tab(app, tab);
}

fn focus_tab(app: &App, tab: Tab) {
    let Some((_, [_, panel])) = app.elements.tabs().into_iter().find(|(of, _)| *of == tab) else { return };
    let inside = panel.query_selector("[tabindex=\"0\"]").ok().flatten();
    let inside = inside.and_then(|inside| inside.dyn_into::<HtmlElement>().ok());
    let _ = inside.as_ref().unwrap_or(panel).focus();
}

/// Whether the focus is in a view, or on its tab.
pub(super) fn has_focus(app: &App) -> bool {
    let focus = app.elements.document.active_element();
    focus.is_some_and(|focus| focus.closest("#answer").ok().flatten().is_some())
}

/// What had the focus in a view may be gone since (a crumb, a filter that was taken back): then it is the view's, so that the next
/// key is not taken for one of the timeline's.
pub(super) fn keep_focus(app: &App) {
    let Some(focus) = app.elements.document.active_element() else { return };
    let is_gone = focus.is_same_node(Some(&app.elements.body)) || focus.closest("[hidden]").ok().flatten().is_some();
    if !is_gone {
        return;
    }
    match app.state.borrow().views.seen() {
        Some(tab) => focus_tab(app, tab),
        // It fails only for an element that is gone.
        None => drop(app.painter.borrow().canvas(&app.elements).focus()),
    }
}

/// From the timeline to the view, or back to the timeline.
pub(super) fn change_focus(app: &App) {
    if has_focus(app) {
        let _ = app.painter.borrow().canvas(&app.elements).focus();
    } else if app.state.borrow().views.seen().is_some() {
        focus(app);
    }
}
