//! The curves of the Reserved plot.

use engine::protocol::{Curves, MemoryFilter};
use picture::shapes::Tint;
use picture::timeline::{Axis, View};

/// A device ordinal and a part of the device's memory.
pub(crate) type MemoryPart = (i64, MemoryFilter);

/// Key of a set of totals over columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CurvesKey {
    /// Ordinal of the device.
    pub(crate) device: i64,
    pub(crate) view: View,
    pub(crate) only: MemoryFilter,
}

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// Bytes taken from the driver.
    Reserved,
    Rounded,
    Requested,
    /// Requested bytes of allocations whose free was not requested yet.
    InUse,
    AwaitingFree,
    /// Share of reserved bytes that is free, on the axis to the right.
    Free,
    /// Live bytes without the selection, or under a plan.
    Planned,
}

impl Line {
    /// Curves of the Reserved plot, in the order of the key.
    pub const ALL: [Line; 6] =
        [Line::Reserved, Line::Rounded, Line::Requested, Line::InUse, Line::AwaitingFree, Line::Free];

    /// Returns the name with the kind of bytes.
    pub fn label(self) -> &'static str {
        match self {
            Line::Reserved => "reserved",
            Line::Rounded => "allocated (rounded) ≥",
            Line::Requested => "live, requested",
            Line::InUse => "in use, requested",
            Line::AwaitingFree => "awaiting free, requested",
            Line::Free => "free share ≤",
            Line::Planned => "as planned, requested",
        }
    }

    pub fn tint(self) -> Tint {
        match self {
            Line::Reserved | Line::Planned => Tint::Strong,
            Line::Rounded | Line::Requested => Tint::Accent,
            Line::InUse | Line::AwaitingFree => Tint::Allocated,
            Line::Free => Tint::Peak,
        }
    }

    /// Returns lengths of dashes and gaps in CSS pixels. Empty for a solid line.
    pub fn dash(self) -> &'static [f64] {
        match self {
            Line::Reserved | Line::Requested => &[],
            Line::Rounded => &[7.0, 3.0],
            Line::InUse => &[10.0, 2.0, 2.0, 2.0],
            Line::AwaitingFree => &[2.0, 3.0],
            Line::Free => &[4.0, 3.0],
            Line::Planned => &[6.0, 2.0],
        }
    }

    pub(crate) fn values(self, curves: &Curves) -> &[u64] {
        match self {
            Line::Reserved => &curves.reserved,
            Line::Rounded => &curves.rounded,
            Line::Requested => &curves.requested,
            Line::InUse => &curves.allocated,
            Line::AwaitingFree => &curves.awaiting_free,
            Line::Free => &curves.free,
            Line::Planned => &[],
        }
    }
}

/// Totals to request from the worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CurvesRequest {
    Window(CurvesKey),
    WholeAxis(MemoryPart, Axis, View),
}

impl CurvesRequest {
    pub(crate) fn question(self) -> (i64, View, MemoryFilter) {
        match self {
            CurvesRequest::Window(CurvesKey { device, view, only }) => (device, view, only),
            CurvesRequest::WholeAxis((device, only), _, view) => (device, view, only),
        }
    }
}

/// A curve in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub line: Line,
    /// Corners from left to right, in pixels from the left and the bottom.
    pub points: Vec<[f64; 2]>,
    pub label: Option<CurveLabel>,
}

/// A label at a point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveLabel {
    /// Position in pixels from the left and the bottom.
    pub at: [f64; 2],
    pub text: String,
}

/// An entry of the key below the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveKeyEntry {
    pub line: Line,
    pub is_visible: bool,
}
