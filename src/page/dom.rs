//! Elements: found by the ids of `index.html`, made, filled, and told apart by what a person does with them.

use gloo::events::{EventListener, EventListenerOptions};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Document, Element, Event, EventTarget, HtmlElement, HtmlInputElement, MouseEvent, ResizeObserver, Window,
};

/// The window, and what is in it.
#[derive(Clone)]
pub(super) struct Dom {
    pub(super) window: Window,
    pub(super) document: Document,
    pub(super) body: HtmlElement,
}

impl Dom {
    /// That of a window.
    pub(super) fn of(window: Window) -> Result<Dom, String> {
        let document = window.document().ok_or("a window without a document")?;
        let body = document.body().ok_or("a document without a body")?;
        Ok(Dom { window, document, body })
    }

    /// The element with this id.
    pub(super) fn by_id<T: JsCast>(&self, id: &str) -> Option<T> {
        self.document.get_element_by_id(id)?.dyn_into().ok()
    }

    /// A new element with a class and a text.
    pub(super) fn new_element(&self, tag: &str, class: &str, text: &str) -> Element {
        // Our own tags are valid names, so this never fails; were it to, a detached body is a harmless stand-in.
        let element = self.document.create_element(tag).unwrap_or_else(|_| self.body.clone().into());
        if !class.is_empty() {
            element.set_class_name(class);
        }
        element.set_text_content(Some(text));
        element
    }

    /// A new element at the end of another.
    pub(super) fn add(&self, to: &Element, tag: &str, class: &str, text: &str) -> Element {
        let element = self.new_element(tag, class, text);
        append(to, &element);
        element
    }

    /// A new button, with an attribute that says what it is about.
    pub(super) fn new_button(&self, class: &str, text: &str, (about, what): (&str, &str)) -> Element {
        let button = self.new_element("button", class, text);
        set_attribute(&button, "type", "button");
        set_attribute(&button, about, what);
        button
    }

    /// Fills a definition list.
    pub(super) fn fill_definitions<'a>(&self, list: &Element, lines: impl Iterator<Item = (&'a str, &'a str)>) {
        clear(list);
        for (label, value) in lines {
            self.add(list, "dt", "", label);
            self.add(list, "dd", "", value);
        }
    }

    /// Fills a picker with these lines.
    pub(super) fn fill_options<'a>(&self, picker: &Element, lines: impl IntoIterator<Item = &'a String>) {
        clear(picker);
        lines.into_iter().for_each(|line| drop(self.add(picker, "option", "", line)));
    }

    /// What has the focus, unless it is in a closed dialog: it keeps the focus until the next frame, and nobody means it by a key.
    pub(super) fn focus(&self) -> Option<Element> {
        let is_seen = |focus: &Element| focus.closest("dialog:not([open])").is_ok_and(|dialog| dialog.is_none());
        self.document.active_element().filter(is_seen)
    }

    /// Whether this has the focus.
    pub(super) fn has_focus(&self, element: &Element) -> bool {
        self.focus().is_some_and(|focus| focus.is_same_node(Some(element)))
    }

    /// Writes into a field; whoever types there is ahead of us.
    pub(super) fn set_value(&self, field: &HtmlInputElement, text: &str) {
        if !self.has_focus(field) {
            field.set_value(text);
        }
    }

    /// Gives the focus to the element with this id.
    pub(super) fn focus_on(&self, id: &str) {
        self.document.get_element_by_id(id).iter().for_each(give_focus);
    }

    /// The same, with all that stands there marked.
    pub(super) fn select(&self, id: &str) {
        self.focus_on(id);
        if let Some(field) = self.by_id::<HtmlInputElement>(id) {
            field.select();
        }
    }

    /// Gives the focus to the timeline: its canvas is the first in its place, whatever draws there.
    pub(super) fn focus_timeline(&self) {
        let plot = self.document.get_element_by_id("plot");
        plot.and_then(|plot| plot.first_element_child()).iter().for_each(give_focus);
    }
}

/// Gives the focus to an element.
pub(super) fn give_focus(element: &Element) {
    // It fails only for an element that is gone.
    let _ = element.dyn_ref::<HtmlElement>().map(HtmlElement::focus);
}

/// Removes everything in `element`.
pub(super) fn clear(element: &Element) {
    element.set_text_content(None);
}

/// Puts `child` at the end of `parent`.
pub(super) fn append(parent: &Element, child: &Element) {
    // It fails only for a parent inside its own child.
    let _ = parent.append_child(child);
}

/// Sets a text, and leaves the node alone where it stands already: a live region speaks only of changes.
pub(super) fn set_text(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}

