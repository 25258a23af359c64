//! The browser's own storage. Where there is none, what is kept lasts as long as the page.

use super::dom::Dom;
use web_sys::Storage;

fn storage(dom: &Dom) -> Option<Storage> {
    dom.window.local_storage().ok().flatten()
}

/// What is stored under this name.
pub(super) fn stored(dom: &Dom, key: &str) -> Option<String> {
    storage(dom).and_then(|storage| storage.get_item(key).ok().flatten())
}

/// Keeps a text under this name.
pub(super) fn store(dom: &Dom, key: &str, text: &str) {
    if let Some(storage) = storage(dom) {
        // A full or forbidden storage is no error: nothing that is seen depends on it.
        let _ = storage.set_item(key, text);
    }
}
