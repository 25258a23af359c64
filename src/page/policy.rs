//! Second content security policy, added at startup: the page may connect only to its own server and those that its
//! link names.
//!
//! Policies can only become stricter. One inserted by script takes effect immediately, also for workers created later
//! from blob URLs.

use super::dom::{self, Dom};

/// Adds the policy. All `origins` must satisfy `ui::url::is_plain_origin`. Fails if the document has no head.
pub(super) fn restrict_connections(dom: &Dom, origins: &[&str]) -> Result<(), String> {
    let head = dom.document.head().ok_or("a document without a head")?;
    let meta = dom.new_element("meta", "", "");
    dom::set_attribute(&meta, "http-equiv", "Content-Security-Policy");
    dom::set_attribute(&meta, "content", &["connect-src 'self'", &origins.join(" ")].join(" "));
    dom::append(&head, &meta);
    Ok(())
}
