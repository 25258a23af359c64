//! Opening and closing of dialogs, by the state or by Esc.

use super::dom::set_attribute;
use web_sys::HtmlDialogElement;

/// Attribute that is set from opening a dialog until the page closes it or learns that the browser has.
const OPENED: &str = "data-opened";

/// Opens or closes a dialog. Returns `true` if this call opened it. A dialog that the browser has closed is not opened
/// again until its `close` event has updated the state.
pub(super) fn set_open(dialog: &HtmlDialogElement, is_open: bool) -> bool {
    if !is_open {
        close(dialog);
        return false;
    }
    if dialog.has_attribute(OPENED) {
        return false;
    }
    set_attribute(dialog, OPENED, "");
    // Fails only if it is open already.
    drop(dialog.show_modal());
    true
}

/// Closes a dialog if it is open.
pub(super) fn close(dialog: &HtmlDialogElement) {
    if dialog.has_attribute(OPENED) {
        drop(dialog.remove_attribute(OPENED));
        dialog.close();
    }
}

/// Returns whether a `close` event means that the browser has closed the dialog. The event also arrives, with a delay,
/// after the page closed it, when the dialog may be open again.
pub(super) fn was_closed_by_browser(dialog: &HtmlDialogElement) -> bool {
    let is_ended = !dialog.open() && dialog.has_attribute(OPENED);
    if is_ended {
        drop(dialog.remove_attribute(OPENED));
    }
    is_ended
}
