//! Requests to the allocator simulation (what-if questions) and their results.

use super::program::Program;
use serde::{Deserialize, Serialize};

/// What-if question: settings, limits and program changes to simulate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfQuestion {
    /// Values of `PYTORCH_CUDA_ALLOC_CONF` to simulate. Values that cannot be parsed are skipped.
    pub lines: Vec<String>,
    /// Memory, in bytes, that the driver can provide. If this and `total` are `None`, the limit is inferred from the
    /// recording.
    pub capacity: Option<u64>,
    /// Total memory of the device in bytes. A memory fraction refers to it.
    pub total: Option<u64>,
    /// Program changes to simulate, each under the recorded settings and under the settings in `lines`.
    pub programs: Vec<Program>,
    /// True to also try a built-in list of settings.
    pub tries: bool,
    /// True to search for the smallest capacity with which the program runs under each setting.
    pub fits: bool,
    /// True to skip the recorded calls of `empty_cache()`.
    pub never_empties: bool,
    /// True to send partial results while further runs are simulated.
    pub partial: bool,
    /// True to use the allocation sizes last set by [`Simulation::plan`](crate::simulation::Simulation::plan). The
    /// proof always uses the recorded sizes.
    pub is_planned: bool,
    /// Settings whose curves are returned, written as in [`WhatIfRun::settings`].
    pub course: Option<String>,
    /// Program changes of the run whose curves are returned, see `course`.
    pub course_program: Program,
}

/// Result of a what-if question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    pub proof: WhatIfProof,
    /// Runs, in this order: the recording, each of the question's `lines`, changed programs, and built-in settings.
    /// The recording is left out if the model does not reproduce it exactly, because differences from it would mix
    /// recorded and simulated numbers.
    pub runs: Vec<WhatIfRun>,
    pub fits: Vec<WhatIfFit>,
    pub course: Option<WhatIfCourse>,
    /// Error of a line or a program of the question, as part of a sentence. Empty if all of them are simulated.
    pub line_error: String,
    /// Memory limit of the runs in bytes: the limit in the question, otherwise the highest limit consistent with the
    /// recording. `None` if there is neither.
    pub capacity: Option<u64>,
    /// Memory limit that the recording implies, if any.
    pub limit: Option<WhatIfLimit>,
    /// True if no single limit is consistent with all failed requests, because other processes used the device as well.
    pub has_contradictory_limits: bool,
    /// True if `capacity` was inferred from the recording.
    pub is_capacity_recorded: bool,
    /// Number of requests that failed in the recording.
    pub ooms: u64,
    /// True if nothing was allocated or reserved before the first event.
    pub starts_empty: bool,
    /// Change of the peak, in bytes, if allocations made before recording are placed by the simulation instead of kept
    /// at their recorded addresses.
    pub start_changes_peak: i64,
    /// Total number of runs and capacity searches in the complete result.
    pub steps: u64,
    /// True if no further partial results follow.
    pub is_complete: bool,
}

impl WhatIfQuestion {
    /// Returns the question about the settings that are commonly tried. Insights quote its result. `capacity` is the
    /// memory that is available to the allocator, if a recorder stored it and no request failed.
    pub fn common_settings(capacity: Option<u64>) -> WhatIfQuestion {
        WhatIfQuestion { tries: true, capacity, ..WhatIfQuestion::default() }
    }
}

impl WhatIf {
    /// Returns the run that other runs are compared with: the recording, or the plan under the recorded settings.
    /// `None` if the model does not reproduce the recording.
    pub fn recorded(&self) -> Option<&WhatIfRun> {
        self.runs.first().filter(|run| run.origin == WhatIfOrigin::Recorded)
    }
}

/// Agreement between the recording and a simulation under the recorded settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfProof {
    /// Recorded settings, as a value of `PYTORCH_CUDA_ALLOC_CONF`.
    pub settings: String,
    /// Settings that are not recorded in the file, and how they were inferred.
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
    /// Reason why nothing can be predicted for this recording, if any.
    pub refused: Option<String>,
}

/// Memory limit that a recording implies. Each attempt to get memory, successful or not, narrows its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfLimit {
    /// Lowest possible limit in bytes. `high` is the highest one.
    pub low: u64,
    pub high: u64,
    /// True if the limit is a memory fraction, false if it is the memory that the driver provides.
    pub is_fraction: bool,
}

/// Result of a run with the lowest memory limit that is consistent with the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfLow {
    pub peak_reserved: u64,
    pub driver_calls: u64,
    pub retries: u64,
    pub oom_event: Option<i64>,
    pub avoided_oom: Option<u32>,
}

/// Result of a run under one set of settings, with the highest memory limit that is consistent with the recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfRun {
    /// Settings, as a value of `PYTORCH_CUDA_ALLOC_CONF`.
    pub settings: String,
    /// Changes to the recorded program in this run.
    pub program: Program,
    pub origin: WhatIfOrigin,
    pub grade: WhatIfGrade,
    pub peak_reserved: u64,
    /// Index of the event at which the peak is reached. −1 if it is reached before the first event.
    pub peak_event: i64,
    /// Bytes of live blocks at the peak.
    pub allocated_at_peak: u64,
    /// Lowest and highest possible peak in bytes, over all address orders and limits consistent with the recording. If
    /// memory was allocated before recording, the bounds are estimates.
    pub band: [u64; 2],
    /// Result with the lowest memory limit, if it differs. The run certainly fails only if both results fail.
    pub low: Option<WhatIfLow>,
    pub driver_calls: u64,
    pub retries: u64,
    /// Index of the event whose request failed. −1 if the allocations made before recording do not fit.
    pub oom_event: Option<i64>,
    /// Index of the event whose request failed in the recording but succeeds in this run. The run ends there.
    pub avoided_oom: Option<u32>,
    pub warnings: Vec<WhatIfWarning>,
    /// Names of specified settings that do not affect the simulation.
    pub ignored: Vec<String>,
}

