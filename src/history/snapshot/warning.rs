//! Warnings about a file that do not prevent opening it, counted by kind.

/// Kind of a warning. Its message is for people, its name is stable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningKind {
    /// Key that no known version of PyTorch writes: the object, and the key.
    UnknownKey(&'static str, String),
    /// Unknown action of an event.
    UnknownAction(String),
    /// Unknown state of a block.
    UnknownState(String),
    /// Stage of an annotation other than `START` and `END`.
    UnknownStage(String),
    /// Allocation at an address that is already live.
    AllocatedTwice,
    /// Second `free_requested` of the same block.
    FreedTwice,
    /// `free_requested` that is never completed, of a block that is not in the segments.
    FreeOfUnknownBlock,
    /// Free whose size differs from the allocation's.
    FreeSizeDiffers,
    /// More bytes are live at the start than trace and segments explain.
    UnexplainedBytes,
    /// Fewer bytes are live at the start than trace and segments require: they contradict each other.
    NegativeRemainder,
    /// The trace has no `free_completed` (skip_actions), so frees count when they are requested.
    FreesNeverComplete,
    /// `time_us` decreases.
    TimeDecreases,
    /// Annotation that ends without a start.
    AnnotationWithoutStart,
    /// A sum of bytes exceeded 64 signed bits.
    TotalsAtLimit,
    /// The segments are those of one private pool (`MemPool.snapshot()`), which is named.
    SinglePool(String),
    /// More bytes are live than reserved: segments are missing or addresses were changed.
    LiveExceedsReserved,
    /// The file has events but no list of segments.
    NoSegments,
    /// The history comes from SnapViewer's plot data.
    FromPlotData,
    /// The file was simulated with these allocator settings, not recorded.
    Simulated(String),
    /// Bytes after the end of a compression layer or of the pickle.
    TrailingBytes(&'static str),
}

impl WarningKind {
    /// Stable name of the kind.
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
            WarningKind::FromPlotData => "from_a_drawing",
            WarningKind::Simulated(_) => "simulated",
            WarningKind::TrailingBytes(_) => "bytes_behind",
        }
    }

    /// One-sentence message for people.
    pub fn message(&self) -> String {
        match self {
            WarningKind::UnknownKey(of, key) => format!("unknown key '{key}' in {of}, ignored"),
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
                "more bytes are live than reserved: segments are missing, so reserved and free bytes are not reliable".into()
            }
            WarningKind::NoSegments => {
                "no segments recorded: reserved bytes, and blocks without events, are unknown".into()
            }
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

/// Warnings of a file: each kind with its count and first place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// Sorted by kind. A decoder lists a hundred unknown words and little else.
    counts: Vec<(WarningKind, u64, String)>,
}

impl Warnings {
    /// Counts `times` more warnings of this kind. `example` is called for the first one.
    pub fn add(&mut self, kind: WarningKind, times: u64, example: impl FnOnce() -> String) {
        if times > 0 {
            match self.counts.binary_search_by(|(known, ..)| known.cmp(&kind)) {
                Ok(place) => self.counts[place].1 = self.counts[place].1.saturating_add(times),
                Err(place) => self.counts.insert(place, (kind, times, example())),
            }
        }
    }

    /// Iterates over the kinds with count and first place.
    pub fn iter(&self) -> impl Iterator<Item = (&WarningKind, u64, &str)> {
        self.counts.iter().map(|(kind, count, example)| (kind, *count, example.as_str()))
    }
}
