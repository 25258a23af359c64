//! What stands around the stack: marks, annotations, the legend, the silhouette of a whole device.

use super::{Span, Weight};
use picture::timeline::Axis;
use serde::{Deserialize, Serialize};

/// A place on both horizontal axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AxisPoint {
    /// On the event axis: event `k` stands at `k + 1`; between two events in proportion to the time.
    pub events: f64,
    /// On the time axis, in µs from its start; 0 where the file has no times.
    pub time: u64,
}

impl AxisPoint {
    /// On this axis.
    pub fn on(&self, axis: Axis) -> f64 {
        match axis {
            Axis::Events => self.events,
            Axis::Time => self.time as f64,
        }
    }
}

/// The events and ranges of a device that deserve a mark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// Where memory ran out.
    pub out_of_memory: Vec<OutOfMemoryMark>,
    /// Where a snapshot was taken: places and event indices.
    pub snapshots: Vec<(AxisPoint, u32)>,
    pub ranges: Vec<RangeMark>,
    /// How deep they are nested at most.
    pub lanes: u32,
    /// How many marks there are besides those above, which are the first.
    pub left_out: u64,
    /// Where the peak begins.
    pub peak: AxisPoint,
    /// First and latest time, µs since 1970, and what the time axis has on either side of them, in µs.
    pub clock: Option<ClockSpan>,
}

/// Where the recorded times lie on the time axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSpan {
    /// µs since 1970 of the first event with a time.
    pub first_us: i64,
    /// From there to the latest, in µs.
    pub span: u64,
    /// Before the first and after the latest, in µs.
    pub margin: u64,
}

/// Where memory ran out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutOfMemoryMark {
    /// Where.
    pub place: AxisPoint,
    pub event: u32,
    /// Bytes that were asked for.
    pub requested: u64,
    /// Bytes the driver had free.
    pub device_free: u64,
    /// Bytes that were reserved: those and the free ones are what the device has at least.
    pub reserved: u64,
}

/// An annotation (`record_function`): a named range of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeMark {
    pub name: String,
    /// Where it starts.
    pub start: AxisPoint,
    /// Where it ends: at the end of the trace when the file has no END.
    pub end: AxisPoint,
    pub ended: bool,
    /// Its lane, from the top; ranges of one lane do not overlap.
    pub lane: u32,
    /// From the state before its first event to the one after its last.
    pub span: Span,
    /// µs from its start to its end, or to the last event; also where it begins before the trace.
    pub micros: u64,
    /// Bytes of the name that another name begins with as well, up to the last whole word or number.
    pub shared: u32,
}

/// One meaning of a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegendEntry {
    pub slot: u32,
    pub label: String,
    /// How many groups share it: more than 1 for the last, which has all that got no slot of their own.
    pub groups: u32,
    /// Requested bytes of it at the device's peak.
    pub peak_requested: u64,
    /// How many allocations that is.
    pub peak_count: u64,
    /// Requested bytes and count of it at the cursor; nothing without one.
    pub at: Weight,
}

/// The silhouette of a whole device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    pub axis: Axis,
    /// The highest total in each column, in requested bytes; columns are equally wide.
    pub total: Vec<u64>,
    /// The most reserved bytes in each column.
    pub reserved: Vec<u64>,
}
