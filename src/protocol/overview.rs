//! Data shown around the plot: marks, annotations, the legend and the overview of the whole trace.

use super::{Span, Weight};
use picture::timeline::Axis;
use serde::{Deserialize, Serialize};

/// Position of a moment or time on both horizontal axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AxisPoint {
    /// Position on the event axis. Event `k` is at `k + 1`. Times between two events are interpolated.
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

/// Marks and annotations on the time axis of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    pub out_of_memory: Vec<OutOfMemoryMark>,
    /// Position and event index of each `snapshot` event.
    pub snapshots: Vec<(AxisPoint, u32)>,
    pub ranges: Vec<RangeMark>,
    /// Number of lanes that the annotations need, which is their maximum nesting depth. Phases of steps have a lane
    /// below them.
    pub lanes: u32,
    /// True if `ranges` has phases of steps.
    pub has_phases: bool,
    /// Number of marks that were left out because there are too many. The first ones are included.
    pub left_out: u64,
    /// Position at which the peak starts.
    pub peak: AxisPoint,
    /// Range of the recorded times on the time axis. `None` if the file has no times.
    pub clock: Option<ClockSpan>,
}

/// Range of the recorded times on the time axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSpan {
    /// Time of the first event that has a recorded time, in µs since 1970.
    pub first_us: i64,
    /// Time between the first and the latest event, in µs.
    pub span: u64,
    /// Space on the axis before the first event and after the latest event, in µs.
    pub margin: u64,
}

/// Mark of an out-of-memory event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutOfMemoryMark {
    pub position: AxisPoint,
    pub event: u32,
    /// Bytes requested by the allocation that failed.
    pub requested: u64,
    /// Free device memory in bytes, as reported by the driver. `None` if it was not recorded.
    pub device_free: Option<u64>,
    /// Reserved bytes that are not paused. The sum of `device_free` and these bytes is a lower bound of the device's
    /// memory.
    pub reserved: u64,
}

/// Origin of a [`RangeMark`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RangeSource {
    #[default]
    Annotation,
    /// Phase of a step, from an annotation.
    Phase,
    /// Phase of a step, inferred from call stacks.
    InferredPhase,
}

/// Annotation (`record_function`), which is a named time range, or phase of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeMark {
    pub name: String,
    pub source: RangeSource,
    pub start: AxisPoint,
    /// End of the range, or the end of the trace if the range has no END event.
    pub end: AxisPoint,
    pub has_end: bool,
    /// Index of the lane, counted from the top. Ranges in the same lane do not overlap.
    pub lane: u32,
    /// Span from the moment before the first event in the range to the moment after the last one.
    pub span: Span,
    /// Duration in µs, including time before the trace. If the range has no END event, it ends at the last event of the
    /// trace.
    pub duration_us: u64,
    /// Length in bytes of the longest prefix that the name shares with another name. It ends at a word or number
    /// boundary.
    pub shared_prefix: u32,
}

/// A colour in the legend, and the memory that has this colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegendEntry {
    pub slot: u32,
    pub label: String,
    /// Number of groups that share this colour. Only the last entry may have several: all groups that have no colour of
    /// their own.
    pub groups: u32,
    /// Requested bytes with this colour at the device's peak.
    pub peak_requested: u64,
    /// Number of allocations with this colour at the device's peak.
    pub peak_count: u64,
    /// Live memory with this colour at the cursor. Zero if there is no cursor.
    pub at: Weight,
}

/// Memory curves over the whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    pub axis: Axis,
    /// Maximum live requested bytes per column. All columns have the same width.
    pub total: Vec<u64>,
    /// Maximum reserved bytes per column.
    pub reserved: Vec<u64>,
}
