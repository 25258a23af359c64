//! The dialog that offers the formats of a picture.

use crate::app::{App, On, Part, Shown};
use crate::dom::{Dom, set_open, set_text};
use crate::elements::elements;
use ui::export::ExportAction;
use ui::export::{Dialog, pixels};
use ui::picture_file::Format;
use ui::{Action, State};
use web_sys::Element;

elements! {
    HtmlButtonElement: export_close;
    HtmlDialogElement: export;
}

#[derive(Default)]
pub(super) struct Panel {
    dialog: Shown<Dialog>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.export_close, "click", |app, _, _| app.dispatch(Action::of(ExportAction::Closed)));
        on(&elements.export, "close", |app, _, _| app.dispatch(Action::of(ExportAction::Closed)));
    }

    fn show(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(dialog) = self.dialog.changed(state.export.dialog) {
            let is_open = *dialog == Dialog::Open;
            if is_open {
                for format in Format::ALL.into_iter().filter(|format| format.has_pixels()) {
                    if let Some(size) = last_part(elements, format.control()) {
                        set_text(&size, &pixels(state, format));
                    }
                }
            }
            set_open(&elements.export, is_open);
        }
    }
}

/// What stands last in a button: how large the picture becomes.
fn last_part(dom: &Dom, button: &str) -> Option<Element> {
    dom.document.get_element_by_id(button)?.last_element_child()
}
