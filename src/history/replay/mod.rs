//! Replay of events into histories: allocations with lifetimes, totals, peaks, the state before the trace.
//!
//! A [`Recorder`] receives the events of each trace while the file is decoded. When the segments are known too, a
//! [`Builder`] turns each trace into a [`DeviceHistory`], in time slices. All inference and most warnings are in this
//! module.

pub mod allocations;
pub mod annotations;
pub mod device_history;
pub mod live;
pub mod loaded_range;
pub mod numbers;
pub mod partial;
pub mod rounding;
pub mod segments;
pub mod times;
pub mod totals;
pub mod trace;
pub mod versions;

mod allocation_change;
mod awaiting_free;
mod build;
mod device;
mod dropping;
mod end;
mod events;
mod image;
mod median;
mod recorder;
mod unlisted;

pub use crate::snapshot::AnnotationRange;
pub use allocation_change::AllocationChange;
pub use allocations::{AllocationId, Allocations, Provenance};
pub use build::Builder;
pub use device_history::DeviceHistory;
pub use image::{write_parts, write_results, write_warning_parts};
pub use live::{Candidates, LiveSets};
pub use loaded_range::{KeepRange, LoadedRange, Origin};
pub use numbers::DeviceFigures;
pub use partial::{Outline, Partial, PartialEnd, RunningTotal};
pub use recorder::{MAX_EVENTS, Recorder};
pub use rounding::Rounding;
pub use segments::{SegmentKind, SegmentLifetimes, SelectedSegments};
pub use times::{TimeAxis, Times};
pub use totals::{Curve, Totals};
pub use trace::{Events, Subject};
pub use versions::Versions;
