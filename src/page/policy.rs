//! Second content security policy, added at startup. It restricts connections to the page's own server and the servers
//! named in its link.
//!
//! Policies can only restrict further. One that is inserted by a script takes effect immediately, also for workers that
//! are created later from blob URLs.

use super::dom::{self, Dom};

/// Adds the policy. All `origins` must satisfy `ui::text::url::is_plain_origin`. Returns an error message if the
/// document has no head.
pub(super) fn restrict_connections(dom: &Dom, origins: &[&str]) -> Result<(), String> {
    let head = dom.document.head().ok_or("a document without a head")?;
    let meta = dom.new_element("meta", "", "");
    dom::set_attribute(&meta, "http-equiv", "Content-Security-Policy");
    dom::set_attribute(&meta, "content", &["connect-src 'self'", &origins.join(" ")].join(" "));
    dom::append(&head, &meta);
    Ok(())
}
