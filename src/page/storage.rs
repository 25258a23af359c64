//! Access to the browser's local storage. If it is not available, nothing is stored.

use super::dom::Dom;
use web_sys::Storage;

fn storage(dom: &Dom) -> Option<Storage> {
    dom.window.local_storage().ok().flatten()
}

/// Returns the value stored under this key.
pub(super) fn load_value(dom: &Dom, key: &str) -> Option<String> {
    storage(dom).and_then(|storage| storage.get_item(key).ok().flatten())
}

/// Stores a value under this key.
pub(super) fn store(dom: &Dom, key: &str, text: &str) {
    if let Some(storage) = storage(dom) {
        // Errors (storage full or forbidden) are ignored, because nothing visible depends on it.
        let _ = storage.set_item(key, text);
    }
}
