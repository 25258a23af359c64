//! Grading of the confidence in a prediction.

use super::answer::WhatIfGrade;
use super::counts::Exercised;
use super::infer::Proof;
use super::settings::Settings;
use super::verdict::{COMPLETED, DEFERRED, NOT_RECORDED, RETIRED, ROUNDED_FAILURE};

/// Grades the prediction of a run. `needed` counts the rules that the run used. `depends_on_start` is true if memory
/// was allocated or reserved before the first event.
pub fn grade(proof: &Proof, settings: &Settings, depends_on_start: bool, needed: &Exercised) -> WhatIfGrade {
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
        () if proof.guesses_pools => WhatIfGrade::PoolsGuessed,
        () if !proof.verdict.is_exact() => WhatIfGrade::Departs,
        () if depends_on_start => WhatIfGrade::DependsOnStart,
        () if needed.completed > 0 || (has_waits && *settings != proof.settings) => WhatIfGrade::DependsOnWaits,
        () if changes_segments || changes_kind || !needs.into_iter().all(is_known) => WhatIfGrade::FromSource,
        () => WhatIfGrade::Proved,
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/grade.rs"]
mod tests;
