//! Rows of a result: the plan of a run, and the description of its outcome.

use super::addresses::Order;
use super::answer::{WhatIfGrade, WhatIfLow, WhatIfOrigin, WhatIfProof, WhatIfQuestion, WhatIfRun, WhatIfWarning};
use super::bands::{Banded, Doubts, Start};
use super::ends::limits;
use super::grade::grade;
use super::infer::Proof;
use super::plan::{EmptyCache, Outcome, Plan, StartState};
use super::program::Program;
use super::recording::Recording;
use super::settings::{Settings, Share};

/// A run to simulate, shown as a row of the result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) settings: Settings,
    pub(super) program: Program,
    pub(super) origin: WhatIfOrigin,
    pub(super) ignored: Vec<String>,
}

impl Row {
    pub(super) fn new(settings: Settings, origin: WhatIfOrigin) -> Row {
        Row { settings, program: Program::default(), origin, ignored: Vec::new() }
    }

    /// Returns true if the row is the recording itself, with its settings, sizes and program. It is not simulated.
    pub(super) fn is_recording(&self, recording: &Recording, question: &WhatIfQuestion) -> bool {
        let is_planned = question.is_planned && !recording.planned.is_empty();
        self.origin == WhatIfOrigin::Recorded && !is_planned && !self.program.changes()
    }

    /// Returns the plan of a run and its uncertainties. Under the recorded settings and sizes, segments from before
    /// recording keep their addresses. Otherwise the simulation places the allocations made before recording.
    pub(super) fn plan(&self, recording: &Recording, proof: &Proof, question: &WhatIfQuestion) -> (Plan, Doubts) {
        let is_planned = question.is_planned && !recording.planned.is_empty();
        let is_recording = self.is_recording(recording, question);
        let [high, low] = match is_recording {
            true => limits(proof, &WhatIfQuestion::default(), &self.settings),
            false => limits(proof, question, &self.settings),
        };
        let limit = high.capacity.into_iter().chain(high.allowed).min();
        let may_keep = self.settings.expandable == proof.settings.expandable
            && !is_planned
            && !self.program.one_stream
            && limit.is_none_or(|limit| recording.reserved_at_start() <= limit);
        let plan = Plan {
            is_planned,
            settings: self.settings.clone(),
            backend: proof.backend,
            limits: high,
            order: if is_recording { Order::Recorded } else { recording.findings.address_order },
            start: if may_keep && self.settings == proof.settings { StartState::Kept } else { StartState::Fresh },
            empty_cache: match question.never_empties && !is_recording {
                true => EmptyCache::Never,
                false => EmptyCache::AsRecorded,
            },
            program: self.program.with_step_ends(&recording.step_ends),
            ..Plan::default()
        };
        let start = Start {
            idle: proof.verdict.idle_at_start,
            recorded_peak: if is_planned { 0 } else { proof.verdict.recorded_peak_reserved },
            may_keep,
        };
        let is_late = !recording.starts_empty() && !is_recording;
        (plan, Doubts { low: Some(low).filter(|low| *low != high), start: is_late.then_some(start) })
    }

    /// Returns the row that describes the recording itself, which the model must reproduce exactly.
    pub(super) fn recorded(&self, recording: &Recording, proof: &Proof) -> WhatIfRun {
        let verdict = &proof.verdict;
        let peak = verdict.recorded_peak_reserved;
        WhatIfRun {
            settings: self.settings.to_string(),
            origin: self.origin,
            grade: WhatIfGrade::Proved,
            peak_reserved: peak,
            peak_event: verdict.peak_event,
            allocated_at_peak: verdict.allocated_at_peak.min(peak),
            band: [peak; 2],
            driver_calls: recording.operations.len() as u64,
            retries: verdict.retries,
            oom_event: verdict.oom_event.map(i64::from),
            warnings: self.warnings(proof, None),
            ..WhatIfRun::default()
        }
    }

    /// Converts the outcome of a run to a row of the result.
    pub(super) fn run(&self, proof: &Proof, plan: &Plan, doubts: Doubts, banded: Banded) -> WhatIfRun {
        let Banded { outcome, low, band } = banded;
        // The model's error under the recorded settings may also occur under others.
        let error = proof.verdict.largest_reserved_error;
        let band = [band[0].saturating_sub(error), band[1].saturating_add(error)];
        let Outcome { peak_reserved, peak_event, allocated_at_peak, oom_event, avoided_oom, .. } = outcome;
        WhatIfRun {
            settings: self.settings.to_string(),
            program: self.program.clone(),
            origin: self.origin,
            grade: grade(proof, &self.settings, doubts.start.is_some(), &outcome.exercised),
            peak_reserved,
            peak_event,
            allocated_at_peak,
            band,
            low: low.map(|low| WhatIfLow {
                peak_reserved: low.peak_reserved,
                driver_calls: low.totals.driver_calls(),
                retries: low.totals.retries,
                oom_event: low.oom_event,
                avoided_oom: low.avoided_oom,
            }),
            driver_calls: outcome.totals.driver_calls(),
            retries: outcome.totals.retries,
            oom_event,
            avoided_oom,
            warnings: self.warnings(proof, Some(plan)),
            ignored: self.ignored.clone(),
        }
    }

    fn warnings(&self, proof: &Proof, plan: Option<&Plan>) -> Vec<WhatIfWarning> {
        let is_new = self.settings != proof.settings;
        let has_limit = |plan: &Plan| plan.limits.allowed.is_some() || plan.limits.collect_above.is_some();
        let lacks_limit = plan.is_some_and(|plan| !has_limit(plan));
        let has_fraction = self.settings.fraction < Share::ALL;
        let normal = Settings::default();
        let warnings = [
            (WhatIfWarning::CollectsNothing, self.settings.collects() && lacks_limit),
            (WhatIfWarning::GrowsWithoutBound, self.settings.expandable && self.settings.max_split.is_some()),
            (WhatIfWarning::FractionOfNothing, has_fraction && lacks_limit && is_new),
            (WhatIfWarning::LargeSegmentsAreNew, is_new && self.settings.large_segment != normal.large_segment),
            (WhatIfWarning::FractionIsNew, self.settings.fraction != proof.settings.fraction && has_fraction),
            (WhatIfWarning::ThrowingIsNew, is_new && self.settings.throws),
        ];
        warnings.into_iter().filter(|(_, applies)| *applies).map(|(warning, _)| warning).collect()
    }
}

/// Converts a proof to the form used in results.
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
