//! Warnings about a file that do not prevent opening it, counted by kind.

/// Kind of a warning. It has a human-readable message and a stable name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningKind {
    /// Key that no known version of PyTorch writes. Holds the kind of object that has the key, and the key.
    UnknownKey(&'static str, String),
    /// Unknown action of an event. Holds the action.
    UnknownAction(String),
    /// Unknown state of a block. Holds the state.
    UnknownState(String),
    /// Stage of an annotation other than `START` and `END`.
    UnknownStage(String),
    /// Allocation at an address where another allocation is live.
    AllocatedTwice,
    /// Second `free_requested` of the same block.
    FreedTwice,
    /// `free_requested` without completion, for a block that is not in the segments.
    FreeOfUnknownBlock,
    /// Free with another size than the allocation.
    FreeSizeDiffers,
    /// More bytes are live at the start than the trace and the segments explain.
    UnexplainedBytes,
    /// Fewer bytes are live at the start than the trace requires, so trace and segments contradict each other.
    NegativeRemainder,
    /// The trace has no `free_completed` (removed by `skip_actions`), so frees take effect when they are requested.
    FreesNeverComplete,
    /// The time of an event (`time_us`) is before the time of the previous event.
    TimeDecreases,
    /// Annotation that ends without a start.
    AnnotationWithoutStart,
    /// A total in bytes does not fit into `i64`.
    TotalsAtLimit,
    /// All segments belong to one private pool (`MemPool.snapshot()`). Holds its id.
    SinglePool(String),
    /// More bytes are live than reserved, because segments are missing or addresses were changed.
    LiveExceedsReserved,
    /// The file has events but no list of segments.
    NoSegments,
    /// Recorded allocations or segments are still live at the end, but no listed segment contains them.
    MissingSegments,
    /// The file has events, but none has a call stack.
    NoStacks,
    /// The file has segments, but no events: recording was not enabled.
    NotRecorded,
    /// The ring buffer of events has overwritten the oldest.
    EventsOverwritten,
    /// The ring buffer has probably overwritten the oldest events: their number is a typical size of the buffer.
    EventsLikelyOverwritten,
    /// The events come from a file of torch.profiler. Holds what it calls the file.
    FromProfiler(&'static str),
    /// The history comes from SnapViewer's plot data.
    FromPlotData,
    /// The file was simulated, not recorded. Holds the allocator settings.
    Simulated(String),
    /// Bytes after the end of a compression layer or of the pickle. Holds the name of the format.
    TrailingBytes(&'static str),
}

impl WarningKind {
    /// Returns the stable name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            WarningKind::UnknownKey(..) => "unknown_key",
            WarningKind::UnknownAction(_) => "unknown_action",
            WarningKind::UnknownState(_) => "unknown_state",
            WarningKind::UnknownStage(_) => "unknown_stage",
            WarningKind::AllocatedTwice => "allocated_twice",
            WarningKind::FreedTwice => "freed_twice",
            WarningKind::FreeOfUnknownBlock => "free_of_unknown_block",
            WarningKind::FreeSizeDiffers => "size_of_free_differs",
            WarningKind::UnexplainedBytes => "unexplained_bytes",
            WarningKind::NegativeRemainder => "negative_remainder",
            WarningKind::FreesNeverComplete => "frees_never_complete",
            WarningKind::TimeDecreases => "time_steps_back",
            WarningKind::AnnotationWithoutStart => "annotation_without_start",
            WarningKind::TotalsAtLimit => "totals_at_limit",
            WarningKind::SinglePool(_) => "one_pool",
            WarningKind::LiveExceedsReserved => "requested_beyond_reserved",
            WarningKind::NoSegments => "no_segments",
            WarningKind::MissingSegments => "missing_segments",
            WarningKind::NoStacks => "no_stacks",
            WarningKind::NotRecorded => "not_recorded",
            WarningKind::EventsOverwritten => "events_overwritten",
            WarningKind::EventsLikelyOverwritten => "events_likely_overwritten",
            WarningKind::FromProfiler(_) => "from_the_profiler",
            WarningKind::FromPlotData => "from_a_drawing",
            WarningKind::Simulated(_) => "simulated",
            WarningKind::TrailingBytes(_) => "bytes_behind",
        }
    }

    /// Returns a human-readable message of one sentence.
    pub fn message(&self) -> String {
        match self {
            WarningKind::UnknownKey(owner, key) => format!("unknown key '{key}' in {owner}, ignored"),
            WarningKind::UnknownAction(action) => format!("unknown action '{action}'"),
            WarningKind::UnknownState(state) => {
                format!("unknown block state '{state}', counted as free")
            }
            WarningKind::UnknownStage(stage) => format!("annotation with unknown stage '{stage}', skipped"),
            WarningKind::AllocatedTwice => {
                "allocation at an address that is already live: the first one stays in the totals to the end".into()
            }
            WarningKind::FreedTwice => "free_requested twice for the same block".into(),
            WarningKind::FreeOfUnknownBlock => {
                "free_requested for an unknown block, not drawn".into()
            }
            WarningKind::FreeSizeDiffers => "the size of a free differs from its allocation's".into(),
            WarningKind::UnexplainedBytes => {
                "unexplained bytes live before recording, drawn as one block at the bottom".into()
            }
            WarningKind::NegativeRemainder => {
                "trace and segments contradict each other: more is drawn than the totals".into()
            }
            WarningKind::FreesNeverComplete => {
                "no free_completed events: blocks end at free_requested".into()
            }
            WarningKind::TimeDecreases => "the time of an event is before the previous event's".into(),
            WarningKind::AnnotationWithoutStart => "an annotation ends without a start".into(),
            WarningKind::TotalsAtLimit => "totals of 8 EiB or more are capped and not exact".into(),
            WarningKind::SinglePool(pool) => {
                format!("only pool {pool} is in the file: live and reserved bytes are those of one pool, not of the device")
            }
            WarningKind::LiveExceedsReserved => {
                "more bytes are live than reserved, so reserved and free bytes are not reliable: segments are missing, tensors are paused \
                 without memory, or host memory or several devices are under one number".into()
            }
            WarningKind::NoSegments => {
                "no segments recorded: reserved bytes, and blocks without events, are unknown".into()
            }
            WarningKind::MissingSegments => {
                "recorded memory is in no listed segment: it counts as live and reserved until it is freed".into()
            }
            WarningKind::NoStacks => {
                "Recorded without call stacks (context=None): record with \
                 torch.cuda.memory._record_memory_history(context=\"all\")".into()
            }
            WarningKind::NotRecorded => {
                "No events: recording was not enabled. Call torch.cuda.memory._record_memory_history() before the code \
                 to look at".into()
            }
            WarningKind::EventsOverwritten => {
                "Events before the first one were overwritten (max_entries): record fewer steps, or more entries".into()
            }
            WarningKind::EventsLikelyOverwritten => {
                "Events before the first one were likely overwritten (max_entries): record fewer steps, or more entries".into()
            }
            WarningKind::FromProfiler(what) => format!(
                "This is {what}: a timeline without call stacks and segments. A snapshot has both: record one with \
                 torch.cuda.memory._record_memory_history(), and keep the profile beside it"
            ),
            WarningKind::Simulated(settings) => ["simulated, not recorded: allocator settings ", settings].concat(),
            WarningKind::TrailingBytes(what) => format!("data after the end of the {what}, ignored"),
            WarningKind::FromPlotData => {
                "SnapViewer files have only allocations and frees, without times or stacks of frees: allocations drawn to the last \
                 step count as never freed"
                    .into()
            }
        }
    }
}

/// Warnings about a file. Each kind has a count and the path of its first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// Kind, count and path of the first occurrence, sorted by kind. The list is short: decoders add at most a hundred
    /// unknown words and few other kinds.
    counts: Vec<(WarningKind, u64, String)>,
}

impl Warnings {
    /// Adds `times` warnings of this kind. `example` returns the path of the first occurrence, and is called only if
    /// the kind is new.
    pub fn add(&mut self, kind: WarningKind, times: u64, example: impl FnOnce() -> String) {
        if times > 0 {
            match self.counts.binary_search_by(|(known, ..)| known.cmp(&kind)) {
                Ok(place) => self.counts[place].1 = self.counts[place].1.saturating_add(times),
                Err(place) => self.counts.insert(place, (kind, times, example())),
            }
        }
    }

    /// Iterates over the kinds, each with its count and the path of its first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (&WarningKind, u64, &str)> {
        self.counts.iter().map(|(kind, count, example)| (kind, *count, example.as_str()))
    }
}
