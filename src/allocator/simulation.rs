//! Time-sliced answering of a [`WhatIfQuestion`].

use super::answer::{WhatIf, WhatIfCourse, WhatIfFit, WhatIfOrigin, WhatIfProof, WhatIfQuestion};
use super::bands::{Band, Calibration};
use super::conf;
use super::course::{Course, Curve};
use super::done::{Done, keep, kept};
use super::infer::{Inference, Proof};
use super::recording::Recording;
use super::rows::{Row, described, plan, run};
use super::run::{Plan, Run, StartState};
use super::search::{Fit, candidates};
use super::settings::Settings;
use super::trace::Trace;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};

/// A device's recording, and the progress of the current answer.
pub struct Simulation {
    known: Known,
    job: Option<Box<Job>>,
    done: Done,
}

/// A device's recording and its proof. They do not depend on the question.
struct Known {
    device: i64,
    recording: Recording,
    inference: Inference,
    proof: Option<Proof>,
    /// Run of the recorded settings that measures the effect of the early allocations' placement.
    calibrating: Option<Box<Run>>,
    /// Peak reserved bytes of the finished calibration runs: kept, then fresh.
    peaks: Vec<u64>,
    /// True if the sizes of a plan were set.
    has_plan: bool,
}

/// Progress of answering one question.
struct Job {
    rows: Vec<Row>,
    band: Band,
    answer: WhatIf,
    /// Plans whose smallest capacity is still wanted, with their settings. The next one is last.
    fits: Option<Vec<(Plan, String)>>,
    fit: Option<Box<Fit>>,
    /// Settings whose curves are wanted.
    followed: Option<Settings>,
    /// Run that records the curves.
    course: Option<Box<Run>>,
}

/// A step-by-step run and its inputs.
pub struct Traced<'a> {
    pub trace: Trace,
    pub recording: &'a Recording,
    pub settings: Settings,
    pub capacity: Option<u64>,
    /// True if the recording is reproduced exactly under its own settings.
    pub is_exact: bool,
}

/// Maximum number of tried settings, best first, whose smallest capacity is searched.
const MAX_FITS: usize = 3;

impl Simulation {
    /// Creates a simulation of a device's recording.
    pub fn new(device: i64, recording: Recording) -> Simulation {
        let recording = recording.with_settings();
        let (inference, proof, calibrating, peaks, has_plan) = Default::default();
        let known = Known { device, recording, inference, proof, calibrating, peaks, has_plan };
        Simulation { known, job: None, done: Done::default() }
    }

    /// Returns the device index. It is negative for pinned host memory.
    pub fn device(&self) -> i64 {
        self.known.device
    }

    /// Sets the bytes of each allocation under a plan, as one little-endian `u64` per allocation. The sizes are empty
    /// if the plan cannot be carried out.
    pub fn plan(&mut self, bytes: &[u8]) {
        let known = &mut self.known;
        known.has_plan = bytes.len() == 8 * known.recording.allocations.len();
        known.recording.plan(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        self.done = Done::default();
        self.job = None;
    }

    /// Discards the progress of the current question. Call it before another question.
    pub fn begin(&mut self) {
        self.job = None;
    }

    /// Answers a question. `send` receives partial answers if the question asks for them.
    ///
    /// # Errors
    /// The time is up.
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

    /// Returns a trace of a run under the question's first line, or under the recorded settings if it has none.
    ///
    /// # Errors
    /// Returns a sentence for the user if nothing is predicted for this recording, the line cannot be parsed, or the
    /// early allocations do not fit.
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
        let capacity = question.capacity.or_else(|| known.recording.capacity());
        let plan = plan(&known.recording, proof, question, &settings, capacity);
        let trace = Trace::new(&known.recording, &plan);
        let trace = trace.ok_or("out of memory before the first event: what was live then does not fit")?;
        Ok(Traced { trace, recording: &known.recording, settings, capacity, is_exact: proof.verdict.is_exact() })
    }

