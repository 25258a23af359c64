//! Oddities that do not stop us, counted by kind.

/// What is odd. The text is for people; the name is stable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningKind {
    /// A key no version of PyTorch we know writes; what of, and the key.
    UnknownKey(&'static str, String),
    /// An action we do not know.
    UnknownAction(String),
    /// A block's state that we do not know.
    UnknownState(String),
    /// The stage of an annotation, neither `START` nor `END`.
    UnknownStage(String),
    /// An allocation at an address that is live.
    AllocatedTwice,
    /// A second `free_requested` of the same block.
    FreedTwice,
    /// A `free_requested` that nothing completes, of a block that is not in the segments.
    FreeOfUnknownBlock,
    /// A free whose size is not the allocation's.
    SizeOfFreeDiffers,
    /// More bytes are live at the start than the trace and the segments explain.
    UnexplainedBytes,
    /// Fewer: the trace and the segments contradict each other.
    NegativeRemainder,
    /// The trace has no `free_completed` (skip_actions): frees count when they are requested.
    FreesNeverComplete,
    /// `time_us` steps back.
    TimeStepsBack,
    /// An annotation that ends without having begun.
    AnnotationWithoutStart,
    /// A sum of bytes left 64 signed bits.
    TotalsAtLimit,
    /// A list of the segments of one private pool (`MemPool.snapshot()`); which.
    OnePool(String),
    /// More is live than was reserved: segments are missing, or addresses were changed.
    BeyondReserved,
    /// There are events, but no list of segments.
    NoSegments,
    /// The history comes from what SnapViewer draws.
    FromADrawing,
    /// The file is not recorded but simulated, with these allocator settings.
    Simulated(String),
    /// There are bytes behind the end of what is read: of a layer of packing, or of the pickle.
    BytesBehind(&'static str),
}

impl WarningKind {
    /// The stable name.
    pub fn name(&self) -> &'static str {
        match self {
            WarningKind::UnknownKey(..) => "unknown_key",
            WarningKind::UnknownAction(_) => "unknown_action",
            WarningKind::UnknownState(_) => "unknown_state",
            WarningKind::UnknownStage(_) => "unknown_stage",
            WarningKind::AllocatedTwice => "allocated_twice",
            WarningKind::FreedTwice => "freed_twice",
            WarningKind::FreeOfUnknownBlock => "free_of_unknown_block",
            WarningKind::SizeOfFreeDiffers => "size_of_free_differs",
            WarningKind::UnexplainedBytes => "unexplained_bytes",
            WarningKind::NegativeRemainder => "negative_remainder",
            WarningKind::FreesNeverComplete => "frees_never_complete",
            WarningKind::TimeStepsBack => "time_steps_back",
            WarningKind::AnnotationWithoutStart => "annotation_without_start",
            WarningKind::TotalsAtLimit => "totals_at_limit",
            WarningKind::OnePool(_) => "one_pool",
            WarningKind::BeyondReserved => "requested_beyond_reserved",
            WarningKind::NoSegments => "no_segments",
            WarningKind::FromADrawing => "from_a_drawing",
            WarningKind::Simulated(_) => "simulated",
            WarningKind::BytesBehind(_) => "bytes_behind",
        }
    }

    /// One sentence.
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
            WarningKind::SizeOfFreeDiffers => "the size of a free differs from its allocation's".into(),
            WarningKind::UnexplainedBytes => {
                "unexplained bytes live before recording, drawn as one block at the bottom".into()
            }
            WarningKind::NegativeRemainder => {
                "trace and segments contradict each other: more is drawn than the totals".into()
            }
            WarningKind::FreesNeverComplete => {
                "no free_completed events: blocks end at free_requested".into()
            }
            WarningKind::TimeStepsBack => "the time of an event is before the previous event's".into(),
            WarningKind::AnnotationWithoutStart => "an annotation ends without a start".into(),
            WarningKind::TotalsAtLimit => "totals of 8 EiB or more are capped and not exact".into(),
            WarningKind::OnePool(pool) => {
                format!("only pool {pool} is in the file: live and reserved bytes are those of one pool, not of the device")
            }
            WarningKind::BeyondReserved => {
                "more bytes are live than reserved: segments are missing, so reserved and free bytes are not reliable".into()
            }
            WarningKind::NoSegments => {
                "no segments recorded: reserved bytes, and blocks without events, are unknown".into()
            }
            WarningKind::Simulated(settings) => ["simulated, not recorded: allocator settings ", settings].concat(),
            WarningKind::BytesBehind(what) => format!("data after the end of the {what}, ignored"),
            WarningKind::FromADrawing => {
                "SnapViewer files have only allocations and frees, without times or stacks of frees: allocations drawn to the last \
                 step count as never freed"
                    .into()
            }
        }
    }
}

/// All warnings of a file, each kind with a count and its first place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// By kind: a decoder names a hundred unknown words and little else.
    counts: Vec<(WarningKind, u64, String)>,
}

impl Warnings {
    /// Counts `times` more of this kind; `example` is asked for when it is the first.
    pub fn add(&mut self, kind: WarningKind, times: u64, example: impl FnOnce() -> String) {
        if times > 0 {
            match self.counts.binary_search_by(|(known, ..)| known.cmp(&kind)) {
                Ok(place) => self.counts[place].1 = self.counts[place].1.saturating_add(times),
                Err(place) => self.counts.insert(place, (kind, times, example())),
            }
        }
    }

    /// Kind, count and first place of each.
    pub fn iter(&self) -> impl Iterator<Item = (&WarningKind, u64, &str)> {
        self.counts.iter().map(|(kind, count, example)| (kind, *count, example.as_str()))
    }
}
