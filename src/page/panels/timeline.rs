//! The picture: its size, and that it is drawn.

use crate::app::{App, Part};
use crate::device::{choose, watch_size};
use crate::elements::elements;
use std::rc::Rc;
use ui::{Action, State};

elements! {
    HtmlElement: plot;
}

#[derive(Default)]
pub(super) struct Panel;

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &Rc<App>, elements: &Rc<Elements>) -> Result<(), String> {
        watch_size(app, &elements.plot, Action::Resized)
    }

    fn show(&mut self, app: &Rc<App>, _: &Elements, state: &State) {
        if app.painter.borrow_mut().show(state, &app.theme.borrow()) {
            choose(app);
        }
    }
}
