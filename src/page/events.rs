//! Pointer and field in the list of events → actions.

use super::App;
use super::dom::listen;
use super::input::clicked;
use super::table;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::events::EventsAction;
use ui::rows::RowsStep;
use ui::{Action, Command};
use web_sys::{Event, EventTarget};

/// Listens to the list of events. Rows scroll as those of the table do.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let mut listeners = Vec::new();
    let mut on = |target: &EventTarget, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listeners.push(listen(target, event, move |event| then(&app, event)));
    };
    on(&elements.events_rows, "click", |app, event| {
        if let Some((row, extent)) = table::row(event) {
            app.dispatch(Action::of(EventsAction::RowClicked(row, extent)));
        }
    });
    on(&elements.events_filter, "input", |app, _| {
        app.dispatch(Action::of(EventsAction::Typed(app.elements.events_filter.value())));
    });
    on(&elements.events_filter, "keydown", |app, event| table::leave_field(&app.elements.events_grid, event));
    on(&elements.events_actions, "click", |app, event| {
        if let Some(action) = clicked(event, "data-action") {
            app.dispatch(Action::of(EventsAction::ActionToggled(action as u32)));
        }
    });
    // Their keys are those of the table's buttons.
    on(&elements.events_all, "click", |app, _| app.dispatch(Action::Command(Command::Rows(RowsStep::ChooseAll))));
    on(&elements.events_copy, "click", |app, _| app.dispatch(Action::Command(Command::Rows(RowsStep::Copy))));
    on(&elements.events_clear, "click", |app, _| app.dispatch(Action::Command(Command::Rows(RowsStep::Clear))));
    on(&elements.events_go, "click", |app, _| app.dispatch(Action::Command(Command::TypeMoment)));
    listeners
}
