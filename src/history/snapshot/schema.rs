//! All dict keys, actions and states of the format (FORMAT §1–§7). They are interned before all other strings, so that
//! a key is recognized by its id.

macro_rules! words {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// Word of the schema: a dict key, an action or a state. Its discriminant is its [`StringId`](super::StringId).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "named after the words, which FORMAT.md explains")]
        #[repr(u8)]
        pub enum Key { $($name),* }

        /// Words in the order of their ids.
        pub const KEYS: &[&str] = &[$($text),*];

        pub(super) const ALL: &[Key] = &[$(Key::$name),*];
    };
}

words! {
    // top level
    Segments = "segments", DeviceTraces = "device_traces", AllocatorSettings = "allocator_settings",
    ExternalAnnotations = "external_annotations", HostSegments = "host_segments", HostTraces = "host_traces",
    TraceAllocOverflowed = "trace_alloc_overflowed", TraceAllocMaxEntries = "trace_alloc_max_entries",
    Traces = "traces", MemscapeCrop = "memscape_crop", MemscapeSimulated = "memscape_simulated",
    // segment
    Device = "device", Address = "address", TotalSize = "total_size", AllocatedSize = "allocated_size",
    ActiveSize = "active_size", RequestedSize = "requested_size", Stream = "stream", SegmentType = "segment_type",
    SegmentPoolId = "segment_pool_id", IsExpandable = "is_expandable", Frames = "frames", Blocks = "blocks",
    // block
    Size = "size", State = "state", History = "history", RealSize = "real_size",
    // event
    Action = "action", Addr = "addr", DeviceFree = "device_free", TimeUs = "time_us", CompileContext = "compile_context",
    UserMetadata = "user_metadata", PoolId = "pool_id", InternalMetadata = "internal_metadata",
    ForwardFrames = "forward_frames", Category = "category",
    // annotation
    Stage = "stage", Name = "name",
    // frame
    Filename = "filename", Line = "line", FxNodeOp = "fx_node_op", FxNodeName = "fx_node_name",
    FxNodeTarget = "fx_node_target", FxOriginalTrace = "fx_original_trace", FxNodeInfo = "fx_node_info",
    // values of action
    Alloc = "alloc", FreeRequested = "free_requested", FreeCompleted = "free_completed", Free = "free",
    SegmentAlloc = "segment_alloc", SegmentFree = "segment_free", SegmentMap = "segment_map",
    SegmentUnmap = "segment_unmap", Snapshot = "snapshot", Oom = "oom", Annotate = "annotate",
    WorkspaceSnapshot = "workspace_snapshot", UserDefined = "user_defined",
    // values of state, stage and segment_type
    ActiveAllocated = "active_allocated", ActivePendingFree = "active_pending_free",
    ActiveAwaitingFree = "active_awaiting_free", Inactive = "inactive", Start = "START", End = "END",
    Small = "small", Large = "large",
}

impl Key {
    /// Returns the text of the word in the file.
    pub fn text(self) -> &'static str {
        KEYS.get(self as usize).copied().unwrap_or("")
    }
}
