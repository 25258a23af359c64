//! The curves of the Reserved plot.

use picture::shapes::Tint;
use picture::timeline::{Axis, View};
use protocol::{Curves, MemoryFilter, Question, SAMPLED_PEAKS};

base::listed! {
    /// Curve drawn over the recorded timeline.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum DrawnCurve {
        #[default]
        None = "",
        /// Live bytes without the selected allocations.
        Without = "without",
        /// Live bytes under the plan from the planner.
        Plan = "plan",
        /// Reserved and allocated bytes of a simulated run. Links do not contain it.
        Simulated = "",
    }
}

/// A part of a device's memory: the ordinal of the device, and the filter.
pub(crate) type MemoryPart = (i64, MemoryFilter);

/// Inputs that determine the values of the curves in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CurvesKey {
    /// Ordinal of the device.
    pub(crate) device: i64,
    pub(crate) view: View,
    pub(crate) only: MemoryFilter,
    pub(crate) with_stranded: bool,
}

/// Quantity that a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// Bytes taken from the driver.
    Reserved,
    Rounded,
    Requested,
    /// Requested bytes of allocations whose free has not been requested.
    NotAwaitingFree,
    AwaitingFree,
    /// Share of reserved bytes that is free, on the axis to the right.
    Free,
    /// Free bytes that a later driver request found free, and could not use.
    Stranded,
    /// Device memory outside the allocator, from the recorder's samples.
    Outside,
    /// Resident memory of the process, from the samples.
    Resident,
    /// Pinned memory of the process, from the samples.
    Pinned,
    /// Hypothetical live bytes: without the selection, or under a plan.
    Planned,
}

impl Line {
    /// Curves of the Reserved plot, in the order of their legend.
    pub const ALL: [Line; 10] = [
        Line::Reserved,
        Line::Rounded,
        Line::Requested,
        Line::NotAwaitingFree,
        Line::AwaitingFree,
        Line::Free,
        Line::Stranded,
        Line::Outside,
        Line::Resident,
        Line::Pinned,
    ];
    /// Curves that are hidden until the user shows them. Stranded bytes need a pass over the trace, and memory of the
    /// host is not on the GPU.
    pub(crate) const HIDDEN_BY_DEFAULT: [Line; 3] = [Line::Stranded, Line::Resident, Line::Pinned];

    /// Returns whether only the recorder's samples have this quantity.
    pub fn is_sampled(self) -> bool {
        self.peak_key().is_some()
    }

    /// Returns the recorder's key for the maximum of a sampled quantity. `None` for other quantities.
    pub(crate) fn peak_key(self) -> Option<&'static str> {
        let [outside, resident, pinned] = SAMPLED_PEAKS;
        match self {
            Line::Outside => Some(outside),
            Line::Resident => Some(resident),
            Line::Pinned => Some(pinned),
            _ => None,
        }
    }

    /// Returns the name of the curve, including the kind of bytes.
    pub fn label(self) -> &'static str {
        match self {
            Line::Reserved => "reserved",
            Line::Rounded => "allocated (rounded) ≥",
            Line::Requested => "live, requested",
            Line::NotAwaitingFree => "live, not awaiting free, requested",
            Line::AwaitingFree => "awaiting free, requested",
            Line::Free => "free share ≤",
            Line::Stranded => "stranded",
            Line::Outside => "outside the allocator",
            Line::Resident => "resident (host)",
            Line::Pinned => "pinned (host)",
            Line::Planned => "as planned, requested",
        }
    }

    pub fn tint(self) -> Tint {
        match self {
            Line::Reserved | Line::Planned => Tint::Strong,
            Line::Rounded | Line::Requested => Tint::Accent,
            Line::NotAwaitingFree | Line::AwaitingFree => Tint::Allocated,
            Line::Free | Line::Stranded => Tint::Peak,
            Line::Outside | Line::Resident | Line::Pinned => Tint::Muted,
        }
    }

    /// Returns the alternating lengths of dashes and gaps, in CSS pixels. Empty for a solid line.
    pub fn dash(self) -> &'static [f64] {
        match self {
            Line::Reserved | Line::Requested | Line::Stranded | Line::Outside => &[],
            Line::Resident => &[8.0, 4.0],
            Line::Pinned => &[2.0, 2.0],
            Line::Rounded => &[7.0, 3.0],
            Line::NotAwaitingFree => &[10.0, 2.0, 2.0, 2.0],
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
            Line::NotAwaitingFree => &curves.allocated,
            Line::AwaitingFree => &curves.awaiting_free,
            Line::Free => &curves.free,
            Line::Stranded => &curves.stranded,
            Line::Outside => &curves.outside,
            Line::Resident => &curves.resident,
            Line::Pinned => &curves.pinned,
            Line::Planned => &[],
        }
    }
}

/// A request to the worker for curve values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CurvesRequest {
    Window(CurvesKey),
    WholeAxis(MemoryPart, Axis, View),
}

impl CurvesRequest {
    /// Returns the device, and the query for the worker.
    pub(crate) fn query(self) -> (i64, Question) {
        match self {
            CurvesRequest::Window(CurvesKey { device, view, only, with_stranded }) => {
                (device, Question::Curves { view, only, with_stranded })
            }
            CurvesRequest::WholeAxis((device, only), _, view) => {
                (device, Question::Curves { view, only, with_stranded: false })
            }
        }
    }
}

/// A curve, as points in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub line: Line,
    /// Corners from left to right, in pixels from the window's left and bottom edges.
    pub points: Vec<[f64; 2]>,
    pub label: Option<CurveLabel>,
}

/// A label at a point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveLabel {
    /// Position in pixels from the window's left and bottom edges.
    pub at: [f64; 2],
    pub text: String,
}

/// A legend entry of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveKeyEntry {
    pub line: Line,
    pub is_visible: bool,
    /// False if the file has no samples of the quantity.
    pub is_listed: bool,
}

/// Returns the points of a step curve in pixels of the second view. `edge_px` are column edges in pixels of the first
/// view. `row` returns the height of a column, given by its index.
pub(crate) fn steps(
    edge_px: &[i32],
    [edge_view, view]: [&View; 2],
    row: &dyn Fn(usize) -> Option<f64>,
) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (column, edges) in edge_px.windows(2).enumerate() {
        let (&[left, right], Some(y)) = (edges, row(column)) else { break };
        let [left, right] = [left, right].map(|edge| view.column_from_x(edge_view.x_from_column(f64::from(edge))));
        if right < 0.0 || left > f64::from(view.width_px) {
            continue;
        }
        // Adjacent columns of equal height share a segment.
        match points.as_mut_slice() {
            [.., last] if last[1] == y => last[0] = right,
            _ => points.extend([[left, y], [right, y]]),
        }
    }
    points
}
