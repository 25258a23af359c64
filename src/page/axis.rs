//! Pointer and fields that set the moment and the range: the axis below the picture, the field, the picker.

use super::App;
use super::dom::listen;
use super::input::place;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::Action;
use ui::axis_press::AxisPress;
use ui::range::About;
use wasm_bindgen::JsCast;
use web_sys::{Event, EventTarget, KeyboardEvent, PointerEvent};

/// Listens to them.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let mut listeners = Vec::new();
    let mut on = |target: &EventTarget, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listeners.push(listen(target, event, move |event| then(&app, event)));
    };
    let strip = &elements.axis_strip;
    on(strip, "pointerdown", |app, event| {
        if let Some(event) = event.dyn_ref::<PointerEvent>().filter(|event| event.button() == 0) {
            // It fails only for a pointer that is gone already.
            let _ = app.elements.axis_strip.set_pointer_capture(event.pointer_id());
            press(app, event, AxisPress::Down);
        }
    });
    on(strip, "pointermove", |app, event| {
        if let Some(event) = event.dyn_ref::<PointerEvent>()
            && app.elements.axis_strip.has_pointer_capture(event.pointer_id())
        {
            press(app, event, AxisPress::Move);
        }
    });
    on(strip, "pointerup", |app, _| app.dispatch(Action::AxisPressed(AxisPress::Up)));
    on(&elements.at, "keydown", field);
    on(&elements.at, "change", |app, _| type_moment(app));
    on(&elements.scope, "change", |app, _| {
        let place = usize::try_from(app.elements.scope.selected_index()).ok();
        if let Some(about) = place.and_then(About::at) {
            app.dispatch(Action::AboutChosen(about));
        }
    });
    on(&elements.range_end, "click", |app, _| app.dispatch(Action::RangeEnded));
    listeners
}

fn press(app: &Rc<App>, event: &PointerEvent, what: fn(f64) -> AxisPress) {
    if let Some(at) = place(app, event) {
        app.dispatch(Action::AxisPressed(what(at.x)));
    }
}

/// Enter pins what stands in the field, and it stays marked for the next; Esc leads back to the timeline.
fn field(app: &Rc<App>, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>().filter(|event| !event.is_composing()) else { return };
    match event.key().as_str() {
        "Enter" => {
            type_moment(app);
            app.elements.at.select();
        }
        "Escape" => {
            app.elements.at.set_value("");
            let _ = app.painter.borrow().canvas(&app.elements).focus();
        }
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}

fn type_moment(app: &Rc<App>) {
    let text = app.elements.at.value();
    if !text.is_empty() {
        app.dispatch(Action::MomentTyped(text));
    }
}

/// The field of the moment gets the focus, all of it marked.
pub(super) fn focus(app: &App) {
    // It fails only for an element that is gone.
    let _ = app.elements.at.focus();
    app.elements.at.select();
}