impl WhatIfRun {
    /// Returns the peaks of reserved bytes with the lowest and the highest memory limit that is consistent with the
    /// recording.
    pub fn peaks(&self) -> [u64; 2] {
        [self.low.map_or(self.peak_reserved, |low| low.peak_reserved), self.peak_reserved]
    }

    /// Returns the highest possible peak, if it depends on allocations made before recording whether the run reserves
    /// less than `recorded` bytes.
    pub fn possible_excess(&self, recorded: u64) -> Option<u64> {
        let is_uncertain = self.grade == WhatIfGrade::DependsOnStart && self.band[1] >= recorded;
        is_uncertain.then_some(self.band[1])
    }

    /// Returns whether the run runs out of memory, or `None` if that depends on the exact memory limit, which is
    /// unknown.
    pub fn fails(&self) -> Option<bool> {
        let fails = self.oom_event.is_some();
        let is_same = self.low.is_none_or(|low| low.oom_event.is_some() == fails);
        is_same.then_some(fails)
    }

    /// Returns the lowest and the highest number of retries, over all memory limits consistent with the recording.
    pub fn retry_range(&self) -> [u64; 2] {
        let low = self.low.map_or(self.retries, |low| low.retries);
        [self.retries.min(low), self.retries.max(low)]
    }
}

/// Memory curves of a run over its events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIfCourse {
    /// Settings, written as in [`WhatIfRun::settings`].
    pub settings: String,
    /// Simulated changes to the recorded program.
    pub program: Program,
    /// Reserved bytes before the first event.
    pub reserved_at_start: u64,
    /// Changes in reserved bytes: event index, and bytes after the event.
    pub reserved: Vec<(u32, u64)>,
    /// Bytes in live blocks (allocated, rounded) before the first event.
    pub allocated_at_start: u64,
    /// Changes in allocated bytes: event index, and bytes after the event.
    pub allocated: Vec<(u32, u64)>,
    /// Index of the event at which the run ends early: a request that fails, or one that failed in the recording but
    /// succeeds here. −1 if the run ends before the first event.
    pub ends_at: Option<i64>,
    /// True if a curve has more than [`MAX_POINTS`](crate::course::MAX_POINTS) changes. It is then reduced to the
    /// minimum and maximum in each of 32,768 equally long ranges of events.
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

base::listed! {
    /// Confidence in a run's prediction.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum WhatIfGrade {
        #[default]
        /// The model reproduces the recording, and the recording exercises every rule that the prediction needs.
        Proved = "proved", "exact on this file";
        /// The prediction needs rules taken from PyTorch's source that the recording does not exercise.
        FromSource = "from_source", "from PyTorch's source, untested here";
        /// The prediction depends on the placement of allocations made before recording.
        DependsOnStart = "depends_on_start", "depends on what was allocated before the trace";
        /// Frees wait for other streams. How long they wait differs between runs, and is unknown where the recording
        /// did not wait.
        DependsOnWaits = "depends_on_waits", "depends on when other streams finish";
        /// The recording has private pools, and the file does not record the pool of released memory.
        PoolsGuessed = "pools_guessed", "private pools are guessed: the file does not name them";
        /// The model does not reproduce the recording.
        Departs = "departs", "the model departs from this recording";
    }
}

/// Warning about a combination of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfWarning {
    /// Garbage collection is enabled, but has no effect without a memory fraction.
    CollectsNothing,
    /// Expandable segments are combined with `max_split_size_mb`, and reserved memory may grow without bound.
    GrowsWithoutBound,
    /// A memory fraction is set, but the total memory of the device is unknown.
    FractionOfNothing,
    /// `large_segment_size_mb` is not supported by older PyTorch releases.
    LargeSegmentsAreNew,
    /// `per_process_memory_fraction` is not supported by older PyTorch releases.
    FractionIsNew,
    /// `throw_on_cudamalloc_oom` is not supported by older PyTorch releases.
    ThrowingIsNew,
}

impl WhatIfWarning {
    /// Returns the message shown to users.
    pub fn words(self) -> &'static str {
        match self {
            WhatIfWarning::CollectsNothing => {
                "garbage_collection_threshold has no effect unless per_process_memory_fraction is below 1. Simulating it requires the memory size."
            }
            WhatIfWarning::GrowsWithoutBound => {
                "expandable_segments with max_split_size_mb can grow without bound (pytorch#123548): use one of them."
            }
            WhatIfWarning::LargeSegmentsAreNew => {
                "large_segment_size_mb requires PyTorch from January 2026 or later. Older versions reject it."
            }
            WhatIfWarning::FractionIsNew => {
                "per_process_memory_fraction needs a PyTorch of August 2025 or later; in older ones, call torch.cuda.set_per_process_memory_fraction."
            }
            WhatIfWarning::ThrowingIsNew => {
                "throw_on_cudamalloc_oom requires PyTorch from 2026 or later. Older versions reject it."
            }
            WhatIfWarning::FractionOfNothing => {
                "per_process_memory_fraction is a fraction of the GPU memory, whose size is not known here."
            }
        }
    }
}

/// Smallest capacity with which the recorded program runs under a set of settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfFit {
    pub settings: String,
    pub program: Program,
    /// Smallest capacity in bytes. `None` if the program fails with any capacity.
    pub capacity: Option<u64>,
}
