//! Trace events, with the values recorded in the file.

use super::labels::LabelsId;
use super::schema::Key;
use super::stacks::StackId;

base::listed! {
    /// Action of a trace event (FORMAT §4). `free`, which only third-party tools write, is read as
    /// [`Action::FreeCompleted`]. `workspace_snapshot`, which torch_npu writes between the workspaces' trace and the
    /// device's, is read as [`Action::Snapshot`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Action {
        Alloc = "alloc",
        /// The program freed a block.
        FreeRequested = "free_requested",
        FreeCompleted = "free_completed",
        /// A segment was allocated from the driver.
        SegmentAlloc = "segment_alloc",
        SegmentFree = "segment_free",
        /// Physical memory was mapped into an expandable segment.
        SegmentMap = "segment_map",
        SegmentUnmap = "segment_unmap",
        Snapshot = "snapshot",
        /// The driver could not provide more memory.
        Oom = "oom",
        /// Annotation of a live allocation (since PyTorch 2.14).
        Annotate = "annotate",
        /// Action of a later version. It is kept in the trace and causes a warning.
        Unknown = "unknown",
        /// Start or end of an annotation (only PyTorch 2.4). Its frame has the stage as name and the annotation's name
        /// as file.
        UserDefined = "user_defined",
    }
}

impl Action {
    /// Returns whether the action allocates or frees a segment or a part of one.
    pub fn is_segment_action(self) -> bool {
        matches!(self, Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap)
    }

    /// Returns whether an event with this action must have an address and a size.
    pub fn requires_address(self) -> bool {
        !matches!(self, Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown | Action::UserDefined)
    }
}

/// Value of [`Event::time_us`] for events without a time.
pub const NO_TIME: i64 = i64::MIN;

/// Value of [`Event::address`] for an `oom` without the number of free bytes.
pub const UNKNOWN_FREE: u64 = u64::MAX;

/// Trace event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Address of the block or segment. For `oom`, the free bytes reported by the driver, or [`UNKNOWN_FREE`].
    pub address: u64,
    /// Requested bytes. For segments, reserved bytes.
    pub size: u64,
    /// Time in µs since 1970, or [`NO_TIME`].
    pub time_us: i64,
    /// Stack, or [`StackId::NONE`] if the file has no `frames`.
    pub stack: StackId,
    pub labels: LabelsId,
    pub action: Action,
}

/// Number of rows in each table that histories refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    pub stacks: usize,
    pub labels: usize,
    pub blocks: usize,
}

/// Receiver of the events of each trace, in order, while the file is being decoded. Traces are numbered from 0, in the
/// order of their lists in the file. The device of a trace is known only at the end.
pub trait EventSink {
    /// Receives the next event of `trace`.
    fn event_at(&mut self, trace: u32, event: &Event);

    /// Receives the next part of a serialized history, which replaces the events. Returns `false` if it is invalid or
    /// if events are required.
    fn history_part(&mut self, _part: &[u8]) -> bool {
        false
    }

    /// Receives the final number of rows in each table. Returns `false` if a serialized history refers to missing rows.
    fn end(&mut self, _rows: Rows) -> bool {
        true
    }
}

impl Key {
    /// Returns the action with this name in the file, or `None` if the key is not an action.
    pub fn action(self) -> Option<Action> {
        Some(match self {
            Key::Alloc => Action::Alloc,
            Key::FreeRequested => Action::FreeRequested,
            Key::FreeCompleted | Key::Free => Action::FreeCompleted,
            Key::SegmentAlloc => Action::SegmentAlloc,
            Key::SegmentFree => Action::SegmentFree,
            Key::SegmentMap => Action::SegmentMap,
            Key::SegmentUnmap => Action::SegmentUnmap,
            Key::Snapshot | Key::WorkspaceSnapshot => Action::Snapshot,
            Key::Oom => Action::Oom,
            Key::Annotate => Action::Annotate,
            Key::UserDefined => Action::UserDefined,
            _ => return None,
        })
    }
}
