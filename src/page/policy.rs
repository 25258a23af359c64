//! The second security policy: from here on the page reaches its own server, and those that the links name. Nothing else.
//!
//! Policies only ever tighten, and one that is inserted by script holds at once, also for blob: workers made after it.

use super::dom::{self, Dom};

/// Adds the policy. All of `origins` must be plain (`ui::url::is_plain_origin`).
pub(super) fn tighten(dom: &Dom, origins: &[&str]) -> Result<(), String> {
    let head = dom.document.head().ok_or("a document without a head")?;
    let meta = dom.new_element("meta", "", "");
    dom::set_attribute(&meta, "http-equiv", "Content-Security-Policy");
    dom::set_attribute(&meta, "content", &["connect-src 'self'", &origins.join(" ")].join(" "));
    dom::append(&head, &meta);
    Ok(())
}
