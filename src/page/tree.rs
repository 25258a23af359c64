//! Pointer and scrolling in the call tree → actions.

use super::App;
use super::dom::{self, listen};
use super::panels::tree::scale;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::Action;
use ui::tree_keys::{MERGES, TreeAction};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event, HtmlElement, ResizeObserver};

/// Listens to the rows, to the way above them and to the picker of what is merged. Its buttons are commands of the key table.
pub(super) fn listeners(app: &Rc<App>) -> [EventListener; 5] {
    let elements = &app.elements;
    let on = |target: &HtmlElement, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listen(target, event, move |event| then(&app, event))
    };
    [
        on(&elements.tree_scroll, "scroll", |app, _| scrolled(app)),
        on(&elements.tree_rows, "click", click),
        on(&elements.tree_rows, "dblclick", |app, event| {
            if let Some(row) =
                number(event, ".row", "data-row").filter(|_| number(event, ".twisty, a[href]", "data-row").is_none())
            {
                app.dispatch(Action::of(TreeAction::Toggled(row)));
            }
        }),
        on(&elements.tree_way, "click", |app, event| {
            if let Some(node) = number(event, "button", "data-node") {
                app.dispatch(Action::of(TreeAction::Focused(node)));
                // It fails only for an element that is gone.
                let _ = app.elements.tree_rows.focus();
            }
        }),
        on(&elements.tree_merge, "change", |app, _| {
            let wanted = app.elements.tree_merge.value();
            if let Some((merge, _)) = MERGES.iter().find(|(_, name)| *name == wanted) {
                app.dispatch(Action::of(TreeAction::Merged(*merge)));
            }
        }),
    ]
}

/// Tells the state how much of the rows is seen, now and whenever that changes.
pub(super) fn watch_size(app: &Rc<App>) -> Result<(), String> {
    let changed = Closure::<dyn FnMut()>::new({
        let app = app.clone();
        move || scrolled(&app)
    });
    let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).map_err(|error| dom::cause(&error))?;
    observer.observe(&app.elements.tree_scroll);
    // It observes as long as the page lives.
    changed.forget();
    Ok(())
}

/// Follows the link of the active row, as a click would.
pub(super) fn follow(app: &App) {
    let link = app.elements.tree_space.query_selector(".active a[href]").ok().flatten();
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
        link.click();
    }
}

fn scrolled(app: &Rc<App>) {
    let scroll = &app.elements.tree_scroll;
    let (top, height_px) = (f64::from(scroll.scroll_top()), f64::from(scroll.client_height()));
    let known = app.state.borrow().tree.scroll;
    let top_px = top / scale(&app.state.borrow());
    // What we scrolled to ourselves comes back rounded.
    let top_px = if (top_px - known.top_px).abs() <= 1.0 { known.top_px } else { top_px };
    if (top_px, height_px) != (known.top_px, known.height_px) {
        app.dispatch(Action::of(TreeAction::Scrolled { top_px, height_px }));
    }
}

fn click(app: &Rc<App>, event: &Event) {
    let Some(row) = number(event, ".row", "data-row") else { return };
    // A link is followed, and nothing else; but keys are the tree's, as its rows become others under a link that has the focus.
    if number(event, "a[href]", "data-row").is_some() {
        let _ = app.elements.tree_rows.focus();
        return;
    }
    let twisty = number(event, ".twisty", "data-row").is_some();
    app.dispatch(Action::of(if twisty { TreeAction::Toggled(row) } else { TreeAction::Clicked(row) }));
    let _ = app.elements.tree_rows.focus();
}

/// The number in `attribute` of the row or button, where the pointer is on something that `selector` names.
fn number(event: &Event, selector: &str, attribute: &str) -> Option<u32> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let found = target.closest(selector).ok()??;
    let holder = if attribute == "data-row" { found.closest(".row").ok()?? } else { found };
    holder.get_attribute(attribute)?.parse().ok()
}
