//! State of the drawing: the canvas, the scene and the pending request for a scene, and the hovered position.

use crate::state::hover::Spot;
use picture::timeline::Scene;
use protocol::{HitAllocation, HitMemory, Plot, PlotSettings};
use std::rc::Rc;

/// Size of the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Width in device pixels, at least 1.
    pub width_px: u32,
    /// Height in device pixels, at least 1.
    pub height_px: u32,
    /// Device pixels per CSS pixel. Greater than 0.
    pub scale: f64,
}

/// Scaling mode of the byte axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BytesAxis {
    /// The user zooms and pans the axis.
    #[default]
    Free,
    /// The axis always goes from 0 to the highest total that is visible.
    FitsWindow,
}

/// The scene of a device, and the pending request for its next scene.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    pub scene: Option<Rc<Scene>>,
    /// Serial of the pending request, if any. Only one scene is requested at a time, over all lanes, so that even slow
    /// scenes are shown before the next request, which is for the newest window.
    pub in_flight: Option<u32>,
    /// True if the scene was drawn with an outdated grouping.
    pub is_stale: bool,
    /// Display settings (plot, stacking order, colours, highlight) that `scene` was drawn with. They may differ from
    /// the chosen settings until the next scene arrives.
    pub plot_settings: PlotSettings,
}

/// The position under the pointer or the crosshair, and the objects there.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    /// Index of the device in the summary.
    pub device_index: usize,
    /// The scene's data at the position: the drawn block or band, and the moment.
    pub spot: Spot,
    pub plot: Plot,
    /// The worker's latest response about the allocation at the position. Kept while it may still be valid.
    pub hit: Option<HitAllocation>,
    /// The worker's latest response about the segment at the position and its free blocks.
    pub memory: Option<Box<HitMemory>>,
    /// Position that `hit` and `memory` describe.
    pub answered_spot: Option<Spot>,
}

/// A request to the worker for the object at a position. At most one is pending. The next request is for the newest
/// position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointQuestion {
    pub serial: u32,
    /// Index of the device in the summary.
    pub device_index: usize,
    pub spot: Spot,
    pub purpose: Purpose,
}

/// Purpose of a request for the object at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Hover,
    Select,
    /// Select the segment at the position. Used to restore the selection of a link.
    SelectSegment,
}
