//! The dialog that offers the formats of a picture.

use crate::app::{App, On, Part, Shown};
use crate::dom::{set_open, set_text};
use crate::elements::elements;
use std::rc::Rc;
use ui::export::ExportAction;
use ui::export::{Dialog, pixels};
use ui::picture_file::Format;
use ui::{Action, State};

elements! {
    HtmlButtonElement: export_close;
    HtmlDialogElement: export;
    HtmlElement: export_size_1, export_size_2, export_size_4;
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

    fn show(&mut self, _: &Rc<App>, elements: &Elements, state: &State) {
        if let Some(dialog) = self.dialog.changed(state.export.dialog) {
            let is_open = *dialog == Dialog::Open;
            if is_open {
                let sizes = [&elements.export_size_1, &elements.export_size_2, &elements.export_size_4];
                for (size, format) in sizes.into_iter().zip([Format::Png1, Format::Png2, Format::Png4]) {
                    set_text(size, &pixels(state, format));
                }
            }
            set_open(&elements.export, is_open);
        }
    }
}
