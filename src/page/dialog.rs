//! Dialogs: the state opens and closes them, and the browser closes them on Esc.

use super::dom::set_attribute;
use web_sys::HtmlDialogElement;

/// Stands from the time that the page opens a dialog until it closes it, or hears that the browser has.
const OPENED: &str = "data-opened";

/// Opens a dialog or closes it, as the state says; `true` when it is opened just now. One that the browser has closed stays closed until
/// it says so: the state still says open, and yet nobody opened it again.
pub(super) fn set_open(dialog: &HtmlDialogElement, is_open: bool) -> bool {
    if !is_open {
        close(dialog);
        return false;
    }
    if dialog.has_attribute(OPENED) {
        return false;
    }
    set_attribute(dialog, OPENED, "");
    // It fails only when it is open already.
    drop(dialog.show_modal());
    true
}

/// Closes a dialog, if it is open.
pub(super) fn close(dialog: &HtmlDialogElement) {
    if dialog.has_attribute(OPENED) {
        drop(dialog.remove_attribute(OPENED));
        dialog.close();
    }
}

/// Whether the event `close` says that the browser has closed a dialog. Of what the page itself closed it is heard later, when the dialog
/// may be open again.
pub(super) fn is_ended(dialog: &HtmlDialogElement) -> bool {
    let is_ended = !dialog.open() && dialog.has_attribute(OPENED);
    if is_ended {
        drop(dialog.remove_attribute(OPENED));
    }
    is_ended
}
