//! The dialog that offers the formats of a picture.

use super::Shown;
use crate::dom::{Elements, set_text};
use ui::State;
use ui::export::{Dialog, pixels};
use ui::picture_file::Format;

#[derive(Default)]
pub(super) struct Panel {
    dialog: Shown<Dialog>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(dialog) = self.dialog.changed(state.export.dialog) {
            match dialog {
                Dialog::Open => {
                    let sizes = [&elements.export_size_1, &elements.export_size_2, &elements.export_size_4];
                    for (size, format) in sizes.into_iter().zip([Format::Png1, Format::Png2, Format::Png4]) {
                        set_text(size, &pixels(state, format));
                    }
                    // It fails only when it is open already.
                    drop(elements.export.show_modal());
                }
                Dialog::Closed => elements.export.close(),
            }
        }
    }
}
