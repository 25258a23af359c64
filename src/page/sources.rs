//! Clicks and keys in the view "By source", and reading the file that was dropped for it.

use super::App;
use super::dom::{cause, listen};
use crate::ui::Action;
use crate::ui::sources::{SourceAction, SourceText};
use gloo::events::EventListener;
use std::rc::Rc;
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
            if let Some(place) = number(event, "data-row") {
                act(app, SourceAction::Picked(place as usize));
            }
        }),
        on(&elements.source_lines, "click", |app, event| {
            if let Some(line) = number(event, "data-line") {
                act(app, SourceAction::LinePicked(line));
            }
        }),
        on(&elements.source_close, "click", |app, _| act(app, SourceAction::Closed)),
        on(&elements.sources_rows, "keydown", |app, event| walk(app, event)),
        on(&elements.source_lines, "keydown", |app, event| walk(app, event)),
    ]
}

fn act(app: &Rc<App>, action: SourceAction) {
    app.dispatch(Action::Source(action));
}

fn number(event: &Event, name: &str) -> Option<u32> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest("button").ok()??.get_attribute(name)?.parse().ok()
}

/// Arrows go from button to button; right unfolds a file, left folds it.
fn walk(app: &App, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    let Some(focus) = app.elements.document.active_element() else { return };
    let (key, expanded) = (event.key(), focus.get_attribute("aria-expanded"));
    let name = if focus.has_attribute("data-row") { "data-row" } else { "data-line" };
    let Some(place) = focus.get_attribute(name).and_then(|place| place.parse::<u32>().ok()) else { return };
    let wanted = match (key.as_str(), expanded.as_deref()) {
        ("ArrowDown", _) => place.saturating_add(1),
        ("ArrowUp", _) => place.saturating_sub(1),
        ("Home", _) => 0,
        ("ArrowRight", Some("false")) | ("ArrowLeft", Some("true")) => place,
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    let wanted = if name == "data-line" { wanted.max(1) } else { wanted };
    let button = app.elements.document.query_selector(&["[", name, "=\"", &wanted.to_string(), "\"]"].concat());
    let Some(button) = button.ok().flatten().and_then(|button| button.dyn_into::<HtmlElement>().ok()) else { return };
    if wanted == place && key != "ArrowUp" && key != "Home" {
        button.click();
    } else {
        // It fails only for an element that is gone.
        let _ = button.focus();
    }
}

/// Reads the file that was given last.
pub(super) fn read(app: &Rc<App>, name: String) {
    let Some(file) = app.files.at(0) else { return };
    let app = app.clone();
    spawn_local(async move {
        let read = match JsFuture::from(file.text()).await {
            Ok(text) => Ok(SourceText { name, text: text.as_string().unwrap_or_default() }),
            Err(error) => Err(name + " could not be read: " + &cause(&error) + "."),
        };
        act(&app, SourceAction::Read(read));
    });
}
