//! JavaScript expressions that read the state of a page, for all browsers.

use serde_json::Value;

/// Replaces the no-break spaces between numbers and units in all texts of a value, so that tests name them with spaces.
pub(crate) fn with_plain_spaces(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\u{a0}', " ")),
        Value::Array(values) => values.into_iter().map(with_plain_spaces).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, with_plain_spaces(value))).collect(),
        other => other,
    }
}

/// Expression for an attribute of the element that `selector` matches; null if the element or the attribute is missing.
pub(crate) fn attribute(selector: &str, name: &str) -> String {
    let (selector, name) = (Value::from(selector), Value::from(name));
    format!("document.querySelector({selector})?.getAttribute({name}) ?? null")
}

/// Expression for the rendered text of an element; empty if there is no such element. A hidden element returns its text
/// too.
pub(crate) fn text(selector: &str) -> String {
    format!("document.querySelector({})?.innerText ?? ''", Value::from(selector))
}

/// Expression for the selector of the button that reveals a hidden element: of its menu, its tab or its group of tabs.
/// Null if the element is visible.
pub(crate) fn opener_of(selector: &str) -> String {
    format!(
        "(it => {{ const hidden = it?.closest('[popover]:not(:popover-open), #side > [hidden], .views[hidden]'); \
         if (!hidden) return null; \
         if (hidden.popover) return `[popovertarget=\"${{hidden.id}}\"]:not([popovertargetaction])`; \
         return {{ 'stacks-views': '#tab-stacks', 'allocations-views': '#tab-allocations' }}[hidden.id] \
             ?? `#side-tabs [aria-controls=\"${{hidden.id}}\"]`; }})(document.querySelector({}))",
        Value::from(selector)
    )
}
