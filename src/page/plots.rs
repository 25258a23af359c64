//! Pickers of what the picture's height shows → actions.

use super::App;
use super::dom::listen;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::plots::{PlotAction, PlotStep};
use ui::{Action, Command};
use web_sys::{EventTarget, HtmlSelectElement};

/// Listens to them. The first line of pools and of streams stands for all.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let on = |target: &EventTarget, event: &'static str, then: fn(&App) -> Option<Action>| {
        let app = app.clone();
        listen(target, event, move |_| then(&app).into_iter().for_each(|action| app.dispatch(action)))
    };
    vec![
        on(&elements.show, "change", |app| Some(Action::Plot(PlotAction::Shown(place(&app.elements.show)?)))),
        on(&elements.only_pool, "change", |app| {
            Some(Action::Plot(PlotAction::Pool(place(&app.elements.only_pool)?.checked_sub(1))))
        }),
        on(&elements.only_stream, "change", |app| {
            Some(Action::Plot(PlotAction::Stream(place(&app.elements.only_stream)?.checked_sub(1))))
        }),
        on(&elements.details_only, "click", |_| Some(Action::Command(Command::Plot(PlotStep::OnlySegment)))),
    ]
}

fn place(select: &HtmlSelectElement) -> Option<usize> {
    usize::try_from(select.selected_index()).ok()
}
