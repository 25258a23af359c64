//! The field of the search: what is typed there, a little after it was typed, and its keys.

use super::App;
use super::dom::listen;
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use ui::{Action, Command};
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent};

/// Nobody reads what is found between two letters.
const PAUSE_MS: u32 = 120;

/// Listens to the field and to the button that empties it.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let pause: Rc<RefCell<Option<Timeout>>> = Rc::default();
    let typing = {
        let (app, pause) = (app.clone(), pause.clone());
        listen(&elements.find, "input", move |_| {
            let app = app.clone();
            // The one before is cancelled as it is dropped.
            pause.replace(Some(Timeout::new(PAUSE_MS, move || take(&app))));
        })
    };
    let keys = {
        let app = app.clone();
        listen(&elements.find, "keydown", move |event| key(&app, event))
    };
    let clear = {
        let app = app.clone();
        listen(&elements.find_clear, "click", move |_| {
            app.elements.find.set_value("");
            take(&app);
            focus(&app);
        })
    };
    vec![typing, keys, clear]
}

/// Puts the focus into the field, all of it marked: the next letter begins anew.
pub(super) fn focus(app: &App) {
    // It fails only for what can't have the focus.
    let _ = app.elements.find.focus();
    app.elements.find.select();
}

fn take(app: &Rc<App>) {
    app.dispatch(Action::FindTyped(app.elements.find.value()));
}

fn key(app: &Rc<App>, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>().filter(|event| !event.is_composing()) else { return };
    match event.key().as_str() {
        "c" | "C" if event.alt_key() => {
            take(app);
            app.dispatch(Action::Command(Command::FindCapitals));
        }
        "Enter" => {
            // Whoever is done typing does not wait for the pause.
            take(app);
            app.dispatch(Action::Command(if event.shift_key() { Command::FindPrevious } else { Command::FindNext }));
        }
        "Escape" => {
            take(app);
            let canvas = app.painter.borrow().canvas(&app.elements);
            let _ = canvas.focus();
        }
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}
