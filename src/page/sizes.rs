//! Sizes of elements that are drawn on, as the browser tells them once it has laid out the page. Asking for them would have it lay out
//! everything at once, in the middle of a frame, and again for what is changed behind that.

use super::dom;
use super::frame::Frame;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{Element, ResizeObserverEntry};

/// What is known of them.
#[derive(Default)]
pub(super) struct Sizes {
    /// The timeline with its axes.
    pub(super) stage: Cell<Size>,
    pub(super) minimap: Cell<Size>,
    /// The strip of what differs between two files.
    pub(super) difference: Cell<Size>,
}

/// A size in CSS pixels; nothing for what is hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    width: f64,
    height: f64,
}

impl Size {
    /// The same in device pixels.
    pub(super) fn on_device(self, scale: f64) -> (u32, u32) {
        let side = |css: f64| (css.round() * scale).round() as u32;
        (side(self.width), side(self.height))
    }
}

/// Keeps an element's size, and has the page shown again when it changes.
pub(super) fn watch(element: &Element, kept: &'static Cell<Size>, frame: &Rc<Frame>) -> Result<(), String> {
    let frame = frame.clone();
    dom::observe(&[element], move |entries| {
        let entry = entries.get(entries.length().saturating_sub(1)).dyn_into::<ResizeObserverEntry>();
        let Ok(content) = entry.map(|entry| entry.content_rect()) else { return };
        let size = Size { width: content.width(), height: content.height() };
        if kept.replace(size) != size {
            frame.request();
        }
    })
}
