//! Expressions that ask a page in any browser what is seen of it.

use serde_json::Value;

/// An attribute of the one element that `selector` names; null where element or attribute is missing.
pub(crate) fn attribute(selector: &str, name: &str) -> String {
    let (selector, name) = (Value::from(selector), Value::from(name));
    format!("document.querySelector({selector})?.getAttribute({name}) ?? null")
}

/// The text of the element as a reader sees it; empty where it is missing. One that is hidden has its text all the same.
pub(crate) fn text(selector: &str) -> String {
    format!("document.querySelector({})?.innerText ?? ''", Value::from(selector))
}
