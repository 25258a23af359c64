//! Facts about single moments, and keyboard steps in the stack.

use super::AxisPoint;
use picture::timeline::Axis;
use serde::{Deserialize, Serialize};

/// Ways to specify a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MomentSpec {
    /// Moment after this number of events.
    Moment(u32),
    /// Moment at a position on an axis, in the units of the axis.
    X(Axis, f64),
    /// Moment after this event.
    After(NamedEvent),
    /// First moment with the maximum of reserved bytes.
    PeakReserved,
    /// Moment after the last out-of-memory event, if there is one.
    OutOfMemory,
}

/// An event as named by Mosaic and memory_viz: action, address, and occurrence, such as `alloc:7f89b4000000_0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEvent {
    pub action: NamedAction,
    pub address: u64,
    /// Number of completed frees of this address earlier in the trace.
    pub version: u32,
}

/// Action of a [`NamedEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NamedAction {
    Alloc,
    FreeCompleted,
}

/// Facts about one moment. Bytes are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentFacts {
    /// Number of events that have happened.
    pub moment: u32,
    /// Requested position, or the start of the moment if it was specified by number.
    pub position: AxisPoint,
    /// Start of the moment on the time axis, in µs. 0 if the file has no times.
    pub start: u64,
    /// Time of the event before the moment, in µs since 1970. `None` before the first event or if not recorded.
    pub time_us: Option<i64>,
    /// Live requested bytes.
    pub requested: u64,
    pub reserved: u64,
    /// Bytes of `requested` that are awaiting free.
    pub awaiting_free: u64,
    /// Number of live allocations.
    pub count: u32,
}

/// A keyboard step from a position in the stack.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// To the allocation above, at the same moment.
    Above,
    /// To the allocation below, at the same moment.
    Below,
    /// To the last earlier moment at which another allocation covers the byte.
    Earlier,
    /// To the first later moment at which another allocation covers the byte.
    Later,
    /// To this allocation, at the same moment. Does nothing if it is not live.
    To(u32),
}

/// Destination of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    pub moment: u32,
    /// Byte of the stack at the destination.
    pub byte: u64,
    pub outcome: StepOutcome,
}

/// Reason why a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    Arrived,
    /// There is nothing in this direction. The position is unchanged.
    NotFound,
    /// The step covers too many events for one call. Call again from here.
    Unfinished,
}
