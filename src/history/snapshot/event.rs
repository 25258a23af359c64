//! One trace event as the file has it.

use super::labels::LabelsId;
use super::schema::Key;
use super::stacks::StackId;

/// What happened (FORMAT §4). `free`, which only tools write, is [`Action::FreeCompleted`]; `workspace_snapshot`, which torch_npu writes
/// where it puts the trace of its workspaces in front of a device's own, is [`Action::Snapshot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Action {
    Alloc,
    /// The program let go of a block.
    FreeRequested,
    FreeCompleted,
    /// A segment was taken from the driver.
    SegmentAlloc,
    SegmentFree,
    /// Physical memory was mapped into an expandable segment.
    SegmentMap,
    SegmentUnmap,
    Snapshot,
    /// The driver had no more.
    Oom,
    /// A note on a live allocation (2.14).
    Annotate,
    /// An action of a later version: kept in its place, warned about.
    Unknown,
}

impl Action {
    /// All actions, in the order of their numbers.
    pub const ALL: [Action; 11] = [
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::SegmentAlloc,
        Action::SegmentFree,
        Action::SegmentMap,
        Action::SegmentUnmap,
        Action::Snapshot,
        Action::Oom,
        Action::Annotate,
        Action::Unknown,
    ];

    /// Its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Action::Alloc => "alloc",
            Action::FreeRequested => "free_requested",
            Action::FreeCompleted => "free_completed",
            Action::SegmentAlloc => "segment_alloc",
            Action::SegmentFree => "segment_free",
            Action::SegmentMap => "segment_map",
            Action::SegmentUnmap => "segment_unmap",
            Action::Snapshot => "snapshot",
            Action::Oom => "oom",
            Action::Annotate => "annotate",
            Action::Unknown => "unknown",
        }
    }

    /// Whether it maps or gives back a segment, or a part of one.
    pub fn is_of_segment(self) -> bool {
        matches!(self, Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap)
    }

    /// Whether an event of this action must have an address and a size.
    pub fn moves_memory(self) -> bool {
        !matches!(self, Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown)
    }
}

/// In [`Event::time_us`]: the file has no time.
pub const NO_TIME: i64 = i64::MIN;

/// One trace event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The address; for `oom` the bytes the driver says are free.
    pub address: u64,
    /// Requested bytes; for segments, reserved bytes.
    pub size: u64,
    /// µs since 1970, or [`NO_TIME`].
    pub time_us: i64,
    /// The stack, or [`StackId::NONE`] where the file has no `frames`.
    pub stack: StackId,
    pub labels: LabelsId,
    pub action: Action,
}

/// How many rows the tables have that histories refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    pub stacks: usize,
    pub labels: usize,
    pub blocks: usize,
}

/// Receives the events of each trace in order, while the file is being decoded. Traces are numbered from 0 as their lists begin;
/// which device a trace is of is known only at the end.
pub trait EventSink {
    /// The next event of `trace`.
    fn event(&mut self, trace: u32, event: &Event);

    /// The next part of what was made of all events before, in their place; `false` where that makes no sense, or events are wanted.
    fn image(&mut self, _part: &[u8]) -> bool {
        false
    }

    /// All was received, and the tables have these rows; `false` where what was made of the events before refers to what is not in them.
    fn end(&mut self, _rows: Rows) -> bool {
        true
    }
}

impl Key {
    /// The action it names, if it names one.
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
            _ => return None,
        })
    }
}