    /// Returns the heap size in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.known.recording.heap_bytes()
    }
}

impl Known {
    fn prove(&mut self, slice: &mut TimeSlice) -> SliceResult {
        if self.device < 0 {
            let refused = Some("pinned host memory has an allocator of its own".to_owned());
            self.proof = Some(Proof { refused, ..Proof::default() });
        }
        if self.proof.is_none() {
            self.proof = Some(self.inference.step(&self.recording, slice)?);
        }
        let Some(proof) = self.proof.as_ref().filter(|proof| proof.refused.is_none()) else { return Ok(()) };
        while let Some(&start) = [StartState::Kept, StartState::Fresh].get(self.peaks.len()) {
            let (settings, backend) = (proof.settings.clone(), proof.backend);
            let plan = Plan { settings, backend, start, ..Plan::default() };
            let run = self.calibrating.get_or_insert_with(|| Box::new(Run::new(&self.recording, &plan)));
            run.step(&self.recording, slice)?;
            self.peaks.push(run.outcome().peak_reserved);
            self.calibrating = None;
        }
        Ok(())
    }

    fn calibration(&self) -> Calibration {
        let peak = |at: usize| self.peaks.get(at).copied().unwrap_or(0);
        Calibration { recorded: peak(0), fresh: peak(1) }
    }
}

impl Job {
    fn new(known: &Known, proof: &Proof, question: &WhatIfQuestion) -> Job {
        let recording = &known.recording;
        let capacity = question.capacity.or_else(|| recording.capacity());
        let calibration = known.calibration();
        let (mut rows, mut followed, mut line_error) = (Vec::new(), None, String::new());
        if proof.refused.is_none() {
            let recorded = proof.settings.clone();
            rows.push(Row { settings: recorded.clone(), origin: WhatIfOrigin::Recorded, ignored: Vec::new() });
            let lines = question.lines.iter().map(|line| (line, false));
            for (line, is_followed) in lines.chain(question.course.iter().map(|line| (line, true))) {
                // The recorded settings may contain a line that `conf::parse` rejects.
                let recorded = Some(&recorded).filter(|recorded| is_followed && recorded.to_string() == *line);
                match (recorded, conf::parse(line)) {
                    (Some(recorded), _) => followed = Some(recorded.clone()),
                    (None, Ok((settings, _))) if is_followed => followed = Some(settings),
                    (None, Ok((settings, ignored))) => {
                        rows.push(Row { settings, origin: WhatIfOrigin::Asked, ignored });
                    }
                    (None, Err(error)) => line_error = error.to_string(),
                }
            }
            let tried = candidates(&recorded, capacity).into_iter().filter(|_| question.tries);
            for settings in tried {
                if rows.iter().all(|row| row.settings != settings) {
                    rows.push(Row { settings, origin: WhatIfOrigin::Tried, ignored: Vec::new() });
                }
            }
        }
        let tried = rows.iter().filter(|row| row.origin == WhatIfOrigin::Tried).count();
        let fits = if question.fits { rows.len() - tried + tried.min(MAX_FITS) } else { 0 };
        let answer = WhatIf {
            line_error,
            proof: described(proof),
            steps: (rows.len() + fits) as u64,
            capacity,
            is_capacity_recorded: question.capacity.is_none() && capacity.is_some(),
            ooms: recording.ooms.len() as u64,
            starts_empty: recording.starts_empty(),
            start_changes_peak: calibration.fresh.cast_signed().wrapping_sub(calibration.recorded.cast_signed()),
            ..WhatIf::default()
        };
        Job { rows, band: Band::default(), answer, fits: None, fit: None, followed, course: None }
    }

