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

/// What a person clicks first to see the element: the button of its menu, of its tab or of its group of tabs; null where it needs none.
pub(crate) fn opener(selector: &str) -> String {
    format!(
        "(it => {{ const hidden = it?.closest('[popover]:not(:popover-open), #side > [hidden], .views[hidden]'); \
         if (!hidden) return null; \
         if (hidden.popover) return `[popovertarget=\"${{hidden.id}}\"]:not([popovertargetaction])`; \
         return {{ 'stacks-views': '#tab-stacks', 'allocations-views': '#tab-allocations' }}[hidden.id] \
             ?? `#side-tabs [aria-controls=\"${{hidden.id}}\"]`; }})(document.querySelector({}))",
        Value::from(selector)
    )
}
