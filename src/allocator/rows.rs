//! Rows of an answer: the plan of a run, and the description of its result.

use super::answer::{WhatIfGrade, WhatIfOrigin, WhatIfProof, WhatIfQuestion, WhatIfRun, WhatIfWarning};
use super::bands::{Banded, Calibration};
use super::grade::{Grade, grade};
use super::infer::Proof;
use super::recording::Recording;
use super::run::{EmptyCache, Plan, StartState};
use super::settings::{Limits, Settings, Share};

/// A run to simulate.
pub(super) struct Row {
    pub(super) settings: Settings,
    pub(super) origin: WhatIfOrigin,
    pub(super) ignored: Vec<String>,
}

/// Returns the plan of a run. Under the recorded settings and sizes, early allocations keep their recorded addresses.
/// Otherwise they are placed again.
pub(super) fn plan(
    recording: &Recording,
    proof: &Proof,
    question: &WhatIfQuestion,
    settings: &Settings,
    capacity: Option<u64>,
) -> Plan {
    let is_planned = question.is_planned && !recording.planned.is_empty();
    let is_recorded = *settings == proof.settings && !is_planned;
    Plan {
        is_planned,
        settings: settings.clone(),
        backend: proof.backend,
        limits: Limits::new(capacity, settings),
        start: if is_recorded { StartState::Kept } else { StartState::Fresh },
        empty_cache: if question.never_empties { EmptyCache::Never } else { EmptyCache::AsRecorded },
        ..Plan::default()
    }
}

/// Converts the result of a run into its row in the answer.
pub(super) fn run(
    recording: &Recording,
    calibration: Calibration,
    proof: &Proof,
    row: &Row,
    plan: &Plan,
    banded: Banded,
) -> WhatIfRun {
    let Banded { outcome, band } = banded;
    let is_fresh = plan.start == StartState::Fresh && !recording.starts_empty();
    let is_what_was_recorded = plan.start == StartState::Kept
        && proof.verdict.is_exact()
        && plan.empty_cache == EmptyCache::AsRecorded
        && outcome.peak_reserved == proof.verdict.recorded_peak_reserved
        && outcome.avoided_oom.is_none();
    let band = match () {
        // The recorded run has no uncertainty.
        () if is_what_was_recorded => [outcome.peak_reserved; 2],
        () if is_fresh => calibration.widened(band),
        () => band,
    };
    // The model's error under the recorded settings may also occur under others.
    let error = proof.verdict.largest_reserved_error;
    let band = [band[0].saturating_sub(error), band[1].saturating_add(error)];
    let mut warnings = Vec::new();
    if row.settings.collects() && plan.limits.allowed.is_none() {
        warnings.push(WhatIfWarning::CollectsNothing);
    }
    if row.settings.expandable && row.settings.max_split.is_some() {
        warnings.push(WhatIfWarning::GrowsWithoutBound);
    }
    if row.settings.fraction < Share::ALL && plan.limits.capacity.is_none() {
        warnings.push(WhatIfWarning::FractionOfNothing);
    }
    let normal = Settings::default();
    if row.origin != WhatIfOrigin::Recorded && row.settings.large_segment != normal.large_segment {
        warnings.push(WhatIfWarning::LargeSegmentsAreNew);
    }
    if row.origin != WhatIfOrigin::Recorded && row.settings.fraction < Share::ALL {
        warnings.push(WhatIfWarning::FractionIsNew);
    }
    if row.origin != WhatIfOrigin::Recorded && row.settings.throws {
        warnings.push(WhatIfWarning::ThrowingIsNew);
    }
    let grade = match grade(proof, &row.settings, is_fresh && calibration.is_off(), &outcome.exercised) {
        Grade::Proved => WhatIfGrade::Proved,
        Grade::FromSource => WhatIfGrade::FromSource,
        Grade::DependsOnStart => WhatIfGrade::DependsOnStart,
        Grade::Departs => WhatIfGrade::Departs,
    };
    WhatIfRun {
        settings: row.settings.to_string(),
        origin: row.origin,
        grade,
        peak_reserved: outcome.peak_reserved,
        peak_event: outcome.peak_event,
        allocated_at_peak: outcome.allocated_at_peak,
        band,
        driver_calls: outcome.totals.driver_calls(),
        retries: outcome.totals.retries,
        oom_event: outcome.oom_event,
        avoided_oom: outcome.avoided_oom,
        warnings,
        ignored: row.ignored.clone(),
    }
}

/// Converts a proof for the answer.
pub(super) fn described(proof: &Proof) -> WhatIfProof {
    let verdict = &proof.verdict;
    WhatIfProof {
        settings: proof.settings.to_string(),
        assumed: proof.assumed.clone(),
        addresses: verdict.addresses,
        addresses_equal: verdict.addresses_equal,
        segment_events: verdict.segment_events,
        segment_events_equal: verdict.segment_events_equal,
        largest_reserved_error: verdict.largest_reserved_error,
        peak_reserved: verdict.peak_reserved,
        recorded_peak_reserved: verdict.recorded_peak_reserved,
        not_exercised: proof.not_exercised.iter().map(|&rule| rule.to_owned()).collect(),
        is_exact: verdict.is_exact(),
        departs_at: verdict.departs_at,
        refused: proof.refused.clone(),
    }
}
