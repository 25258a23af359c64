//! Export dialog.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dialog::{set_open, was_closed_by_browser};
use crate::dom::{Dom, set_text};
use crate::elements::elements;
use protocol::ExportTable;
use ui::features::State;
use ui::features::export::{Dialog, ExportAction, describe_scope, picture_size, ranges, table_label};
use ui::shell::action::Action;
use ui::state::picture_file::Format;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

elements! {
    HtmlButtonElement: export_close, export_crop;
    HtmlDialogElement: export;
    HtmlElement: export_note, export_onto, export_private;
    HtmlSelectElement: export_table, export_range;
}

#[derive(Default)]
pub(super) struct Panel {
    trace: LastShown<Option<String>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.export_close, |_| Some(ExportAction::Closed.into()));
        on.event(&elements.export, "close", |app, elements, _| {
            if was_closed_by_browser(&elements.export) {
                app.dispatch(Action::feature(ExportAction::Closed));
            }
        });
        on.action(&elements.export_private, "change", |_, _, event| {
            let kind = event.target()?.dyn_into::<HtmlInputElement>().ok()?;
            Some(ExportAction::LeaveOut(kind.value(), kind.checked()).into())
        });
        on.choice(&elements.export_table, |index| Some(ExportAction::TableChosen(index).into()));
        on.choice(&elements.export_range, |index| Some(ExportAction::CropChosen(index).into()));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(trace) = self.trace.update(state.export.trace.clone()) {
            set_text(&elements.export_onto, trace.as_deref().unwrap_or("into a profiler trace…"));
        }
        if set_open(&elements.export, state.export.dialog == Dialog::Open) {
            for format in Format::ALL.into_iter().filter(|format| format.is_raster()) {
                if let Some(size) = size_label(elements, format.control()) {
                    set_text(&size, &picture_size(state, format));
                }
            }
            fill_choices(elements, state);
        }
    }
}

/// Returns the element inside a button that shows the size of the picture.
fn size_label(dom: &Dom, button: &str) -> Option<Element> {
    dom.document.get_element_by_id(button)?.last_element_child()
}

/// Fills the lists of tables and ranges.
fn fill_choices(dom: &Elements, state: &State) {
    set_text(&dom.export_note, &describe_scope(state));
    let tables = ExportTable::ALL.map(|table| table_label(table).to_owned());
    dom.fill_options(&dom.export_table, &tables);
    let table_index = ExportTable::ALL.iter().position(|table| *table == state.export.table);
    dom.export_table.set_selected_index(table_index.unwrap_or(0) as i32);
    let ranges = ranges(state);
    let labels: Vec<String> = ranges.iter().map(|range| range.label(state)).collect();
    dom.fill_options(&dom.export_range, &labels);
    let range_index = ranges.iter().position(|range| *range == state.export.crop);
    dom.export_range.set_selected_index(range_index.unwrap_or(0) as i32);
    dom.export_range.set_disabled(ranges.is_empty());
    dom.export_crop.set_disabled(ranges.is_empty());
}
