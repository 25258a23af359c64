//! State of what is drawn and hovered: the canvas, the scene with its pending request, and the hover.

use super::hover::Spot;
use engine::protocol::{HitAllocation, HitMemory, Looks, Plot};
use picture::timeline::Scene;
use std::rc::Rc;

/// Size of the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Device pixels, at least 1.
    pub width_px: u32,
    /// Device pixels, at least 1.
    pub height_px: u32,
    /// Device pixels per CSS pixel, positive.
    pub scale: f64,
}

/// Scaling of the bytes axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BytesAxis {
    /// The user sets it.
    #[default]
    Free,
    /// It always spans 0 to the highest total in the window.
    FitsWindow,
}

/// The scene of a device and its pending request.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    pub scene: Option<Rc<Scene>>,
    /// Serial of the pending request. All lanes together have one at a time, for the newest window. A slow scene is
    /// therefore shown instead of being superseded again and again.
    pub in_flight: Option<u32>,
    /// True if the grouping of the scene is outdated.
    pub is_stale: bool,
    /// Order and colours of `scene`. The requested ones may differ until the next scene arrives.
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
    pub answered_spot: Option<Spot>,
}

/// A question to the worker about a position. One is pending at a time, and the next is about the newest position.
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
    /// A link selects the segment at the position.
    SelectSegment,
}
