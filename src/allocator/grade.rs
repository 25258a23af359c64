//! How sure a prediction is.

use super::check::{COMPLETED, NOT_RECORDED, RETIRED};
use super::infer::Proof;
use super::model::Exercised;
use super::settings::Settings;

/// How sure a prediction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// Every rule it needs was exercised by the recording, which the model reproduces.
    Proved,
    /// It needs rules that are read from PyTorch's source and that this recording does not exercise.
    FromSource,
    /// It depends on what was allocated before the trace, and how that was placed.
    DependsOnStart,
    /// The model departs from the recording.
    Departs,
}

/// How sure a run under these settings is, which needed these rules; `depends_on_start` where what was live before the trace is placed
/// again and matters.
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
    if settings.collects() {
        needs.push("garbage_collection_threshold");
    }
    if needed.retries > 0 {
        // With private pools that may help out where memory runs out.
        needs.extend(["retries", NOT_RECORDED]);
    }
    if needed.completed > 0 {
        needs.extend(["deferred frees", COMPLETED]);
    }
    if needed.retired > 0 {
        needs.push(RETIRED);
    }
    if needed.large_segments > 0 {
        needs.push("large_segment_size");
    }
    let changes_segments = settings.large_segment != proof.settings.large_segment;
    let changes_kind = settings.expandable != proof.settings.expandable;
    match () {
        () if !proof.verdict.is_exact() => Grade::Departs,
        () if depends_on_start => Grade::DependsOnStart,
        () if changes_segments || changes_kind || !needs.into_iter().all(is_known) => Grade::FromSource,
        () => Grade::Proved,
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/grade.rs"]
mod tests;
