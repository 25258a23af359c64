//! Data of a simulation that does not depend on the question.

use super::answer::{WhatIfOrigin, WhatIfQuestion};
use super::infer::{Inference, Proof};
use super::plan::{Plan, StartState};
use super::recording::Recording;
use super::rows::Row;
use super::run::Run;
use base::slice::{SliceResult, TimeSlice};

/// Recording of a device and its proof, which do not depend on the question.
pub(super) struct Known {
    pub(super) device: i64,
    pub(super) recording: Recording,
    pub(super) inference: Inference,
    pub(super) proof: Option<Proof>,
    /// Run under the recorded settings. In this run, the simulation also places the allocations made before recording.
    pub(super) fresh: Option<Box<Run>>,
    pub(super) fresh_peak: Option<u64>,
    /// True if planned allocation sizes were set.
    pub(super) has_plan: bool,
}

base::heap_bytes!(Known: recording);

impl Known {
    pub(super) fn prove(&mut self, slice: &mut TimeSlice) -> SliceResult {
        if self.device < 0 {
            let refused = Some("pinned host memory has an allocator of its own".to_owned());
            self.proof = Some(Proof { refused, ..Proof::default() });
        }
        if self.proof.is_none() {
            let proof = self.inference.step(&self.recording, slice)?;
            self.recording.findings = proof.verdict.findings.clone();
            self.proof = Some(proof);
        }
        let Some(proof) = self.proof.as_ref().filter(|proof| proof.refused.is_none()) else { return Ok(()) };
        if self.fresh_peak.is_none() && !self.recording.starts_empty() {
            let row = Row::new(proof.settings.clone(), WhatIfOrigin::Asked);
            let (plan, _) = row.plan(&self.recording, proof, &WhatIfQuestion::default());
            let plan = Plan { start: StartState::Fresh, ..plan };
            let run = self.fresh.get_or_insert_with(|| Box::new(Run::new(&self.recording, &plan)));
            run.step(&self.recording, slice)?;
            self.fresh_peak = Some(run.outcome().peak_reserved);
            self.fresh = None;
        }
        Ok(())
    }

    /// Returns the change of the recorded peak, in bytes, if the simulation places the allocations made before
    /// recording.
    pub(super) fn start_changes_peak(&self, proof: &Proof) -> i64 {
        let recorded = proof.verdict.recorded_peak_reserved;
        self.fresh_peak.map_or(0, |fresh| fresh.cast_signed().wrapping_sub(recorded.cast_signed()))
    }
}
