//! Questions to the allocator simulation and their answers.

use serde::{Deserialize, Serialize};

/// A question to the simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfQuestion {
    /// Lines of `PYTORCH_CUDA_ALLOC_CONF` to simulate. Lines that cannot be parsed are skipped.
    pub lines: Vec<String>,
    /// Device memory in bytes. If `None`, it is inferred from the requests that failed in the recording.
    pub capacity: Option<u64>,
    /// True to also try a built-in list of settings.
    pub tries: bool,
    /// True to search for the smallest capacity that each setting needs.
    pub fits: bool,
    /// True to skip the recorded calls of `empty_cache()`.
    pub never_empties: bool,
    /// True to send partial answers while more rows are computed.
    pub partial: bool,
    /// True to use the sizes last set by [`Simulation::plan`](crate::simulation::Simulation::plan). The proof always
    /// uses the recorded sizes.
    pub is_planned: bool,
    /// Settings whose run is returned event by event, written as in [`WhatIfRun::settings`].
    pub course: Option<String>,
}

/// An answer of the simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    pub proof: WhatIfProof,
    /// Runs under the recorded settings, then under the question's lines in their order, then under the settings that
    /// were tried.
    pub runs: Vec<WhatIfRun>,
    pub fits: Vec<WhatIfFit>,
    pub course: Option<WhatIfCourse>,
    /// Parse error of a line of the question, as part of a sentence. Empty if all lines were parsed.
    pub line_error: String,
    /// Device memory in bytes that the runs assumed.
    pub capacity: Option<u64>,
    /// True if `capacity` was inferred from the recording.
    pub is_capacity_recorded: bool,
    /// Number of requests that failed in the recording.
    pub ooms: u64,
    /// True if nothing was allocated or reserved before the first event.
    pub starts_empty: bool,
    /// Change of the peak, in bytes, when early allocations are placed again instead of kept, under the recorded
    /// settings.
    pub start_changes_peak: i64,
    /// Total number of runs and fits that the complete answer has.
    pub steps: u64,
    /// True if no further parts of the answer follow.
    pub is_complete: bool,
}

/// Agreement of the simulation with the recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfProof {
    /// Recorded settings, as a line of `PYTORCH_CUDA_ALLOC_CONF`.
    pub settings: String,
    /// Settings that the file does not record, and how they were inferred.
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
    /// Reason why nothing is predicted, if so.
    pub refused: Option<String>,
}

/// Result of a run under one set of settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfRun {
    /// Settings as a line to copy.
    pub settings: String,
    pub origin: WhatIfOrigin,
    pub grade: WhatIfGrade,
    pub peak_reserved: u64,
    /// Index of the first event after which the peak is reached. −1 if it is reached before the first event.
    pub peak_event: i64,
    /// Bytes of live blocks at the peak.
    pub allocated_at_peak: u64,
    /// Lowest and highest peak over all address orders, in bytes.
    pub band: [u64; 2],
    pub driver_calls: u64,
    pub retries: u64,
    /// Event of the request that failed. −1 if the early allocations do not fit.
    pub oom_event: Option<i64>,
    /// Event of a request that failed in the recording but succeeds here. The run ends there.
    pub avoided_oom: Option<u32>,
    pub warnings: Vec<WhatIfWarning>,
    /// Names of settings in the line that do not affect the simulation.
    pub ignored: Vec<String>,
}

/// Curves of a run over its events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfCourse {
    /// Settings, written as in [`WhatIfRun::settings`].
    pub settings: String,
    /// Reserved bytes before the first event.
    pub reserved_at_start: u64,
    /// Events that change the reserved bytes, each with the bytes after it.
    pub reserved: Vec<(u32, u64)>,
    /// Allocated (rounded) bytes, i.e. those of live blocks, before the first event.
    pub allocated_at_start: u64,
    /// Events that change the allocated bytes, each with the bytes after it.
    pub allocated: Vec<(u32, u64)>,
    /// Event that ends the run before the end of the recording: a request that fails, or one that failed in the
    /// recording but succeeds here. −1 is before the first event.
    pub ends_at: Option<i64>,
    /// True if a curve has more than [`MAX_POINTS`](crate::course::MOST_POINTS) changes. It then has the minimum and
    /// maximum of each of 32,768 equal parts of the events.
    pub is_thinned: bool,
}

/// Origin of a run's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfOrigin {
    #[default]
    Recorded,
    Asked,
    Tried,
}

/// Confidence in a run's prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfGrade {
    #[default]
    Proved,
    FromSource,
    DependsOnStart,
    Departs,
}

impl WhatIfGrade {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            WhatIfGrade::Proved => "proved",
            WhatIfGrade::FromSource => "from_source",
            WhatIfGrade::DependsOnStart => "depends_on_start",
            WhatIfGrade::Departs => "departs",
        }
    }

    /// Returns the label shown to users.
    pub fn words(self) -> &'static str {
        match self {
            WhatIfGrade::Proved => "proved on this recording",
            WhatIfGrade::FromSource => "rules read from source, not exercised here",
            WhatIfGrade::DependsOnStart => "depends on what was allocated before the trace",
            WhatIfGrade::Departs => "the model departs from this recording",
        }
    }
}

/// A problem with some settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfWarning {
    /// Garbage collection without a memory fraction.
    CollectsNothing,
    /// Expandable segments combined with `max_split_size_mb`.
    GrowsWithoutBound,
    /// A memory fraction of an unknown capacity.
    FractionOfNothing,
    /// `large_segment_size_mb` is missing in older PyTorch releases.
    LargeSegmentsAreNew,
    /// `per_process_memory_fraction` is missing in older PyTorch releases.
    FractionIsNew,
    /// `throw_on_cudamalloc_oom` is missing in older PyTorch releases.
    ThrowingIsNew,
}

impl WhatIfWarning {
    /// Returns the message shown to users.
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

/// The smallest capacity that is enough for the recorded program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfFit {
    pub settings: String,
    /// Bytes. `None` if the program fails with any capacity.
    pub capacity: Option<u64>,
}
