//! Data shown around the stack: marks, annotations, the legend and the overview of the whole trace.

use super::{Span, Weight};
use picture::timeline::Axis;
use serde::{Deserialize, Serialize};

/// Position on both horizontal axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AxisPoint {
    /// Position on the event axis. Event `k` is at `k + 1`. Between two events, it is interpolated by time.
    pub events: f64,
    /// Position on the time axis, in µs from its start. 0 if the file has no times.
    pub time: u64,
}

impl AxisPoint {
    /// Returns the position on the given axis.
    pub fn get(&self, axis: Axis) -> f64 {
        match axis {
            Axis::Events => self.events,
            Axis::Time => self.time as f64,
        }
    }
}

/// Marks and annotations of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    pub out_of_memory: Vec<OutOfMemoryMark>,
    /// Positions and event indices of the snapshots that were taken.
    pub snapshots: Vec<(AxisPoint, u32)>,
    pub ranges: Vec<RangeMark>,
    /// Maximum nesting depth of the ranges.
    pub lanes: u32,
    /// Number of marks left out. The first ones are kept.
    pub left_out: u64,
    /// Position of the start of the peak.
    pub peak: AxisPoint,
    /// Recorded times on the time axis, if there are any.
    pub clock: Option<ClockSpan>,
}

/// Position of the recorded times on the time axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSpan {
    /// Time of the first event with a time, in µs since 1970.
    pub first_us: i64,
    /// Time from the first to the latest event, in µs.
    pub span: u64,
    /// Space on the axis before the first and after the latest event, in µs.
    pub margin: u64,
}

/// Mark of an out-of-memory event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutOfMemoryMark {
    pub position: AxisPoint,
    pub event: u32,
    /// Bytes that the program requested.
    pub requested: u64,
    /// Free device memory in bytes, as reported by the driver.
    pub device_free: u64,
    /// Reserved bytes. Together with `device_free`, a lower bound of the device's memory.
    pub reserved: u64,
}

/// Annotation (`record_function`): a named time range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeMark {
    pub name: String,
    pub start: AxisPoint,
    /// End of the range, or the end of the trace if the range has no END event.
    pub end: AxisPoint,
    pub has_end: bool,
    /// Lane number from the top. Ranges in the same lane do not overlap.
    pub lane: u32,
    /// Span from the moment before the first event of the range to the moment after its last one.
    pub span: Span,
    /// Duration in µs, up to the last event of the trace if the range has no END event. Includes time before the trace.
    pub duration_us: u64,
    /// Length in bytes of the prefix that the name shares with another name, up to a whole word or number.
    pub shared_prefix: u32,
}

/// Legend entry for a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegendEntry {
    pub slot: u32,
    pub label: String,
    /// Number of groups with this colour. More than 1 only for the last entry, which has all groups without a slot of
    /// their own.
    pub groups: u32,
    /// Requested bytes at the device's peak.
    pub peak_requested: u64,
    /// Number of allocations at the device's peak.
    pub peak_count: u64,
    /// Weight at the cursor. Zero if there is no cursor.
    pub at: Weight,
}

/// Curves of the whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    pub axis: Axis,
    /// Maximum live requested bytes per column. All columns have the same width.
    pub total: Vec<u64>,
    /// Maximum reserved bytes per column.
    pub reserved: Vec<u64>,
}
