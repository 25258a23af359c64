//! Clicks and keys in the view "By source", and reading the file that was dropped for it.

use super::App;
use super::dom::{cause, listen, set_attribute};
use gloo::events::EventListener;
use std::rc::Rc;
use ui::Action;
use ui::sources::{SourceAction, SourceText};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Element, Event, HtmlElement, KeyboardEvent};

/// Listens to both lists and to the button that closes the file.
pub(super) fn listeners(app: &Rc<App>) -> [EventListener; 5] {
    let elements = &app.elements;
    let on = |target: &HtmlElement, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listen(target, event, move |event| then(&app, event))
    };
    [
        on(&elements.sources_rows, "click", |app, event| {
            if let Some(place) = super::input::clicked(event, "data-row") {
                act(app, SourceAction::Picked(usize::try_from(place).unwrap_or(usize::MAX)));
            }
        }),
        on(&elements.source_lines, "click", |app, event| {
            if let Some(line) = super::input::clicked(event, "data-beside") {
                act(app, SourceAction::LinePicked(u32::try_from(line).unwrap_or(0)));
            }
        }),
        on(&elements.source_close, "click", |app, _| act(app, SourceAction::Closed)),
        on(&elements.sources_rows, "keydown", walk),
        on(&elements.source_lines, "keydown", walk),
    ]
}

fn act(app: &Rc<App>, action: SourceAction) {
    app.dispatch(Action::of(action));
}

/// Arrows go from button to button; right unfolds a file, left folds it.
fn walk(app: &Rc<App>, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    if event.alt_key() || event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let Some(focus) = app.elements.document.active_element() else { return };
    let row = focus.closest("tr, [data-line]").ok().flatten();
    let list = row.as_ref().and_then(|row| row.parent_element());
    let (down, up) = (Element::next_element_sibling, Element::previous_element_sibling);
    let expanded = focus.get_attribute("aria-expanded");
    // Where the way begins, and which way it leads.
    let (mut at, further) = match (event.key().as_str(), expanded.as_deref()) {
        ("ArrowDown", _) => (row.as_ref().and_then(down), down as fn(&Element) -> Option<Element>),
        ("ArrowUp", _) => (row.as_ref().and_then(up), up as fn(&Element) -> Option<Element>),
        ("Home", _) => (list.and_then(|list| list.first_element_child()), down as _),
        ("End", _) => (list.and_then(|list| list.last_element_child()), up as _),
        ("ArrowRight", Some("false")) | ("ArrowLeft", Some("true")) => {
            let _ = focus.dyn_ref::<HtmlElement>().map(HtmlElement::click);
            (None, down as _)
        }
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    while let Some(row) = at {
        if let Ok(Some(button)) = row.query_selector("button") {
            set_attribute(&focus, "tabindex", "-1");
            set_attribute(&button, "tabindex", "0");
            // It fails only for an element that is gone.
            let _ = button.dyn_ref::<HtmlElement>().map(HtmlElement::focus);
            return;
        }
        at = further(&row);
    }
}

/// Reads a file that was given last.
pub(super) fn read(app: &Rc<App>, place: usize, name: String) {
    let Some(file) = app.files.take_aside(place) else { return };
    let app = app.clone();
    spawn_local(async move {
        let read = match JsFuture::from(file.text()).await {
            Ok(text) => Ok(SourceText { name, text: text.as_string().unwrap_or_default() }),
            Err(error) => Err(name + " could not be read: " + &cause(&error) + "."),
        };
        act(&app, SourceAction::Read(read));
    });
}
