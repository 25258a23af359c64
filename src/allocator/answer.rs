//! What a simulation of the allocator is asked and tells: first what it reproduces of the recording, then what other settings come to.

use serde::{Deserialize, Serialize};

/// A question to the simulator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfQuestion {
    /// Lines of `PYTORCH_CUDA_ALLOC_CONF`; those that cannot be read are left out.
    pub lines: Vec<String>,
    /// Bytes that the device has; where it is not said, what failed requests tell.
    pub capacity: Option<u64>,
    /// Whether settings worth trying are tried as well.
    pub tries: bool,
    /// Whether the smallest memory is looked for that is enough.
    pub fits: bool,
    /// Whether recorded calls of `empty_cache()` are left out.
    pub never_empties: bool,
    /// Whether answers come while there are more rows to come.
    pub partial: bool,
    /// Whether sizes are those of the plan that the simulation was given last. The proof is about what was recorded.
    pub is_planned: bool,
    /// Settings whose run is wanted event by event, as they stand in [`WhatIfRun::settings`].
    pub course: Option<String>,
}

/// What a simulator says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    pub proof: WhatIfProof,
    /// The recorded settings first, then those of the question's lines in their order, then those worth trying.
    pub runs: Vec<WhatIfRun>,
    pub fits: Vec<WhatIfFit>,
    pub course: Option<WhatIfCourse>,
    /// What is wrong with a line of the question, as part of a sentence; empty where nothing is.
    pub line_error: String,
    /// Bytes that the runs had, and whether the recording told it.
    pub capacity: Option<u64>,
    pub is_capacity_recorded: bool,
    /// Requests that failed in the recording.
    pub ooms: u64,
    /// Whether nothing was allocated or reserved before the first event.
    pub starts_empty: bool,
    /// By how much the peak changes when what was live before the first event is placed again, under the recorded settings.
    pub start_changes_peak: i64,
    /// How many runs and smallest memories there will be.
    pub steps: u64,
    /// Whether this is all.
    pub is_complete: bool,
}

/// What the simulation reproduces of the recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfProof {
    /// The recorded settings as a line.
    pub settings: String,
    /// What is not recorded of them, and how it is known.
    pub assumed: Vec<String>,
    pub addresses: u64,
    pub addresses_equal: u64,
    pub segment_events: u64,
    pub segment_events_equal: u64,
    pub largest_reserved_error: u64,
    pub peak_reserved: u64,
    pub recorded_peak_reserved: u64,
    pub not_exercised: Vec<String>,
    pub is_exact: bool,
    pub departs_at: Option<u32>,
    /// Why nothing is predicted.
    pub refused: Option<String>,
}

/// A run under some settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfRun {
    /// As a line to copy.
    pub settings: String,
    pub origin: WhatIfOrigin,
    pub grade: WhatIfGrade,
    pub peak_reserved: u64,
    /// The event after which it is reached first; −1 before the first.
    pub peak_event: i64,
    /// Bytes of live blocks then.
    pub allocated_at_peak: u64,
    /// The lowest and the highest peak over the orders of addresses.
    pub band: [u64; 2],
    pub driver_calls: u64,
    pub retries: u64,
    /// The request that failed; −1 for what was live before the first event.
    pub oom_event: Option<i64>,
    /// A request that failed in the recording and does not here: the run ends there.
    pub avoided_oom: Option<u32>,
    pub warnings: Vec<WhatIfWarning>,
    /// Settings of the line that change nothing that is simulated.
    pub ignored: Vec<String>,
}

/// A run event by event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfCourse {
    /// As in [`WhatIfRun::settings`].
    pub settings: String,
    /// Reserved bytes before the first event, and each event that changes them with what is reserved after it.
    pub reserved_at_start: u64,
    pub reserved: Vec<(u32, u64)>,
    /// The same of allocated (rounded) bytes: those of live blocks.
    pub allocated_at_start: u64,
    pub allocated: Vec<(u32, u64)>,
    /// The event that it ends with where that is not the last of the recording: a request that fails, or one that failed in the recording
    /// and does not here. −1 is before the first.
    pub ends_at: Option<i64>,
    /// Whether there are more changes than [`MOST_POINTS`](crate::course::MOST_POINTS) in one of the two: then each of 32,768 equal parts
    /// of the events has its smallest and its largest value.
    pub is_thinned: bool,
}

/// Where the settings of a run come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfOrigin {
    #[default]
    Recorded,
    Asked,
    Tried,
}

/// How sure a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfGrade {
    #[default]
    Proved,
    FromSource,
    DependsOnStart,
    Departs,
}

impl WhatIfGrade {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            WhatIfGrade::Proved => "proved",
            WhatIfGrade::FromSource => "from_source",
            WhatIfGrade::DependsOnStart => "depends_on_start",
            WhatIfGrade::Departs => "departs",
        }
    }

    /// What it means.
    pub fn words(self) -> &'static str {
        match self {
            WhatIfGrade::Proved => "proved on this recording",
            WhatIfGrade::FromSource => "rules read from source, not exercised here",
            WhatIfGrade::DependsOnStart => "depends on what was allocated before the trace",
            WhatIfGrade::Departs => "the model departs from this recording",
        }
    }
}

/// What is wrong with some settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfWarning {
    /// Garbage collection without a memory fraction.
    CollectsNothing,
    /// Expandable segments with a largest split.
    GrowsWithoutBound,
    /// A memory fraction of an unknown capacity.
    FractionOfNothing,
    /// `large_segment_size_mb` is not in every PyTorch.
    LargeSegmentsAreNew,
    /// `per_process_memory_fraction` neither.
    FractionIsNew,
    /// `throw_on_cudamalloc_oom` neither.
    ThrowingIsNew,
}

impl WhatIfWarning {
    /// What is wrong, for people.
    pub fn words(self) -> &'static str {
        match self {
            WhatIfWarning::CollectsNothing => {
                "garbage_collection_threshold does nothing without per_process_memory_fraction below 1 (and a known memory size here)."
            }
            WhatIfWarning::GrowsWithoutBound => {
                "expandable_segments with max_split_size_mb can grow without bound (pytorch#123548): use one of them."
            }
            WhatIfWarning::LargeSegmentsAreNew => {
                "large_segment_size_mb needs a PyTorch of January 2026 or later; older ones refuse it."
            }
            WhatIfWarning::FractionIsNew => {
                "per_process_memory_fraction needs a PyTorch of August 2025 or later; in older ones, call torch.cuda.set_per_process_memory_fraction."
            }
            WhatIfWarning::ThrowingIsNew => {
                "throw_on_cudamalloc_oom needs a PyTorch of 2026 or later; older ones refuse it."
            }
            WhatIfWarning::FractionOfNothing => {
                "per_process_memory_fraction is a fraction of the GPU memory, whose size is not known here."
            }
        }
    }
}

/// The smallest memory that is enough for the recorded program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfFit {
    pub settings: String,
    /// `None` where none is.
    pub capacity: Option<u64>,
}
