//! One trace event as the file has it.

/// What happened (FORMAT §4). `free`, which only tools write, is [`Action::FreeCompleted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Action {
    /// A block was handed out.
    Alloc,
    /// The program let go of a block.
    FreeRequested,
    /// The block can be reused.
    FreeCompleted,
    /// A segment was taken from the driver.
    SegmentAlloc,
    /// A segment was given back.
    SegmentFree,
    /// Physical memory was mapped into an expandable segment.
    SegmentMap,
    /// Physical memory was unmapped.
    SegmentUnmap,
    /// A snapshot was taken.
    Snapshot,
    /// The driver had no more.
    Oom,
    /// A note on a live allocation (2.14).
    Annotate,
    /// An action of a later version: kept in its place, warned about.
    Unknown,
}
