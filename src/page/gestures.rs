//! Pointer gestures on the timeline's canvas: hovering, dragging, clicking and the wheel.

use super::app::{App, Listeners, Part};
use super::dom::{listen, position_in};
use super::elements::elements;
use std::cell::Cell;
use std::rc::Rc;
use ui::shell::action::Action;
use ui::state::binding::Modifiers;
use ui::state::drag::Drag;
use ui::state::effect::{Pointer, WheelAction};
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, MouseEvent, PointerEvent, WheelEvent};

elements! {
    HtmlElement: plot;
}

/// Height of a text line in CSS pixels, used for mouse wheels that report lines instead of pixels.
const LINE_PX: f64 = 32.0;
const PAGE_PX: f64 = 400.0;

/// Part of the page that listens for pointer gestures. It renders nothing.
#[derive(Default)]
pub(super) struct Gestures;

/// Maximum distance, in CSS pixels, that the pointer may move while pressed so that the press counts as a click.
const CLICK_PX: i32 = 3;

/// A press of the main pointer button: where it started, in CSS pixels of the window.
#[derive(Clone, Copy)]
struct Press {
    start: (i32, i32),
    from: Option<Pointer>,
    last: (i32, i32),
    is_drag: bool,
}

impl Part for Gestures {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        let press = Rc::new(Cell::new(None::<Press>));
        let on = |event: &'static str, then: fn(&App, &Cell<Option<Press>>, &PointerEvent, &HtmlElement)| {
            let press = press.clone();
            listen(&elements.plot, event, move |event| {
                if let Some(event) = event.dyn_ref::<PointerEvent>() {
                    then(app, &press, event, &elements.plot);
                }
            });
        };
        on("pointerdown", |app, press, event, plot| {
            if event.button() == 0 {
                let at = (event.client_x(), event.client_y());
                press.set(Some(Press { start: at, from: position(app, plot, event), last: at, is_drag: false }));
                // Fails only for a pointer that is gone already.
                let _ = plot.set_pointer_capture(event.pointer_id());
            }
        });
        on("pointermove", |app, press, event, plot| match press.get() {
            None => {
                if let Some(pointer) = position(app, plot, event) {
                    app.dispatch(Action::PointerMoved(pointer));
                }
            }
            Some(held) => press.set(Some(drag(app, plot, held, event))),
        });
        on("pointerup", |app, press, event, plot| {
            let held = press.take();
            set_pointer_shape(plot, PointerShape::Open);
            app.dispatch(Action::DragEnded);
            if let Some(pointer) = position(app, plot, event).filter(|_| held.is_some_and(|held| !held.is_drag)) {
                app.dispatch(Action::Clicked(pointer));
            }
        });
        on("pointercancel", |app, press, _, plot| {
            press.set(None);
            set_pointer_shape(plot, PointerShape::Open);
            app.dispatch(Action::DragCancelled);
        });
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.plot, "wheel", wheel);
        on.event(&elements.plot, "contextmenu", |app, elements, event| {
            event.prevent_default();
            if let Some(at) = event.dyn_ref::<MouseEvent>().and_then(|event| position(app, &elements.plot, event)) {
                app.dispatch(Action::MarkerAdded(at));
            }
        });
        on.action(&elements.plot, "pointerleave", |_, _, _| Some(Action::PointerLeft));
    }
}

fn drag(app: &App, plot: &HtmlElement, held: Press, event: &PointerEvent) -> Press {
    let at = (event.client_x(), event.client_y());
    let far = (at.0 - held.start.0).abs().max((at.1 - held.start.1).abs()) > CLICK_PX;
    if !far && !held.is_drag {
        return held;
    }
    if let Some(from) = held.from.filter(|_| !held.is_drag) {
        let (alt, ctrl, shift) = (event.alt_key(), event.ctrl_key(), event.shift_key());
        app.dispatch(Action::DragStarted { from, held: Modifiers { alt, ctrl, shift } });
        if app.state.borrow().tools.drag == Drag::Move {
            set_pointer_shape(plot, PointerShape::Grabbing);
        }
    }
    let (drag, scale) = {
        let state = app.state.borrow();
        (state.tools.drag, state.canvas.map_or(1.0, |canvas| canvas.scale))
    };
    if drag == Drag::Move {
        let right_px = f64::from(at.0 - held.last.0) * scale;
        let up_px = f64::from(held.last.1 - at.1) * scale;
        app.dispatch(Action::Dragged { right_px, up_px });
    } else if let Some(to) = position(app, plot, event) {
        app.dispatch(Action::DragMoved(to));
    }
    Press { last: at, is_drag: true, ..held }
}

/// Shape of the mouse pointer over the canvas.
#[derive(PartialEq)]
enum PointerShape {
    Open,
    Grabbing,
}

fn set_pointer_shape(plot: &HtmlElement, hand: PointerShape) {
    let classes = plot.class_list();
    // Fails only for invalid class names.
    let _ = if hand == PointerShape::Grabbing { classes.add_1("dragging") } else { classes.remove_1("dragging") };
}

/// Returns the position of a mouse event on the canvas, in device pixels from its lower left corner. `None` before the
/// canvas has a size.
pub(super) fn position(app: &App, plot: &HtmlElement, event: &MouseEvent) -> Option<Pointer> {
    let canvas = app.state.borrow().canvas?;
    let [x, down] = position_in(plot, event, canvas.scale)?;
    Some(Pointer { x, y: f64::from(canvas.height_px) - down })
}

fn wheel(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(event) = event.dyn_ref::<WheelEvent>() else { return };
    let Some(at) = position(app, &elements.plot, event) else { return };
    event.prevent_default();
    // The deltas have to be read before their mode. Firefox then reports pixels; otherwise it reports lines, and
    // zooming would be 1.6 times as fast.
    let (sideways, upright) = (event.delta_x(), event.delta_y());
    let unit = match event.delta_mode() {
        WheelEvent::DOM_DELTA_LINE => LINE_PX,
        WheelEvent::DOM_DELTA_PAGE => PAGE_PX,
        _ => 1.0,
    };
    let (sideways, upright) = (sideways * unit, upright * unit);
    let (axis, delta) = if event.ctrl_key() {
        (WheelAction::ZoomBytes, upright)
    } else if sideways.abs() > upright.abs() {
        (WheelAction::MoveEvents, sideways)
    } else if event.shift_key() {
        (WheelAction::MoveEvents, upright)
    } else {
        (WheelAction::ZoomEvents, upright)
    };
    app.dispatch(Action::Wheel { at, delta, axis });
}
