//! Opens dialogs as the state requires, and detects when the browser closes them (on Esc).

use super::dom::set_attribute;
use web_sys::HtmlDialogElement;

/// Attribute of a dialog that the page has opened. It is removed when the page closes the dialog or detects that the
/// browser did.
const OPENED: &str = "data-opened";

/// Opens or closes a dialog. Returns true if this call opened it. If the browser has closed a dialog, it is not
/// reopened until its `close` event has updated the state.
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

/// Returns whether a `close` event means that the browser has closed the dialog. The event is also sent, with a delay,
/// after the page itself closed the dialog, which may be open again by then.
pub(super) fn was_closed_by_browser(dialog: &HtmlDialogElement) -> bool {
    let is_ended = !dialog.open() && dialog.has_attribute(OPENED);
    if is_ended {
        drop(dialog.remove_attribute(OPENED));
    }
    is_ended
}
