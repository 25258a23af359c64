//! What stands around the picture: axes, peak, marks, annotations and the life of the selection, as plain data.
//!
//! ```text
//! State ──▶ Figure ──▶ shapes ──▶ the page's canvas
//!              └─────▶ Sheet (title, legend, notes as well) ──▶ PNG, SVG
//! ```

mod around;
pub mod shapes;
pub mod sheet;
mod tools;
pub mod words;

use super::marks::Around;
use super::overlay::Overlay;
use super::state::State;
use crate::timeline::{Axis, Tick, View, byte_ticks, event_ticks, time_axis_margin, time_ticks};
use crate::units::Bytes;

/// CSS pixels between marks of an axis, at least.
const BYTES_APART: f64 = 44.0;
const EVENTS_APART: f64 = 90.0;

/// What stands around the picture of a window, in its pixels: x from its left, y up from its bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Pixels to a CSS pixel: how large everything is.
    pub scale: f64,
    /// Width and height of the picture.
    pub plot: [f64; 2],
    /// The marks of the bytes axis.
    pub bytes: Vec<Tick>,
    /// What the horizontal axis counts.
    pub axis: Axis,
    /// Its marks.
    pub ticks: Vec<Tick>,
    /// Marks and annotations of the file.
    pub around: Around,
    /// How many lanes the annotations need.
    pub lanes: u32,
    /// The largest total.
    pub peak: Option<Peak>,
    /// From when to when the selection lives.
    pub life: Option<[f64; 2]>,
    /// What lies over the picture; the page draws it on a canvas of its own.
    pub tools: Overlay,
}

/// The largest total.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// Where it begins; NaN where that is not known yet.
    pub x: f64,
    /// Its height.
    pub y: f64,
    /// Its size.
    pub label: String,
}

impl Figure {
    /// The figure of a window that is drawn with `scale` pixels to a CSS pixel.
    pub fn of(state: &State, view: &View, scale: f64) -> Figure {
        let events = state.device().map_or(0, |device| u32::try_from(device.events).unwrap_or(u32::MAX));
        let peak = state.device().filter(|device| device.peak_requested > 0).map(|device| {
            let peak = u64::try_from(device.peak_requested).unwrap_or(0);
            Peak {
                x: state.peak_x().map_or(f64::NAN, |x| view.column_from_x(x + 0.5)),
                y: view.row_from_bytes(peak) as f64,
                label: format!("peak {}", Bytes(peak)),
            }
        });
        let life = state.selection.as_deref().map(|selected| {
            let end = |event: Option<u32>, time_us: Option<i64>, open: f64| {
                event.and_then(|event| state.x_of(event, time_us)).map_or(open, |x| view.column_from_x(x))
            };
            let from = end(selected.born_event, selected.born_us, view.column_from_x(0.0));
            [from, end(selected.freed_event, selected.freed_us, f64::from(view.width_px))]
        });
        let ticks = match (state.axis, state.device().and_then(|device| device.time_us)) {
            (Axis::Time, Some((first, last))) => {
                let span = last.abs_diff(first);
                time_ticks(view, time_axis_margin(span), span, EVENTS_APART * scale)
            }
            _ => event_ticks(view, events, EVENTS_APART * scale),
        };
        Figure {
            scale,
            plot: [view.width_px, view.height_px].map(f64::from),
            bytes: byte_ticks(view, BYTES_APART * scale),
            axis: state.axis,
            ticks,
            around: Around::of(state, view),
            lanes: super::marks::lanes(state),
            peak,
            life,
            tools: Overlay::default(),
        }
    }
}
