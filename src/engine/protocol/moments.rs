//! What is known of single moments, and the steps from one place in the stack to another.

use super::AxisPoint;
use picture::timeline::Axis;
use serde::{Deserialize, Serialize};

/// A moment, as somebody points at it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum At {
    /// By its number: how many events have happened.
    Moment(u32),
    /// The one that holds at this place of an axis, in the axis' units.
    X(Axis, f64),
    /// The one after this event.
    After(NamedEvent),
    /// The first at which the most was reserved.
    MostReserved,
    /// After the last out-of-memory event; unknown where there is none.
    OutOfMemory,
}

/// An event, told by what it does to which address for the how-manieth time, as Mosaic and memory_viz tell it: `alloc:7f89b4000000_0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEvent {
    pub turn: Turn,
    pub address: u64,
    /// How many frees of that address have completed before it in the trace.
    pub version: u32,
}

/// What a [`NamedEvent`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Turn {
    Alloc,
    FreeCompleted,
}

/// Everything about one moment; bytes are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentFacts {
    /// How many events have happened.
    pub moment: u32,
    /// The place that was asked for; where the moment begins, when it was asked for by number.
    pub place: AxisPoint,
    /// Where the moment begins on the time axis, in µs from its start; 0 where the file has no times.
    pub began: u64,
    /// The time of the event that brought it about, µs since 1970; `None` before the first event, and where it is not recorded.
    pub time_us: Option<i64>,
    /// Requested bytes.
    pub requested: u64,
    /// Reserved bytes.
    pub reserved: u64,
    /// Of `requested`, the bytes whose free was requested and has not completed.
    pub pending: u64,
    /// How many allocations are live.
    pub count: u32,
}

/// A step from one place in the stack to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Onto the allocation that stands on this one, at the same moment.
    Above,
    /// Onto the one that it stands on.
    Below,
    /// To the last moment before this one at which another allocation has the same byte.
    Earlier,
    /// To the first moment after this one at which another allocation has the same byte.
    Later,
    /// Onto this allocation, at the same moment. Where it is not live, nothing moves.
    Onto(u32),
}

/// Where a step led.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepped {
    pub moment: u32,
    /// A byte of the stack there.
    pub byte: u64,
    pub stop: Stop,
}

/// Why a step ended where it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    Arrived,
    /// There is nothing further that way; nothing has moved.
    Nowhere,
    /// So many events lie between that the worker would be busy for too long: ask again from here.
    OnItsWay,
}
