//! What the simulation reproduces of a recording, and what other settings come to, in slices: all that a [`WhatIfQuestion`] asks.

use super::answer::{
    WhatIf, WhatIfFit, WhatIfGrade, WhatIfOrigin, WhatIfProof, WhatIfQuestion, WhatIfRun, WhatIfWarning,
};
use super::bands::{Band, Banded, Calibration};
use super::conf;
use super::grade::{Grade, grade};
use super::infer::{Inference, Proof};
use super::recording::Recording;
use super::run::{EmptyCache, Plan, Run, StartState};
use super::search::{Fit, candidates};
use super::settings::{Limits, Settings, Share};
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_by_key};

/// A device's recording, and how far the answer about it is.
pub struct Simulation {
    known: Known,
    job: Option<Box<Job>>,
}

/// A device's recording and what it proves: the same for all questions.
struct Known {
    device: i64,
    recording: Recording,
    inference: Inference,
    proof: Option<Proof>,
    /// The recorded settings with everything placed where it was recorded, and placed again.
    calibrating: Option<Box<Run>>,
    peaks: Vec<u64>,
}

/// Runs that a question is answered with.
struct Job {
    rows: Vec<Row>,
    band: Band,
    answer: WhatIf,
    /// Settings whose smallest memory is still to be found, the next one last.
    fits: Option<Vec<(Plan, String)>>,
    fit: Option<Box<Fit>>,
}

/// A run that is asked for.
struct Row {
    settings: Settings,
    origin: WhatIfOrigin,
    ignored: Vec<String>,
}

/// Settings, the best of all, whose smallest memory is looked for beside those that were asked for.
const MOST_FITS: usize = 3;

impl Simulation {
    /// Of this device.
    pub fn new(device: i64, recording: Recording) -> Simulation {
        let (inference, proof, calibrating, peaks) = Default::default();
        Simulation { known: Known { device, recording, inference, proof, calibrating, peaks }, job: None }
    }

    /// The device it is about.
    pub fn device(&self) -> i64 {
        self.known.device
    }

    /// Another question is to be answered.
    pub fn begin(&mut self) {
        self.job = None;
    }

    /// The answer; `send` takes parts of it that are there before.
    ///
    /// # Errors
    /// The time is up.
    pub fn answer(
        &mut self,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut Slice,
    ) -> Sliced<WhatIf> {
        self.known.prove(slice)?;
        let known = &self.known;
        let Some(proof) = &known.proof else { return Ok(WhatIf::default()) };
        let job = self.job.get_or_insert_with(|| Box::new(Job::new(known, proof, question)));
        job.step(known, proof, question, send, slice)?;
        let answer = self.job.take().map(|job| job.answer).unwrap_or_default();
        Ok(WhatIf { is_complete: true, ..answer })
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.known.recording.heap_bytes()
    }
}

impl Known {
    fn prove(&mut self, slice: &mut Slice) -> Sliced {
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
        let mut rows = Vec::new();
        if proof.refused.is_none() {
            let recorded = proof.settings.clone();
            rows.push(Row { settings: recorded.clone(), origin: WhatIfOrigin::Recorded, ignored: Vec::new() });
            let lines = question.lines.iter().filter_map(|line| conf::parse(line).ok());
            rows.extend(lines.map(|(settings, ignored)| Row { settings, origin: WhatIfOrigin::Asked, ignored }));
            let tried = candidates(&recorded, capacity).into_iter().filter(|_| question.tries);
            for settings in tried {
                if rows.iter().all(|row| row.settings != settings) {
                    rows.push(Row { settings, origin: WhatIfOrigin::Tried, ignored: Vec::new() });
                }
            }
        }
        let tried = rows.iter().filter(|row| row.origin == WhatIfOrigin::Tried).count();
        let fits = if question.fits { rows.len() - tried + tried.min(MOST_FITS) } else { 0 };
        let answer = WhatIf {
            proof: told(proof),
            steps: (rows.len() + fits) as u64,
            capacity,
            is_capacity_recorded: question.capacity.is_none() && capacity.is_some(),
            ooms: recording.ooms.len() as u64,
            starts_empty: recording.starts_empty(),
            start_changes_peak: calibration.fresh.cast_signed().wrapping_sub(calibration.recorded.cast_signed()),
            ..WhatIf::default()
        };
        Job { rows, band: Band::default(), answer, fits: None, fit: None }
    }

