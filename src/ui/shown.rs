//! What is drawn and pointed at: the canvas, the picture with what is on its way, what is under the pointer.

use super::hover::Spot;
use engine::protocol::{HitAllocation, HitMemory, Looks, Plot};
use picture::timeline::Scene;
use std::rc::Rc;

/// The canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Device pixels; at least 1.
    pub width_px: u32,
    /// Device pixels; at least 1.
    pub height_px: u32,
    /// Device pixels to a CSS pixel; positive.
    pub scale: f64,
}

/// Whether the bytes axis follows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BytesAxis {
    /// It stays as the user put it.
    #[default]
    Free,
    /// It always shows 0 to the highest total in the window.
    FitsWindow,
}

/// The picture and what is on its way.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    pub scene: Option<Rc<Scene>>,
    /// The request that was not answered yet. There is one at a time among all lanes, always for the newest window: a slow scene
    /// is then finished and shown instead of being overtaken for ever.
    pub in_flight: Option<u32>,
    /// Whether the scene is of groups that are told otherwise by now.
    pub is_stale: bool,
    /// Order and colours of that scene; until the next one comes, what is seen is of these.
    pub looks: Looks,
}

/// What is under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    /// The device, by its place in the summary's list.
    pub place: usize,
    /// What the scene says at once.
    pub spot: Spot,
    pub plot: Plot,
    /// What the worker said last, as long as it may still hold here.
    pub hit: Option<HitAllocation>,
    /// What it said last of the segment and of what is free.
    pub memory: Option<Box<HitMemory>>,
    pub answered: Option<Spot>,
}

/// What the worker was asked about a place. There is one question at a time, and the next is about the newest place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointQuestion {
    pub serial: u32,
    /// The device, by its place in the summary's list.
    pub device_place: usize,
    pub spot: Spot,
    pub purpose: Purpose,
}

/// Why the worker was asked about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Tell,
    Select,
    /// A link has the segment there chosen.
    Choose,
}