/// Names the columns of a table whose head this is, from the second on: each with what it means.
pub(super) fn fill_heads<'a>(head: &Element, heads: impl Iterator<Item = &'a (&'a str, &'a str)>) {
    let mut cell = head.first_element_child();
    for (name, meaning) in heads {
        cell = cell.and_then(|cell| cell.next_element_sibling());
        let Some(cell) = &cell else { return };
        set_text(cell, name);
        set_attribute(cell, "title", meaning);
    }
}

/// Shows a text, or hides where it stands.
pub(super) fn show_text(element: &HtmlElement, text: Option<&str>) {
    set_text(element, text.unwrap_or_default());
    element.set_hidden(text.is_none());
}

/// Options of which one is on.
pub(super) fn option(name: &str) -> JsValue {
    let options = Object::new();
    // It fails only for what is no object.
    let _ = Reflect::set(&options, &name.into(), &JsValue::TRUE);
    options.into()
}

/// Sets an attribute.
pub(super) fn set_attribute(element: &Element, name: &str, value: &str) {
    // It fails only for a name that is none, and ours are literals.
    let _ = element.set_attribute(name, value);
}

/// Sets an attribute that says yes or no.
pub(super) fn set_flag(element: &Element, name: &str, holds: bool) {
    set_attribute(element, name, if holds { "true" } else { "false" });
}

/// Sets attributes, and removes those without a value.
pub(super) fn set_or_remove(element: &Element, attributes: &[(&str, Option<String>)]) {
    for (name, value) in attributes {
        match value {
            Some(value) => set_attribute(element, name, value),
            // It fails for no name of ours.
            None => drop(element.remove_attribute(name)),
        }
    }
}

/// Sets a property of an element's own style.
pub(super) fn set_style(element: &Element, name: &str, value: &str) {
    // It fails for no property of ours.
    let _ = element.dyn_ref::<HtmlElement>().map(|element| element.style().set_property(name, value));
}

/// Makes an anchor lead to a line of source, by a link that `ui::links` made.
pub(super) fn source_link(anchor: &Element, link: &str) {
    set_attribute(anchor, "href", link);
    set_attribute(anchor, "rel", "noopener noreferrer");
    // A page opens beside this one; an editor opens by itself.
    set_attribute(anchor, "target", if link.starts_with("http") { "_blank" } else { "_self" });
}

/// Calls `then` for every `event` of `target` as long as the page lives. The event's default can be prevented.
pub(super) fn listen(target: &EventTarget, event: &'static str, then: impl FnMut(&Event) + 'static) {
    hear(target, event, Box::new(then));
}

/// The same once for all listeners: for each of them it would be another kB of wasm.
#[inline(never)]
fn hear(target: &EventTarget, event: &'static str, then: Box<dyn FnMut(&Event)>) {
    EventListener::new_with_options(target, event, EventListenerOptions::enable_prevent_default(), then).forget();
}

/// What `selector` names that is under the pointer, or the nearest around it.
pub(super) fn hit(event: &Event, selector: &str) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// What the nearest element with this attribute says in it.
pub(super) fn said(event: &Event, attribute: &str) -> Option<String> {
    hit(event, &["[", attribute, "]"].concat())?.get_attribute(attribute)
}

/// The same as a number.
pub(super) fn number(event: &Event, attribute: &str) -> Option<u32> {
    said(event, attribute)?.parse().ok()
}

/// Where a mouse event is in an element, in device pixels from its left upper corner.
pub(super) fn place_in(element: &Element, event: &Event, scale: f64) -> Option<[f64; 2]> {
    let event = event.dyn_ref::<MouseEvent>()?;
    let area = element.get_bounding_client_rect();
    // The middle of the CSS pixel.
    let on = |at: i32, from: f64| (f64::from(at) + 0.5 - from) * scale;
    Some([on(event.client_x(), area.left()), on(event.client_y(), area.top())])
}

/// Calls `then` with what a [`ResizeObserver`] says, now and whenever the size of one of these changes.
pub(super) fn observe(elements: &[&Element], then: impl FnMut(Array) + 'static) -> Result<(), String> {
    let observer = observer(Box::new(then))?;
    elements.iter().for_each(|element| observer.observe(element));
    Ok(())
}

/// An observer of sizes, which lives as long as the page.
pub(super) fn observer(then: Box<dyn FnMut(Array)>) -> Result<ResizeObserver, String> {
    let then = Closure::wrap(then);
    let observer = ResizeObserver::new(then.as_ref().unchecked_ref()).map_err(|error| cause(&error))?;
    then.forget();
    Ok(observer)
}

/// What a rejected promise says.
pub(super) fn cause(error: &JsValue) -> String {
    error.dyn_ref::<js_sys::Error>().map_or_else(|| "no reason given".to_owned(), |error| String::from(error.message()))
}