    fn step(
        &mut self,
        known: &Known,
        proof: &Proof,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut Slice,
    ) -> Sliced {
        while let Some(row) = self.rows.get(self.answer.runs.len()) {
            let plan = plan(proof, question, &row.settings, self.answer.capacity);
            let banded = self.band.step(&known.recording, &plan, slice)?;
            self.band = Band::default();
            self.answer.runs.push(run(known, proof, row, &plan, banded));
            if question.partial {
                send(self.answer.clone());
            }
        }
        if !question.fits {
            return Ok(());
        }
        if self.fits.is_none() {
            self.fits = Some(self.to_fit(proof, question));
        }
        while let Some((plan, settings)) = self.fits.as_ref().and_then(|fits| fits.last()) {
            let capacity = self.fit.get_or_insert_with(|| Box::new(Fit::new(plan))).step(&known.recording, slice)?;
            self.answer.fits.push(WhatIfFit { settings: settings.clone(), capacity });
            self.fit = None;
            self.fits.iter_mut().for_each(|fits| drop(fits.pop()));
            if question.partial {
                send(self.answer.clone());
            }
        }
        Ok(())
    }

    /// The recorded settings, those that were asked for, and the best of those that were tried.
    fn to_fit(&self, proof: &Proof, question: &WhatIfQuestion) -> Vec<(Plan, String)> {
        let mut best: Vec<(u64, usize)> = Vec::new();
        for (at, (row, run)) in self.rows.iter().zip(&self.answer.runs).enumerate() {
            if row.origin == WhatIfOrigin::Tried && run.oom_event.is_none() {
                best.push((run.peak_reserved, at));
            }
        }
        let mut best = sorted_by_key(best, |(peak, at)| pair(*peak, *at as u64));
        best.truncate(MOST_FITS);
        let wanted = |at: usize, row: &Row| row.origin != WhatIfOrigin::Tried || best.iter().any(|(_, one)| *one == at);
        let wanted = self.rows.iter().enumerate().filter(|(at, row)| wanted(*at, row));
        wanted.map(|(_, row)| (plan(proof, question, &row.settings, None), row.settings.to_string())).rev().collect()
    }
}

/// What was live before the first event stays where it was recorded under the recorded settings, and is placed again under others.
fn plan(proof: &Proof, question: &WhatIfQuestion, settings: &Settings, capacity: Option<u64>) -> Plan {
    let is_recorded = *settings == proof.settings;
    Plan {
        settings: settings.clone(),
        backend: proof.backend,
        limits: Limits::new(capacity, settings),
        start: if is_recorded { StartState::Kept } else { StartState::Fresh },
        empty_cache: if question.never_empties { EmptyCache::Never } else { EmptyCache::AsRecorded },
        ..Plan::default()
    }
}

fn run(known: &Known, proof: &Proof, row: &Row, plan: &Plan, banded: Banded) -> WhatIfRun {
    let Banded { outcome, band } = banded;
    let calibration = known.calibration();
    let is_fresh = plan.start == StartState::Fresh && !known.recording.starts_empty();
    let is_what_was_recorded = plan.start == StartState::Kept
        && proof.verdict.is_exact()
        && plan.empty_cache == EmptyCache::AsRecorded
        && outcome.peak_reserved == proof.verdict.recorded_peak_reserved
        && outcome.avoided_oom.is_none();
    let band = match () {
        // The recording itself is no guess.
        () if is_what_was_recorded => [outcome.peak_reserved; 2],
        () if is_fresh => calibration.widened(band),
        () => band,
    };
    // What the model is off by under the recorded settings, it may be off by under others.
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
    let grade = match grade(proof, &row.settings, is_fresh && calibration.is_off(), outcome.totals.retries > 0) {
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

fn told(proof: &Proof) -> WhatIfProof {
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
