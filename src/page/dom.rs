//! Helpers to find, create, fill and update elements, and to handle their events.

use gloo::events::{EventListener, EventListenerOptions};
use js_sys::{Array, Function, Object, Promise, Reflect};
use std::cell::OnceCell;
use std::rc::Rc;
use ui::text::names::keep_units;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Document, Element, Event, EventTarget, HtmlElement, HtmlInputElement, MouseEvent, ResizeObserver, Window,
};

/// Window, document and body of the page.
#[derive(Clone)]
pub(super) struct Dom {
    pub(super) window: Window,
    pub(super) document: Document,
    pub(super) body: HtmlElement,
}

impl Dom {
    /// Returns the document and body of a window. Fails if one is missing.
    pub(super) fn new(window: Window) -> Result<Dom, String> {
        let document = window.document().ok_or("a window without a document")?;
        let body = document.body().ok_or("a document without a body")?;
        Ok(Dom { window, document, body })
    }

    /// Returns the element with the given id, if it has the expected type.
    pub(super) fn by_id<T: JsCast>(&self, id: &str) -> Option<T> {
        self.document.get_element_by_id(id)?.dyn_into().ok()
    }

    pub(super) fn new_element(&self, tag: &str, class: &str, text: &str) -> Element {
        // Cannot fail, since our tag names are valid. The body is a harmless fallback.
        let element = self.document.create_element(tag).unwrap_or_else(|_| self.body.clone().into());
        if !class.is_empty() {
            element.set_class_name(class);
        }
        element.set_text_content(Some(&keep_units(text)));
        element
    }

    /// Creates an element and appends it to another.
    pub(super) fn append_new(&self, to: &Element, tag: &str, class: &str, text: &str) -> Element {
        let element = self.new_element(tag, class, text);
        append(to, &element);
        element
    }

    /// Sets the text of an element to a name. If the name does not fit, its first `shared` bytes are cut first.
    pub(super) fn set_name(&self, element: &Element, name: &str, shared: usize) {
        let parts = name.split_at_checked(shared).filter(|(beginning, _)| !beginning.is_empty());
        let whole = if parts.is_some() { "" } else { name };
        element.set_text_content(Some(&keep_units(whole)));
        // Fails only for invalid class names.
        let _ = element.class_list().toggle_with_force("cut", parts.is_some());
        for part in parts.iter().flat_map(|&(beginning, rest)| [beginning, rest]) {
            self.append_new(element, "span", "", part);
        }
    }

    /// Creates a button with a data attribute, given as name and value.
    pub(super) fn new_button(&self, class: &str, text: &str, (about, what): (&str, &str)) -> Element {
        let button = self.new_element("button", class, text);
        set_attribute(&button, "type", "button");
        set_attribute(&button, about, what);
        button
    }

    /// Fills a definition list with labels and values.
    pub(super) fn fill_definitions<'a>(&self, list: &Element, lines: impl Iterator<Item = (&'a str, &'a str)>) {
        clear(list);
        for (label, value) in lines {
            self.append_new(list, "dt", "", label);
            self.append_new(list, "dd", "", value);
        }
    }

    /// Fills a select element with options.
    pub(super) fn fill_options<'a>(&self, picker: &Element, lines: impl IntoIterator<Item = &'a String>) {
        clear(picker);
        lines.into_iter().for_each(|line| drop(self.append_new(picker, "option", "", line)));
    }

    /// Returns the focused element. An element in a closed dialog is ignored: it keeps the focus until the next frame.
    pub(super) fn focused_element(&self) -> Option<Element> {
        let is_seen = |focus: &Element| focus.closest("dialog:not([open])").is_ok_and(|dialog| dialog.is_none());
        self.document.active_element().filter(is_seen)
    }

    pub(super) fn has_focus(&self, element: &Element) -> bool {
        self.focused_element().is_some_and(|focus| focus.is_same_node(Some(element)))
    }

    /// Sets the value of a field, unless the user is typing into it.
    pub(super) fn set_value(&self, field: &HtmlInputElement, text: &str) {
        if !self.has_focus(field) {
            field.set_value(text);
        }
    }

    /// Focuses the element with the given id.
    pub(super) fn focus_on(&self, id: &str) {
        self.document.get_element_by_id(id).iter().for_each(focus_element);
    }

    /// Focuses the field with the given id and selects its text.
    pub(super) fn focus_and_select(&self, id: &str) {
        self.focus_on(id);
        if let Some(field) = self.by_id::<HtmlInputElement>(id) {
            field.select();
        }
    }

    /// Focuses the timeline's canvas. It is the first element of the plot, whichever renderer draws it.
    pub(super) fn focus_timeline(&self) {
        let plot = self.document.get_element_by_id("plot");
        plot.and_then(|plot| plot.first_element_child()).iter().for_each(focus_element);
    }
}

pub(super) fn focus_element(element: &Element) {
    // Fails only for an element that was removed.
    let _ = element.dyn_ref::<HtmlElement>().map(HtmlElement::focus);
}

/// Removes all content of `element`.
pub(super) fn clear(element: &Element) {
    element.set_text_content(None);
}

pub(super) fn append(parent: &Element, child: &Element) {
    // Fails only for a parent inside its own child.
    let _ = parent.append_child(child);
}

/// Sets the text of an element, unless the element already has it. Setting it again would make a screen reader repeat a
/// live region.
pub(super) fn set_text(element: &Element, text: &str) {
    let text = keep_units(text);
    if element.text_content().as_deref() != Some(&*text) {
        element.set_text_content(Some(&text));
    }
}

