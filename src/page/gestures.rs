//! What the pointer does over the canvas: it hovers, it drags, it clicks.

use super::App;
use super::dom::listen;
use super::input::place;
use gloo::events::EventListener;
use std::cell::Cell;
use std::rc::Rc;
use ui::Action;
use ui::drag::{Drag, Held};
use ui::effect::Pointer;
use wasm_bindgen::JsCast;
use web_sys::PointerEvent;

/// A press that moves less than this many CSS pixels is a click.
const CLICK_PX: i32 = 3;

/// A press of the pointer, from where it began.
#[derive(Clone, Copy)]
struct Press {
    start: (i32, i32),
    /// The same on the canvas.
    from: Option<Pointer>,
    last: (i32, i32),
    is_drag: bool,
}

/// The pointer over the canvas: it hovers, it drags, or it clicks.
pub(super) fn listeners(app: &Rc<App>) -> [EventListener; 4] {
    let press = Rc::new(Cell::new(None::<Press>));
    let on = |event: &'static str, then: fn(&Rc<App>, &Cell<Option<Press>>, &PointerEvent)| {
        let (app, press) = (app.clone(), press.clone());
        listen(&app.elements.plot.clone(), event, move |event| {
            if let Some(event) = event.dyn_ref::<PointerEvent>() {
                then(&app, &press, event);
            }
        })
    };
    [
        on("pointerdown", |app, press, event| {
            if event.button() == 0 {
                let at = (event.client_x(), event.client_y());
                press.set(Some(Press { start: at, from: place(app, event), last: at, is_drag: false }));
                // It fails only for a pointer that is gone already.
                let _ = app.elements.plot.set_pointer_capture(event.pointer_id());
            }
        }),
        on("pointermove", |app, press, event| match press.get() {
            None => {
                if let Some(pointer) = place(app, event) {
                    app.dispatch(Action::PointerMoved(pointer));
                }
            }
            Some(held) => press.set(Some(drag(app, held, event))),
        }),
        on("pointerup", |app, press, event| {
            let held = press.take();
            show_hand(app, Hand::Open);
            app.dispatch(Action::DragEnded);
            if let Some(pointer) = place(app, event).filter(|_| held.is_some_and(|held| !held.is_drag)) {
                app.dispatch(Action::Clicked(pointer));
            }
        }),
        on("pointercancel", |app, press, _| {
            press.set(None);
            show_hand(app, Hand::Open);
            app.dispatch(Action::DragCancelled);
        }),
    ]
}

fn drag(app: &Rc<App>, held: Press, event: &PointerEvent) -> Press {
    let at = (event.client_x(), event.client_y());
    let far = (at.0 - held.start.0).abs().max((at.1 - held.start.1).abs()) > CLICK_PX;
    if !far && !held.is_drag {
        return held;
    }
    if let Some(from) = held.from.filter(|_| !held.is_drag) {
        let (alt, ctrl, shift) = (event.alt_key(), event.ctrl_key(), event.shift_key());
        app.dispatch(Action::DragBegan { from, held: Held { alt, ctrl, shift } });
        if app.state.borrow().tools.drag == Drag::Move {
            show_hand(app, Hand::Grabbing);
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
    } else if let Some(to) = place(app, event) {
        app.dispatch(Action::DrawnTo(to));
    }
    Press { last: at, is_drag: true, ..held }
}

/// The cursor over the canvas.
#[derive(PartialEq)]
enum Hand {
    Open,
    Grabbing,
}

fn show_hand(app: &App, hand: Hand) {
    let classes = app.elements.plot.class_list();
    // It fails only for a class that is no word.
    let _ = if hand == Hand::Grabbing { classes.add_1("dragging") } else { classes.remove_1("dragging") };
}
