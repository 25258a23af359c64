//! Progress of one question: its runs, capacity searches and curves.

use super::answer::{WhatIf, WhatIfCourse, WhatIfFit, WhatIfLimit, WhatIfOrigin, WhatIfQuestion};
use super::bands::{Band, Doubts};
use super::conf;
use super::course::{Course, Curve};
use super::done::{Done, keep, kept};
use super::ends::{asked, is_other_memory};
use super::infer::Proof;
use super::known::Known;
use super::plan::Plan;
use super::rows::{Row, described};
use super::run::Run;
use super::search::{Fit, candidates};
use super::settings::Limits;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};

/// Progress of one question.
pub(super) struct Job {
    rows: Vec<Row>,
    /// Plan of each row, and its doubts.
    plans: Vec<(Plan, Doubts)>,
    band: Band,
    pub(super) answer: WhatIf,
    /// Plans whose smallest sufficient capacity has not been computed yet, each with its settings as text. The last
    /// entry is next.
    fits: Option<Vec<(Plan, String)>>,
    fit: Option<Box<Fit>>,
    /// Run whose curves are requested.
    followed: Option<Row>,
    /// Simulation that records the curves.
    course: Option<Box<Run>>,
}

/// Maximum number of built-in settings for which the smallest sufficient capacity is computed. Settings with the lowest
/// peak of reserved bytes come first.
const MAX_FITS: usize = 3;