    fn step(
        &mut self,
        known: &Known,
        proof: &Proof,
        question: &WhatIfQuestion,
        done: &mut Done,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(row) = self.rows.get(self.answer.runs.len()) {
            let plan = plan(&known.recording, proof, question, &row.settings, self.answer.capacity);
            let banded = match kept(&done.runs, &plan) {
                Some(banded) => banded,
                None => {
                    let banded = self.band.step(&known.recording, &plan, slice)?;
                    self.band = Band::default();
                    keep(&mut done.runs, &plan, banded.clone());
                    banded
                }
            };
            self.answer.runs.push(run(&known.recording, known.calibration(), proof, row, &plan, banded));
            if question.partial {
                send(self.answer.clone());
            }
        }
        if question.fits && self.fits.is_none() {
            self.fits = Some(self.to_fit(known, proof, question));
        }
        while let Some((plan, settings)) = self.fits.as_ref().and_then(|fits| fits.last()) {
            let capacity = match kept(&done.fits, plan) {
                Some(capacity) => capacity,
                None => {
                    let fit = self.fit.get_or_insert_with(|| Box::new(Fit::new(plan)));
                    let capacity = fit.step(&known.recording, slice)?;
                    self.fit = None;
                    keep(&mut done.fits, plan, capacity);
                    capacity
                }
            };
            self.answer.fits.push(WhatIfFit { settings: settings.clone(), capacity });
            self.fits.iter_mut().for_each(|fits| drop(fits.pop()));
            if question.partial {
                send(self.answer.clone());
            }
        }
        self.follow(known, proof, question, slice)
    }

    /// Runs the settings whose curves are wanted, with ascending addresses.
    fn follow(
        &mut self,
        known: &Known,
        proof: &Proof,
        question: &WhatIfQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Some(line) = question.course.as_ref().filter(|_| proof.refused.is_none()) else { return Ok(()) };
        let Some(settings) = &self.followed else { return Ok(()) };
        let plan =
            Plan { keeps_curve: true, ..plan(&known.recording, proof, question, settings, self.answer.capacity) };
        let run = self.course.get_or_insert_with(|| Box::new(Run::new(&known.recording, &plan)));
        run.step(&known.recording, slice)?;
        let course = WhatIfCourse { settings: line.clone(), ends_at: run.ends_at(), ..WhatIfCourse::default() };
        let curves = self.course.take().and_then(|run| run.into_course());
        self.answer.course = Some(match curves {
            // Without curves, not even the early allocations fit.
            None => course,
            Some(Course { reserved, allocated }) => {
                let [reserved_at_start, allocated_at_start] = [&reserved, &allocated].map(Curve::at_start);
                let ((reserved, is_thinned), (allocated, other)) = (reserved.points(), allocated.points());
                let is_thinned = is_thinned || other;
                WhatIfCourse { reserved_at_start, reserved, allocated_at_start, allocated, is_thinned, ..course }
            }
        });
        Ok(())
    }

    /// Returns the plans to search: the recorded settings, the question's lines, and the best of the tried ones.
    fn to_fit(&self, known: &Known, proof: &Proof, question: &WhatIfQuestion) -> Vec<(Plan, String)> {
        let mut best: Vec<(u64, usize)> = Vec::new();
        for (at, (row, run)) in self.rows.iter().zip(&self.answer.runs).enumerate() {
            if row.origin == WhatIfOrigin::Tried && run.oom_event.is_none() {
                best.push((run.peak_reserved, at));
            }
        }
        let mut best = sorted_by_key(best, |(peak, at)| two_part_key(*peak, *at as u64));
        best.truncate(MAX_FITS);
        let wanted = |at: usize, row: &Row| row.origin != WhatIfOrigin::Tried || best.iter().any(|(_, one)| *one == at);
        let wanted = self.rows.iter().enumerate().filter(|(at, row)| wanted(*at, row));
        wanted
            .map(|(_, row)| (plan(&known.recording, proof, question, &row.settings, None), row.settings.to_string()))
            .rev()
            .collect()
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/simulation.rs"]
mod tests;
