//! Snapshot tables: frames, stacks, events and segments, faithful to the file and without inference.
//!
//! [`Reader`] is the builder for the pickle and JSON parsers. It passes events to an [`EventSink`] while the file is
//! being decoded. The rest is in the [`Snapshot`] that [`Reader::finish`] returns.
//!
//! Supported versions are PyTorch 1.12 to 2.15, with files written by Python's pickler or PyTorch's C++
//! pickler.

pub mod error;
pub mod event;
pub mod frames;
pub mod labels;
pub mod rewrite;
pub mod schema;
pub mod segments;
pub mod stacks;
pub mod strings;
pub mod warning;

mod constructors;
mod contents;
mod dicts;
mod entry_delta;
mod limits;
mod profiler;
mod queue;
mod reader;
mod roots;
mod segment_dicts;
mod settings;
mod store;
mod top;
mod top_level;
mod top_values;
mod unknown;
mod unknown_places;
mod value;

pub use contents::{EndState, HOST_DEVICE, Snapshot};
pub use error::{ContentError, Problem, ReadError};
pub use event::{Action, Event, EventSink, NO_TIME, Rows, UNKNOWN_FREE};
pub use frames::{Frame, FrameId, Frames};
pub use labels::{LabelTable, Labels, LabelsId};
pub use reader::Reader;
pub use segments::{AnnotationMark, AnnotationRange, Block, BlockState, Segment};
pub use stacks::{StackId, Stacks};
pub use strings::{StringId, Strings};
pub use top::{MAX_SETTINGS, SIMULATED_KEY, torch_version_with};
pub use top_level::Devices;
pub use value::Value;
pub use warning::{WarningKind, Warnings};
