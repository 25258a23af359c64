//! Simulation of a recorded device: answers each [`WhatIfQuestion`] in time slices.

use super::answer::{WhatIf, WhatIfOrigin, WhatIfProof, WhatIfQuestion};
use super::bands::Band;
use super::conf;
use super::done::{Done, keep};
use super::job::Job;
use super::known::Known;
use super::recording::Recording;
use super::rows::{Row, described};
use super::settings::Settings;
use super::trace::Trace;
use base::cores::map_on_all_cores;
use base::slice::{SliceResult, TimeSlice};

/// Recording of a device, and the progress of the current question.
pub struct Simulation {
    known: Known,
    job: Option<Box<Job>>,
    done: Done,
}

base::heap_bytes!(Simulation: known);

/// Run that is simulated step by step, with its inputs.
pub struct Traced<'a> {
    pub trace: Trace,
    pub recording: &'a Recording,
    pub settings: Settings,
    pub capacity: Option<u64>,
    /// True if the model reproduces the recording exactly under the recorded settings.
    pub is_exact: bool,
}

impl Simulation {
    /// Creates a simulation of a device's recording.
    pub fn new(device: i64, recording: Recording) -> Simulation {
        let recording = recording.with_settings();
        let (inference, proof, fresh, fresh_peak, has_plan) = Default::default();
        let known = Known { device, recording, inference, proof, fresh, fresh_peak, has_plan };
        Simulation { known, job: None, done: Done::default() }
    }

    /// Returns the device index. It is negative for pinned host memory.
    pub fn device(&self) -> i64 {
        self.known.device
    }

    /// Sets the planned size of each allocation. `bytes` contains a little-endian `u64` for each allocation. It is
    /// empty if the plan cannot be applied.
    pub fn plan(&mut self, bytes: &[u8]) {
        let known = &mut self.known;
        known.has_plan = bytes.len() == 8 * known.recording.allocations.len();
        known.recording.plan(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        self.done = Done::default();
        self.job = None;
    }

    /// Discards the progress of the current question. Must be called before the next question.
    pub fn begin(&mut self) {
        self.job = None;
    }

    /// Continues answering a question until the result is complete or the time slice is used up. Partial results are
    /// passed to `send` if the question requests them.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn answer(
        &mut self,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut TimeSlice,
    ) -> SliceResult<WhatIf> {
        self.known.prove(slice)?;
        let known = &self.known;
        let Some(proof) = &known.proof else { return Ok(WhatIf::default()) };
        if question.is_planned && !known.has_plan && proof.refused.is_none() {
            let refused = Some("the sizes of the plan are not known".to_owned());
            let proof = WhatIfProof { refused, ..described(proof) };
            return Ok(WhatIf { proof, is_complete: true, ..WhatIf::default() });
        }
        let job = self.job.get_or_insert_with(|| Box::new(Job::new(known, proof, question)));
        job.step(known, proof, question, &mut self.done, send, slice)?;
        let answer = self.job.take().map(|job| job.answer).unwrap_or_default();
        Ok(WhatIf { is_complete: true, ..answer })
    }

    /// Simulates all runs of a question on all cores, so that [`Simulation::answer`] has little left to do.
    ///
    /// # Errors
    /// Returns an error if `may_continue` returns false, which is called every few milliseconds.
    pub fn run_on_all_cores(
        &mut self,
        question: &WhatIfQuestion,
        may_continue: &(dyn Fn() -> bool + Sync),
    ) -> SliceResult {
        self.known.prove(&mut TimeSlice::new(&mut || may_continue()))?;
        let Simulation { known, done, .. } = self;
        let Some(proof) = &known.proof else { return Ok(()) };
        let plans = Job::new(known, proof, question).plans(known, question);
        let runs = map_on_all_cores(&plans, |(plan, doubts)| {
            Band::default().step(&known.recording, plan, *doubts, &mut TimeSlice::new(&mut || may_continue()))
        });
        for (plan, run) in plans.iter().zip(runs) {
            keep(&mut done.runs, plan, run?);
        }
        Ok(())
    }

    /// Returns a step-by-step simulation under the question's first line, or under the recorded settings if there are
    /// no lines.
    ///
    /// # Errors
    /// Returns an error message if nothing can be predicted for this recording, if the line cannot be parsed, or if the
    /// allocations made before recording do not fit.
    pub fn trace(&mut self, question: &WhatIfQuestion) -> Result<Traced<'_>, String> {
        let mut always = || true;
        while self.known.prove(&mut TimeSlice::new(&mut always)).is_err() {}
        let known = &self.known;
        let Some(proof) = &known.proof else { return Err("nothing is known of this device".to_owned()) };
        if let Some(why) = &proof.refused {
            return Err(format!("no prediction: {why}"));
        }
        if question.is_planned && !known.has_plan {
            return Err("the sizes of the plan are not known".to_owned());
        }
        let settings = match question.lines.first() {
            // The recorded settings may contain a line that `conf::parse` rejects.
            Some(line) if proof.settings.to_string() != *line => {
                conf::parse(line).map_err(|error| error.to_string())?.0
            }
            _ => proof.settings.clone(),
        };
        let has_limits = question.capacity.is_some() || question.total.is_some() || question.never_empties;
        let is_recorded = settings == proof.settings && !has_limits;
        let origin = if is_recorded { WhatIfOrigin::Recorded } else { WhatIfOrigin::Asked };
        let program = question.programs.first().cloned().unwrap_or_default();
        program.check(&known.recording)?;
        let row = Row { program, ..Row::new(settings.clone(), origin) };
        let (plan, _) = row.plan(&known.recording, proof, question);
        let capacity = plan.limits.capacity.or(plan.limits.allowed);
        let trace = Trace::new(&known.recording, &plan);
        let trace = trace.ok_or("out of memory before the first event: what was live then does not fit")?;
        Ok(Traced { trace, recording: &known.recording, settings, capacity, is_exact: proof.verdict.is_exact() })
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/simulation.rs"]
mod tests;
