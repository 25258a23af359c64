//! Timeline: observes its size, and lets the painter draw it.

use crate::app::{App, Part};
use crate::device::{select_renderer, watch_size};
use crate::elements::elements;
use crate::sizes::watch;
use ui::features::State;
use ui::shell::action::Action;

elements! {
    HtmlElement: plot, stage;
}

#[derive(Default)]
pub(super) struct Panel;

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        watch(&elements.stage, &app.sizes.stage, &app.frame)?;
        watch_size(app, &elements.plot, Action::Resized)
    }

    fn show_details(&mut self, app: &'static App, _: &Elements, state: &State) {
        draw(app, state);
    }
}

/// Draws the timeline, unless its picture is unchanged.
pub(crate) fn draw(app: &'static App, state: &State) {
    if app.painter.borrow_mut().show(state, &app.theme.borrow(), app.sizes.stage.get()) {
        select_renderer(app);
    }
}
