//! State of what is drawn and hovered: the canvas, the scene with its pending request, and the hover.

use super::hover::Spot;
use engine::protocol::{HitAllocation, HitMemory, Looks, Plot};
use picture::timeline::Scene;
use std::rc::Rc;

/// Size of the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// In device pixels, at least 1.
    pub width_px: u32,
    /// In device pixels, at least 1.
    pub height_px: u32,
    /// Device pixels per CSS pixel, positive.
    pub scale: f64,
}

/// Scaling of the byte axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BytesAxis {
    /// The user zooms and pans the axis.
    #[default]
    Free,
    /// The axis always spans 0 to the highest total in the window.
    FitsWindow,
}

/// The scene of a device, and the pending request for the next one.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    pub scene: Option<Rc<Scene>>,
    /// Serial of the pending request. All lanes together have at most one, for the newest window. So even a slow scene
    /// is shown before the next one is requested.
    pub in_flight: Option<u32>,
    /// True if the grouping of the scene is outdated.
    pub is_stale: bool,
    /// Stacking order and colours of `scene`. The requested ones may differ until the next scene arrives.
    pub looks: Looks,
}

/// The hovered position.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    /// Index of the device in the summary.
    pub device_index: usize,
    /// Data of the scene at the position.
    pub spot: Spot,
    pub plot: Plot,
    /// The worker's last answer about the allocation, kept while it may still apply.
    pub hit: Option<HitAllocation>,
    /// The worker's last answer about the segment and its free blocks.
    pub memory: Option<Box<HitMemory>>,
    /// Spot that `hit` and `memory` answer.
    pub answered_spot: Option<Spot>,
}

/// A question to the worker about a position. At most one is pending at a time. The next one is about the newest
/// position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointQuestion {
    pub serial: u32,
    /// Index of the device in the summary.
    pub device_index: usize,
    pub spot: Spot,
    pub purpose: Purpose,
}

/// Reason for a question about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Hover,
    Select,
    /// To select the segment at the position, as a link requires.
    SelectSegment,
}
