//! The second security policy: from here on the page reaches its own server, and the one the link names. Nothing else.
//!
//! Policies only ever tighten, and one that is inserted by script holds at once, also for blob: workers made after it.

use super::dom::{self, Elements};

/// Adds the policy. `origin` must be plain (`ui::url::is_plain_origin`).
pub(super) fn tighten(elements: &Elements, origin: Option<&str>) -> Result<(), String> {
    let head = elements.document.head().ok_or("a document without a head")?;
    let meta = elements.new_element("meta", "", "");
    dom::set_attribute(&meta, "http-equiv", "Content-Security-Policy");
    let also = origin.map(|origin| format!(" {origin}")).unwrap_or_default();
    dom::set_attribute(&meta, "content", &format!("connect-src 'self'{also}"));
    dom::append(&head, &meta);
    Ok(())
}
