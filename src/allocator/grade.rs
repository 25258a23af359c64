//! Grading of the confidence in a prediction.

use super::counts::Exercised;
use super::infer::Proof;
use super::settings::Settings;
use super::verdict::{COMPLETED, DEFERRED, NOT_RECORDED, RETIRED, ROUNDED_FAILURE};

/// Confidence in a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The model reproduces the recording, and the recording exercises every rule that the prediction needs.
    Proved,
    /// The prediction needs rules taken from PyTorch's source that the recording does not exercise.
    FromSource,
    /// The prediction depends on the placement of allocations made before recording.
    DependsOnStart,
    /// Frees wait for other streams. How long they wait differs between runs, and is unknown where the recording did not
    /// wait.
    DependsOnWaits,
    /// The recording has private pools, and the file does not record the pool of released memory.
    PoolsGuessed,
    /// The model does not reproduce the recording.
    Departs,
}

/// Grades the prediction of a run. `needed` counts the rules that the run used. `depends_on_start` is true if memory
/// was allocated or reserved before the first event.
pub fn grade(proof: &Proof, settings: &Settings, depends_on_start: bool, needed: &Exercised) -> Grade {
    let is_known = |rule: &str| !proof.not_exercised.contains(&rule);
    let mut needs = Vec::new();
    if settings.expandable != proof.settings.expandable || settings.expandable {
        needs.push("expandable_segments");
    }
    if settings.max_split.is_some() || settings.non_split != proof.settings.non_split {
        needs.push("max_split_size");
    }
    if settings.rounds_up() {
        needs.push("roundup_power2_divisions");
    }
    if settings.divisions != proof.settings.divisions {
        needs.push(ROUNDED_FAILURE);
    }
    if settings.collects() {
        needs.push("garbage_collection_threshold");
    }
    if needed.retries > 0 {
        // Pools marked `use_on_oom` may help when memory runs out.
        needs.extend(["retries", NOT_RECORDED]);
    }
    if needed.completed > 0 {
        needs.extend([DEFERRED, COMPLETED]);
    }
    if needed.retired > 0 {
        needs.push(RETIRED);
    }
    if needed.large_segments > 0 {
        needs.push("large_segment_size");
    }
    let has_waits = is_known(DEFERRED);
    let changes_segments = settings.large_segment != proof.settings.large_segment;
    let changes_kind = settings.expandable != proof.settings.expandable;
    match () {
        () if proof.guesses_pools => Grade::PoolsGuessed,
        () if !proof.verdict.is_exact() => Grade::Departs,
        () if depends_on_start => Grade::DependsOnStart,
        () if needed.completed > 0 || (has_waits && *settings != proof.settings) => Grade::DependsOnWaits,
        () if changes_segments || changes_kind || !needs.into_iter().all(is_known) => Grade::FromSource,
        () => Grade::Proved,
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/grade.rs"]
mod tests;
