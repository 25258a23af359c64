//! Decorations of the picture as plain data: axes, peak, marks, annotations and the lifetime of the selected
//! allocation.
//!
//! ```text
//! Shared ──▶ Figure ──▶ shapes ──▶ the page's canvas
//!              └─────▶ Sheet (title, legend, notes as well) ──▶ PNG, SVG
//! ```

mod curves;
mod decorations;
pub mod sheet;
mod sizes;
mod tools;
pub mod words;

use crate::plot::lane_labels::lane_ticks;
use crate::plot::marks::WindowMarks;
use crate::plot::overlay::Overlay;
use crate::plot::plots::axis::{Gap, axis_title};
use crate::plot::{navigate, plots};
use crate::state::drawing::Canvas;
use crate::state::line::Curve;
use crate::state::shared::Shared;
use base::units::Bytes;
use picture::shapes::Band;
use picture::timeline::{Axis, Tick, View, event_ticks, time_ticks};
use protocol::Plot;

/// Minimum distance between ticks of the byte axis, in CSS pixels.
const MIN_BYTES_TICK_PX: f64 = 44.0;
const MIN_EVENTS_TICK_PX: f64 = 90.0;
/// Label of paused memory.
pub const PAUSED: &str = "paused, not on the device";

/// The decorations around the picture of a window. Coordinates are in the picture's pixels: x from the left, y up from
/// the bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Device pixels per CSS pixel.
    pub scale: f64,
    pub plot_px: [f64; 2],
    /// Height of the row of labels above the picture, in pixels. 0 in exported pictures.
    pub label_row_px: f64,
    /// Width of the axis to the right of the picture, in pixels. 0 if there is no such axis.
    pub right_axis_px: f64,
    /// Lower and upper edge of the device's timeline, in pixels from the bottom. If several devices are shown, the
    /// focused one's.
    pub lane: [f64; 2],
    pub title: &'static str,
    pub byte_ticks: Vec<Tick>,
    pub gaps: Vec<Gap>,
    pub curves: Vec<Curve>,
    /// The paused part of the reserved memory.
    pub paused: Vec<Band>,
    /// Unit of the horizontal axis.
    pub axis: Axis,
    pub ticks: Vec<Tick>,
    pub marks: WindowMarks,
    /// Number of annotation tracks below the picture.
    pub annotation_lanes: u32,
    pub peak: Option<Peak>,
    /// Start and end of the selected allocation's lifetime, in pixels from the left edge.
    pub lifetime: Option<[f64; 2]>,
    /// Tools such as the crosshair and the ruler. The page draws them on a separate canvas.
    pub tools: Overlay,
}

/// Peak of the plotted bytes, with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// Horizontal position where the peak begins. NaN while it is unknown.
    pub x: f64,
    pub y: f64,
    pub label: String,
}

/// Returns the peak of the plotted bytes. `None` in the plot of addresses, which has no peak.
fn peak(state: &Shared, view: &View) -> Option<Peak> {
    let device = state.drawn_device()?;
    let (peak, x) = match state.plot_settings.plot {
        Plot::Stack => {
            (u64::try_from(device.peak_requested).ok()?, navigate::peak_x(state).map(|x| view.column_from_x(x + 0.5)))
        }
        Plot::Addresses(_) => return None,
        Plot::Reserved(_) => {
            let (peak, scene) = (state.plot_height(device)?, state.scene()?);
            let column = scene.columns.total.iter().position(|total| *total == peak);
            let edge = column.and_then(|column| scene.columns.edge_px.get(column));
            (peak, edge.map(|edge| view.column_from_x(scene.view.x_from_column(f64::from(*edge) + 0.5))))
        }
    };
    let label = format!("peak {}", Bytes(peak));
    Some(Peak { x: x.unwrap_or(f64::NAN), y: view.row_from_bytes(peak) as f64, label }).filter(|_| peak > 0)
}

impl Figure {
    /// Returns the decorations of the page's canvas. If several devices are shown, `view` is the focused device's
    /// window, and the byte axes of all devices are included.
    pub fn on_canvas(state: &Shared, view: &View, canvas: Canvas) -> Figure {
        let mut figure = Figure::for_window(state, view, canvas.scale);
        let bottom = state.focused_lane().map_or(0.0, |lane| f64::from(lane.bottom_px));
        figure.plot_px[1] = f64::from(canvas.height_px);
        figure.label_row_px = (super::marks::label_row_px(state) * canvas.scale).round();
        figure.lane = figure.lane.map(|edge| edge + bottom);
        figure.gaps = state
            .shown_lanes()
            .flat_map(|lane| {
                let bottom = f64::from(lane.bottom_px);
                let inside = move |y: f64| y.clamp(0.0, f64::from(lane.view.height_px)) + bottom;
                plots::axis::gaps(state, lane.index, lane.view)
                    .into_iter()
                    .map(move |gap| Gap { y: gap.y.map(inside), ..gap })
            })
            .collect();
        for curve in &mut figure.curves {
            let mark = curve.label.iter_mut().map(|mark| &mut mark.at);
            curve.points.iter_mut().chain(mark).for_each(|[_, y]| *y += bottom);
        }
        figure.paused.iter_mut().for_each(|band| band.y = band.y.map(|y| y + bottom));
        figure.byte_ticks = lane_ticks(state, MIN_BYTES_TICK_PX * canvas.scale, sizes::FONT_SIZE * canvas.scale);
        if let Some(peak) = &mut figure.peak {
            peak.y += bottom;
            if state.has_lanes() {
                // The label of the lane already contains the peak.
                peak.label = String::new();
            }
        }
        figure
    }

    /// Returns the decorations of a single window. `scale` is the number of device pixels per CSS pixel.
    pub fn for_window(state: &Shared, view: &View, scale: f64) -> Figure {
        let peak = peak(state, view);
        let lifetime = state.selection.as_deref().map(|selected| {
            let end = |event: Option<u32>, time_us: Option<i64>, open: f64| {
                event.and_then(|event| state.x_of(event, time_us)).map_or(open, |x| view.column_from_x(x))
            };
            let from = end(selected.allocated_event, selected.allocated_us, view.column_from_x(0.0));
            [from, end(selected.freed_event, selected.freed_us, f64::from(view.width_px))]
        });
        let shared_axis = state.shared_axis();
        let ticks = match state.device() {
            Some(device) if state.axis == Axis::Time => {
                time_ticks(view, shared_axis.zero_on(device), shared_axis.recorded_length(), MIN_EVENTS_TICK_PX * scale)
            }
            _ => event_ticks(
                view,
                u32::try_from(shared_axis.recorded_length()).unwrap_or(u32::MAX),
                MIN_EVENTS_TICK_PX * scale,
            ),
        };
        Figure {
            scale,
            plot_px: [view.width_px, view.height_px].map(f64::from),
            label_row_px: 0.0,
            right_axis_px: (plots::axis::right_axis_px(state) * scale).round(),
            lane: [0.0, f64::from(view.height_px)],
            title: axis_title(state.plot_settings.plot),
            byte_ticks: plots::axis::height_ticks(state, state.device_index, view, MIN_BYTES_TICK_PX * scale),
            gaps: plots::axis::gaps(state, state.device_index, view),
            curves: plots::curves::curve_lines(state, view),
            paused: plots::curves::paused_bands(state, view),
            axis: state.axis,
            ticks,
            marks: WindowMarks::in_window(state, view, scale),
            annotation_lanes: super::marks::track_count(state),
            peak,
            lifetime,
            tools: Overlay::default(),
        }
    }
}
