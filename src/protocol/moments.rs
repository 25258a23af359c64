//! Facts about single moments, and keyboard steps in a plot.

use super::AxisPoint;
use picture::timeline::Axis;
use serde::{Deserialize, Serialize};

/// Specification of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MomentSpec {
    /// Moment after this number of events.
    Moment(u32),
    /// Moment at a position on an axis, in units of this axis.
    X(Axis, f64),
    /// Moment after this event.
    After(NamedEvent),
    /// First moment at which reserved bytes reach their maximum.
    PeakReserved,
    /// Moment after the last out-of-memory event, if there is one.
    OutOfMemory,
}

/// An event in the notation of Mosaic and memory_viz: action, address and version, such as `alloc:7f89b4000000_0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEvent {
    pub action: NamedAction,
    pub address: u64,
    /// Number of frees of this address that completed earlier in the trace.
    pub version: u32,
}

/// Action of a [`NamedEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NamedAction {
    Alloc,
    FreeCompleted,
}

/// Facts about one moment. All byte counts are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentFacts {
    /// Number of events before the moment.
    pub moment: u32,
    /// Requested position. If the moment was requested by number, the position of its start.
    pub position: AxisPoint,
    /// Start of the moment on the time axis, in µs. 0 if the file has no times.
    pub start: u64,
    /// Time of the event before the moment, in µs since 1970. `None` if there is no such event or its time is not
    /// recorded.
    pub time_us: Option<i64>,
    /// Live requested bytes.
    pub requested: u64,
    pub reserved: u64,
    /// Bytes of `requested` that are awaiting free.
    pub awaiting_free: u64,
    /// Number of live allocations.
    pub count: u32,
}

/// A keyboard step from a position in the plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Moves to the allocation above, at the same moment.
    Above,
    /// Moves to the allocation below, at the same moment.
    Below,
    /// Moves back to the nearest moment at which a different allocation is at the same height of the plot.
    Earlier,
    /// Moves forward to the nearest moment at which a different allocation is at the same height of the plot.
    Later,
    /// Moves to this allocation, at the same moment. Does nothing if the allocation is not live then.
    To(u32),
}

/// Position after a keyboard step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    pub moment: u32,
    /// Height in the plot at the destination, in bytes.
    pub byte: u64,
    pub outcome: StepOutcome,
}

/// Reason why a keyboard step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    Arrived,
    /// Nothing was found in this direction. The position is unchanged.
    NotFound,
    /// Too many events were examined for one call. The step can be continued from the returned position.
    Unfinished,
}
