//! Sizes of the elements that are drawn on, as reported by resize observers. Querying a size would force the browser to
//! compute the layout in the middle of a frame, and again after each further change.

use super::dom;
use super::frame::Frame;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{Element, ResizeObserverEntry};

/// Latest known sizes.
#[derive(Default)]
pub(super) struct Sizes {
    /// The timeline with its axes.
    pub(super) stage: Cell<Size>,
    pub(super) minimap: Cell<Size>,
    /// Strip of differences between two files.
    pub(super) difference: Cell<Size>,
}

/// Size in CSS pixels. Zero for hidden elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    width: f64,
    height: f64,
}

impl Size {
    /// Returns the size in device pixels.
    pub(super) fn to_device(self, scale: f64) -> (u32, u32) {
        let to_px = |css: f64| (css.round() * scale).round() as u32;
        (to_px(self.width), to_px(self.height))
    }
}

/// Updates `kept` and requests a frame whenever the size of an element changes.
pub(super) fn watch(element: &Element, kept: &'static Cell<Size>, frame: &Rc<Frame>) -> Result<(), String> {
    let frame = frame.clone();
    dom::observe_sizes(&[element], move |entries| {
        let entry = entries.get(entries.length().saturating_sub(1)).dyn_into::<ResizeObserverEntry>();
        let Ok(content) = entry.map(|entry| entry.content_rect()) else { return };
        let size = Size { width: content.width(), height: content.height() };
        if kept.replace(size) != size {
            frame.request();
        }
    })
}