impl Job {
    pub(super) fn new(known: &Known, proof: &Proof, question: &WhatIfQuestion) -> Job {
        let recording = &known.recording;
        let (mut rows, mut followed, mut line_error) = (Vec::new(), None, String::new());
        if proof.refused.is_none() {
            let recorded = &proof.settings;
            let recording_row = Row::new(recorded.clone(), WhatIfOrigin::Recorded);
            // A recording that the model does not reproduce cannot be compared with simulated runs.
            if proof.verdict.is_exact() || !recording_row.is_recording(recording, question) {
                rows.push(recording_row);
            }
            for line in &question.lines {
                match conf::parse(line) {
                    Ok((settings, ignored)) => {
                        rows.push(Row { ignored, ..Row::new(settings, WhatIfOrigin::Asked) });
                    }
                    Err(error) => line_error = error.to_string(),
                }
            }
            // The recorded program under the conditions of the question, if they differ from those of the recording.
            let has_changed = is_other_memory(proof, question) || question.never_empties;
            let is_asked = |row: &Row| row.origin == WhatIfOrigin::Asked && row.settings == *recorded;
            if has_changed && !rows.iter().any(is_asked) {
                let index = rows.iter().take_while(|row| row.origin == WhatIfOrigin::Recorded).count();
                rows.insert(index, Row::new(recorded.clone(), WhatIfOrigin::Asked));
            }
            let count = rows.len();
            for program in question.programs.iter().filter(|program| program.changes()) {
                if let Err(error) = program.check(recording) {
                    line_error = error.to_owned();
                    continue;
                }
                for at in 0..count {
                    let mut row = rows[at].clone();
                    (row.program, row.origin) = (program.clone(), WhatIfOrigin::Asked);
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
            let total = question.total.or(question.capacity);
            for settings in candidates(recorded, total).into_iter().filter(|_| question.tries) {
                if rows.iter().all(|row| row.settings != settings) {
                    rows.push(Row::new(settings, WhatIfOrigin::Tried));
                }
            }
            if let Some(line) = &question.course {
                // The recorded settings may contain a line that `conf::parse` rejects.
                let is_recorded = recorded.to_string() == *line;
                let settings = if is_recorded { Some(recorded.clone()) } else { conf::parse(line).ok().map(|it| it.0) };
                if settings.is_none() {
                    line_error = conf::parse(line).err().map(|error| error.to_string()).unwrap_or_default();
                }
                let has_limits = asked(question, recorded).is_some() || question.never_empties;
                let origin = if is_recorded && !has_limits { WhatIfOrigin::Recorded } else { WhatIfOrigin::Asked };
                let program = question.course_program.clone();
                followed = settings.map(|settings| Row { program, ..Row::new(settings, origin) });
            }
        }
        let tried = rows.iter().filter(|row| row.origin == WhatIfOrigin::Tried).count();
        let fits = if question.fits { rows.len() - tried + tried.min(MAX_FITS) } else { 0 };
        let implied = proof.verdict.implied;
        let limit = implied.limit().map(|[low, high]| WhatIfLimit { low, high, is_fraction: implied.is_fraction });
        let named = question.capacity.or(question.total);
        let capacity = named.or(limit.map(|limit| limit.high));
        let answer = WhatIf {
            line_error,
            proof: described(proof),
            steps: (rows.len() + fits) as u64,
            capacity,
            limit,
            has_contradictory_limits: implied.is_contradictory(),
            is_capacity_recorded: named.is_none() && capacity.is_some(),
            ooms: recording.ooms.len() as u64,
            starts_empty: recording.starts_empty(),
            start_changes_peak: known.start_changes_peak(proof),
            ..WhatIf::default()
        };
        let largest = recording.largest_request(question.is_planned && !recording.planned.is_empty());
        let plan_of = |row: &Row| {
            let (plan, doubts) = row.plan(recording, proof, question);
            (plan.without_unused_split(recording, largest), doubts)
        };
        let plans = rows.iter().map(plan_of).collect();
        Job { rows, plans, band: Band::default(), answer, fits: None, fit: None, followed, course: None }
    }

    pub(super) fn step(
        &mut self,
        known: &Known,
        proof: &Proof,
        question: &WhatIfQuestion,
        done: &mut Done,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        loop {
            let next = self.answer.runs.len();
            let (Some(row), Some(key)) = (self.rows.get(next), self.plans.get(next)) else { break };
            let recording = &known.recording;
            self.answer.runs.push(match row.is_recording(recording, question) {
                true => row.recorded(recording, proof),
                false => {
                    let banded = match kept(&done.runs, key) {
                        Some(banded) => banded,
                        None => {
                            let banded = self.band.step(recording, &key.0, key.1, slice)?;
                            self.band = Band::default();
                            keep(&mut done.runs, key, banded.clone());
                            banded
                        }
                    };
                    row.run(proof, &key.0, key.1, banded)
                }
            });
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
            self.answer.fits.push(WhatIfFit { settings: settings.clone(), program: plan.program.clone(), capacity });
            self.fits.iter_mut().for_each(|fits| drop(fits.pop()));
            if question.partial {
                send(self.answer.clone());
            }
        }
        self.follow(known, proof, question, slice)
    }

    /// Returns the plans of all runs to simulate, and their doubts. Rows with equal results share a plan.
    pub(super) fn plans(&self, known: &Known, question: &WhatIfQuestion) -> Vec<(Plan, Doubts)> {
        let rows = self.rows.iter().zip(&self.plans);
        let mut plans: Vec<(Plan, Doubts)> = Vec::new();
        for (_, plan) in rows.filter(|(row, _)| !row.is_recording(&known.recording, question)) {
            if !plans.contains(plan) {
                plans.push(plan.clone());
            }
        }
        plans
    }

    /// Simulates the run whose curves are requested.
    fn follow(
        &mut self,
        known: &Known,
        proof: &Proof,
        question: &WhatIfQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Some(line) = question.course.as_ref().filter(|_| proof.refused.is_none()) else { return Ok(()) };
        let Some(row) = &self.followed else { return Ok(()) };
        let plan = Plan { keeps_curve: true, ..row.plan(&known.recording, proof, question).0 };
        let run = self.course.get_or_insert_with(|| Box::new(Run::new(&known.recording, &plan)));
        run.step(&known.recording, slice)?;
        let (settings, program) = (line.clone(), question.course_program.clone());
        let course = WhatIfCourse { settings, program, ends_at: run.ends_at(), ..WhatIfCourse::default() };
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

    /// Returns the plans for which the smallest sufficient capacity is computed: those of the recorded settings, the
    /// question's `lines`, and the built-in settings with the lowest peaks.
    fn to_fit(&self, known: &Known, proof: &Proof, question: &WhatIfQuestion) -> Vec<(Plan, String)> {
        let mut best: Vec<(u64, usize)> = Vec::new();
        for (at, (row, run)) in self.rows.iter().zip(&self.answer.runs).enumerate() {
            if row.origin == WhatIfOrigin::Tried && run.oom_event.is_none() {
                best.push((run.peak_reserved, at));
            }
        }
        let mut best = sorted_by_key(best, |(peak, at)| two_part_key(*peak, *at as u64));
        best.truncate(MAX_FITS);
        let mut plans: Vec<(Plan, String)> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let is_wanted = row.origin != WhatIfOrigin::Tried || best.iter().any(|(_, one)| *one == at);
            let (plan, _) = row.plan(&known.recording, proof, question);
            // Recorded addresses and limits are those of one capacity.
            let plan = Plan { order: known.recording.findings.address_order, limits: Limits::default(), ..plan };
            if is_wanted && plans.iter().all(|(other, _)| *other != plan) {
                plans.push((plan, row.settings.to_string()));
            }
        }
        plans.reverse();
        plans
    }
}