/// Sets the column names and tooltips of a table head, starting with the second column.
pub(super) fn fill_table_head<'a>(head: &Element, heads: impl Iterator<Item = &'a (&'a str, &'a str)>) {
    let mut cell = head.first_element_child();
    for (name, meaning) in heads {
        cell = cell.and_then(|cell| cell.next_element_sibling());
        let Some(cell) = &cell else { return };
        set_text(cell, name);
        set_attribute(cell, "title", meaning);
    }
}

/// Shows an element with this text, or hides the element if there is no text.
pub(super) fn show_text(element: &HtmlElement, text: Option<&str>) {
    set_text(element, text.unwrap_or_default());
    element.set_hidden(text.is_none());
}

/// Returns a JavaScript object with one property, which is `true`.
pub(super) fn flag_options(name: &str) -> JsValue {
    let options = Object::new();
    // Fails only for values that are not objects.
    let _ = Reflect::set(&options, &name.into(), &JsValue::TRUE);
    options.into()
}

pub(super) fn set_attribute(element: &Element, name: &str, value: &str) {
    // Fails only for invalid names, and ours are literals.
    let _ = element.set_attribute(name, value);
}

/// Sets an attribute to `true` or `false`.
pub(super) fn set_flag(element: &Element, name: &str, holds: bool) {
    set_attribute(element, name, if holds { "true" } else { "false" });
}

/// Sets attributes, and removes those without a value.
pub(super) fn set_or_remove(element: &Element, attributes: &[(&str, Option<String>)]) {
    for (name, value) in attributes {
        match value {
            Some(value) => set_attribute(element, name, value),
            // Cannot fail for our names.
            None => drop(element.remove_attribute(name)),
        }
    }
}

/// Sets a property of an element's inline style.
pub(super) fn set_style(element: &Element, name: &str, value: &str) {
    // Cannot fail for our properties.
    let _ = element.dyn_ref::<HtmlElement>().map(|element| element.style().set_property(name, value));
}

/// Makes an anchor open a line of source code. The link comes from `ui::links`.
pub(super) fn set_source_link(anchor: &Element, link: &str) {
    set_attribute(anchor, "href", link);
    set_attribute(anchor, "rel", "noopener noreferrer");
    // A web page opens in a new tab. An editor's URL opens the editor.
    set_attribute(anchor, "target", if link.starts_with("http") { "_blank" } else { "_self" });
}

/// Calls `then` for each event named `event` on `target`. The listener lives as long as the page and can prevent the
/// event's default action.
pub(super) fn listen(target: &EventTarget, event: &'static str, then: impl FnMut(&Event) + 'static) {
    listen_boxed(target, event, Box::new(then));
}

/// Implements [`listen`]. Not generic, so that it is compiled once.
fn listen_boxed(target: &EventTarget, event: &'static str, then: Box<dyn FnMut(&Event)>) {
    EventListener::new_with_options(target, event, EventListenerOptions::enable_prevent_default(), then).forget();
}

/// Returns the element under the pointer, or its nearest ancestor, that matches `selector`.
pub(super) fn hit_element(event: &Event, selector: &str) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// Returns the value of an attribute from the nearest element under the pointer that has it.
pub(super) fn attribute_at(event: &Event, attribute: &str) -> Option<String> {
    hit_element(event, &["[", attribute, "]"].concat())?.get_attribute(attribute)
}

/// Like [`attribute_at`], with the value parsed as a number.
pub(super) fn number_at(event: &Event, attribute: &str) -> Option<u32> {
    attribute_at(event, attribute)?.parse().ok()
}

/// Returns the position of a mouse event in an element, in device pixels from its upper left corner.
pub(super) fn position_in(element: &Element, event: &Event, scale: f64) -> Option<[f64; 2]> {
    let event = event.dyn_ref::<MouseEvent>()?;
    let area = element.get_bounding_client_rect();
    // Centre of the CSS pixel.
    let on = |at: i32, from: f64| (f64::from(at) + 0.5 - from) * scale;
    Some([on(event.client_x(), area.left()), on(event.client_y(), area.top())])
}

/// Calls `then` with the entries of a [`ResizeObserver`], initially and whenever the size of one of the elements
/// changes.
pub(super) fn observe_sizes(elements: &[&Element], then: impl FnMut(Array) + 'static) -> Result<(), String> {
    let observer = new_observer(Box::new(then))?;
    elements.iter().for_each(|element| observer.observe(element));
    Ok(())
}

/// Creates a resize observer whose callback lives as long as the page.
pub(super) fn new_observer(then: Box<dyn FnMut(Array)>) -> Result<ResizeObserver, String> {
    let then = Closure::wrap(then);
    let observer = ResizeObserver::new(then.as_ref().unchecked_ref()).map_err(|error| error_message(&error))?;
    then.forget();
    Ok(observer)
}

/// Returns a promise, and the function that resolves or rejects it.
pub(super) fn unsettled() -> (Promise, impl Fn(Result<JsValue, JsValue>) + Clone + 'static) {
    let ends: Rc<OnceCell<[Function; 2]>> = Rc::default();
    let promise = Promise::new(&mut |resolve, reject| drop(ends.set([resolve, reject])));
    let settle = move |result: Result<JsValue, JsValue>| {
        let Some([resolve, reject]) = ends.get() else { return };
        let (end, value) = result.map_or_else(|cause| (reject, cause), |value| (resolve, value));
        // The functions return nothing of interest.
        let _ = end.call1(&JsValue::NULL, &value);
    };
    (promise, settle)
}

/// Returns the message of a rejected promise or exception. Workers and our own code reject with strings.
pub(super) fn error_message(error: &JsValue) -> String {
    let message = error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    message.or_else(|| error.as_string()).unwrap_or_else(|| "no reason given".to_owned())
}
